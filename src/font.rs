//! A small bitmap font, for labels in pictures: what the names of tasks and classes need, in lower case.

/// Columns of a letter.
pub(crate) const WIDTH: usize = 5;
/// Rows of a letter, two of them below the line.
pub(crate) const HEIGHT: usize = 9;

/// The letters of a band, side by side, one column apart.
const BANDS: [(&str, [&str; HEIGHT]); 4] = [
    (
        "0123456789ab",
        [
            ".###. ..#.. .###. .###. ...#. ##### ..##. ##### .###. .###. ..... #....",
            "#...# .##.. #...# #...# ..##. #.... .#... ....# #...# #...# ..... #....",
            "#...# ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...# .###. ####.",
            "#...# ..#.. ...#. ..##. #..#. ....# ####. ..#.. .###. .#### ....# #...#",
            "#...# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....# .#### #...#",
            "#...# ..#.. .#... #...# ...#. #...# #...# ..#.. #...# ...#. #...# #...#",
            ".###. .###. ##### .###. ...#. .###. .###. ..#.. .###. .##.. .#### ####.",
            "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
            "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
        ],
    ),
    (
        "cdefghijklmn",
        [
            "..... ....# ..... ..##. ..... #.... ..#.. ...#. #.... .##.. ..... .....",
            "..... ....# ..... .#... ..... #.... ..... ..... #.... ..#.. ..... .....",
            ".###. .#### .###. ####. .#### ####. .##.. ..##. #..#. ..#.. ##.#. ####.",
            "#...# #...# #...# .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.# #...#",
            "#.... #...# ##### .#... #...# #...# ..#.. ...#. ##... ..#.. #.#.# #...#",
            "#...# #...# #.... .#... #...# #...# ..#.. ...#. #.#.. ..#.. #.#.# #...#",
            ".###. .#### .###. .#... .#### #...# .###. ...#. #..#. .###. #.#.# #...#",
            "..... ..... ..... ..... ....# ..... ..... #..#. ..... ..... ..... .....",
            "..... ..... ..... ..... .###. ..... ..... .##.. ..... ..... ..... .....",
        ],
    ),
    (
        "opqrstuvwxyz",
        [
            "..... ..... ..... ..... ..... .#... ..... ..... ..... ..... ..... .....",
            "..... ..... ..... ..... ..... .#... ..... ..... ..... ..... ..... .....",
            ".###. ####. .#### #.##. .#### ####. #...# #...# #.#.# #...# #...# #####",
            "#...# #...# #...# ##..# #.... .#... #...# #...# #.#.# .#.#. #...# ...#.",
            "#...# #...# #...# #.... .###. .#... #...# #...# #.#.# ..#.. #...# ..#..",
            "#...# #...# #...# #.... ....# .#... #...# .#.#. #.#.# .#.#. #...# .#...",
            ".###. ####. .#### #.... ####. ..##. .#### ..#.. .#.#. #...# .#### #####",
            "..... #.... ....# ..... ..... ..... ..... ..... ..... ..... ....# .....",
            "..... #.... ....# ..... ..... ..... ..... ..... ..... ..... .###. .....",
        ],
    ),
    (
        ",.:-°()",
        [
            "..... ..... ..... ..... .##.. ...#. .#...",
            "..... ..... ..... ..... #..#. ..#.. ..#..",
            "..... ..... ..#.. ..... #..#. .#... ...#.",
            "..... ..... ..... ##### .##.. .#... ...#.",
            "..... ..... ..... ..... ..... .#... ...#.",
            "..#.. .##.. ..#.. ..... ..... ..#.. ..#..",
            "..#.. .##.. ..... ..... ..... ...#. .#...",
            ".#... ..... ..... ..... ..... ..... .....",
            "..... ..... ..... ..... ..... ..... .....",
        ],
    ),
];

/// Whether a letter has ink at a row and column. Upper case looks like lower case, a space is blank, and what has no letter
/// is a box.
pub(crate) fn ink(letter: char, row: usize, column: usize) -> bool {
    let letter = letter.to_ascii_lowercase();
    let found = BANDS.iter().find_map(|(letters, rows)| {
        let place = letters.chars().position(|known| known == letter)?;
        rows[row].as_bytes().get(place * (WIDTH + 1) + column).map(|&mark| mark == b'#')
    });
    let edge = row < 7 && (row.is_multiple_of(6) || column.is_multiple_of(4));
    found.unwrap_or(letter != ' ' && edge)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(letter: char) -> Vec<String> {
        let row = |row| (0..WIDTH).map(|column| if ink(letter, row, column) { '#' } else { '.' }).collect();
        (0..HEIGHT).map(row).collect()
    }

    #[test]
    fn bands_are_whole_and_letters_differ() {
        let mut seen = std::collections::BTreeMap::new();
        for (letters, rows) in BANDS {
            let expected = letters.chars().count() * (WIDTH + 1) - 1;
            assert!(rows.iter().all(|row| row.len() == expected && row.chars().all(|mark| ".# ".contains(mark))));
            for letter in letters.chars() {
                let twin = seen.insert(drawn(letter), letter);
                assert_eq!(twin, None, "{letter} looks like {twin:?}");
            }
        }
    }

    #[test]
    fn letters_look_like_letters() {
        assert_eq!(drawn('4'), ["...#.", "..##.", ".#.#.", "#..#.", "#####", "...#.", "...#.", ".....", "....."]);
        assert_eq!(drawn('A'), drawn('a'));
        assert!(drawn(' ').iter().all(|row| row == "....."));
        assert_eq!(drawn('é')[..2], ["#####", "#...#"]);
    }
}

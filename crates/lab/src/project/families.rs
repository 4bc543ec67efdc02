//! What the names of columns tell: numbered families, and the items that they describe.

use std::collections::BTreeMap;

/// Columns whose names differ in one number only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Family {
    /// Before the number.
    pub(super) stem: String,
    /// Behind it.
    pub(super) tail: String,
    /// The numbers that occur, ascending, with the names.
    pub(super) members: BTreeMap<u32, String>,
}

/// Things of one kind, each described by the same columns: `tau1, p1, g1` the first, `tau2, p2, g2` the second.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Items {
    /// What they are called.
    pub(super) name: String,
    /// The columns of each.
    pub(super) columns: Vec<Vec<String>>,
}

/// Families of at least two whose numbers follow each other from 0 or 1, in the order of their first columns.
pub(super) fn families(names: &[String]) -> Vec<Family> {
    let mut found: Vec<Family> = Vec::new();
    for name in names {
        let Some((stem, number, tail)) = numbered(name) else { continue };
        let family =
            if let Some(place) = found.iter().position(|family| (family.stem.as_str(), family.tail.as_str()) == (stem, tail)) {
                &mut found[place]
            } else {
                found.push(Family { stem: stem.into(), tail: tail.into(), members: BTreeMap::new() });
                let last = found.len() - 1;
                &mut found[last]
            };
        // `x1` and `x01` are not one family.
        if family.members.insert(number, name.clone()).is_some() {
            family.members.insert(u32::MAX, name.clone());
        }
    }
    found.retain(|family| {
        let mut numbers = family.members.keys().copied();
        let first = numbers.next().unwrap_or(u32::MAX);
        first <= 1 && family.members.len() > 1 && numbers.zip(first + 1..).all(|(number, next)| number == next)
    });
    found
}

/// The name cut at its only number.
fn numbered(name: &str) -> Option<(&str, u32, &str)> {
    let start = name.find(|c: char| c.is_ascii_digit())?;
    let length = name[start..].find(|c: char| !c.is_ascii_digit()).unwrap_or(name.len() - start);
    let (digits, tail) = name[start..].split_at(length);
    let only = start > 0 && !tail.contains(|c: char| c.is_ascii_digit());
    only.then(|| Some((&name[..start], digits.parse().ok()?, tail))).flatten()
}

/// Families of the same numbers describe the same items.
pub(super) fn items(families: &[Family]) -> Vec<Items> {
    let mut sets: Vec<(Vec<u32>, Vec<&Family>)> = Vec::new();
    for family in families {
        let numbers: Vec<u32> = family.members.keys().copied().collect();
        match sets.iter_mut().find(|(known, _)| *known == numbers) {
            Some((_, of)) => of.push(family),
            None => sets.push((numbers, vec![family])),
        }
    }
    let mut named: Vec<Items> = Vec::new();
    for (numbers, of) in sets {
        let columns = numbers.iter().map(|number| of.iter().map(|family| family.members[number].clone()).collect()).collect();
        let name = name_of(&of);
        let taken = named.iter().filter(|items| items.name.trim_end_matches(|c: char| c.is_ascii_digit()) == name).count();
        let name = if taken == 0 { name } else { format!("{name}{}", taken + 1) };
        named.push(Items { name, columns });
    }
    named
}

/// What families have in common before their numbers, if it is a word; else just that they are items.
fn name_of(families: &[&Family]) -> String {
    let stem = families[0].stem.trim_end_matches(|c: char| !c.is_alphanumeric());
    let common = families.iter().all(|family| family.stem == families[0].stem);
    let word = stem.starts_with(char::is_alphabetic) && stem.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if common && word { stem.to_owned() } else { "item".to_owned() }
}

/// Rows and columns of a picture, where the names are those of its pixels, row by row: `pixel_0_0`, `pixel_0_1`, or `pixel0` to
/// `pixel783`.
pub(super) fn pixels(names: &[String]) -> Option<[usize; 2]> {
    let numbers: Vec<(Vec<&str>, Vec<u32>)> = names.iter().map(|name| runs(name)).collect::<Option<_>>()?;
    let (words, first) = numbers.first()?;
    if numbers.iter().any(|(others, _)| others != words) {
        return None;
    }
    let count = names.len();
    let called = ["pixel", "px", "pix"].iter().any(|word| words[0].to_lowercase().starts_with(word));
    match first[..] {
        [from] if called && from <= 1 => {
            let side = count.isqrt();
            let in_order = numbers.iter().zip(from..).all(|((_, found), number)| found[..] == [number]);
            (side > 3 && side * side == count && in_order).then_some([side, side])
        }
        [top, left] if top <= 1 && left <= 1 => {
            let width = numbers.iter().take_while(|(_, found)| found[0] == top).count();
            let place = |k: usize| [top + (k / width) as u32, left + (k % width) as u32];
            let in_order = numbers.iter().enumerate().all(|(k, (_, found))| found[..] == place(k));
            (width > 3 && count / width > 3 && count.is_multiple_of(width) && in_order).then(|| [count / width, width])
        }
        _ => None,
    }
}

/// The texts around the numbers in a name, and the numbers.
fn runs(name: &str) -> Option<(Vec<&str>, Vec<u32>)> {
    let words: Vec<&str> = name.split(|c: char| c.is_ascii_digit()).filter(|word| !word.is_empty()).collect();
    let numbers = name.split(|c: char| !c.is_ascii_digit()).filter(|number| !number.is_empty());
    let numbers = numbers.map(|number| number.parse().ok()).collect::<Option<Vec<u32>>>()?;
    (!words.is_empty() && !numbers.is_empty()).then_some((words, numbers))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        text.split(' ').map(Into::into).collect()
    }

    #[test]
    fn numbered_columns_are_items_with_features() {
        let found = items(&families(&names("tau1 tau2 tau3 p1 p2 p3 g1 g2 g3 load")));
        let columns = ["tau1 p1 g1", "tau2 p2 g2", "tau3 p3 g3"].map(names).to_vec();
        assert_eq!(found, [Items { name: "item".into(), columns }]);
        let found = items(&families(&names("node_0_x node_0_y node_1_x node_1_y")));
        assert_eq!(
            found,
            [Items { name: "node".into(), columns: ["node_0_x node_0_y", "node_1_x node_1_y"].map(names).to_vec() }]
        );
        let two = items(&families(&names("a1 a2 b1 b2 c1 c2 c3 d1 d2 d3")));
        assert_eq!(
            two.iter().map(|items| (items.name.as_str(), items.columns.len())).collect::<Vec<_>>(),
            [("item", 2), ("item2", 3)]
        );
        assert_eq!(items(&families(&names("sensor1 sensor2 sensor3")))[0].name, "sensor");
    }

    #[test]
    fn other_numbers_in_names_are_no_items() {
        for text in ["age sex s1", "x2 x3", "x1 x3", "a1 b2", "x1 x01 x2", "2019 2020", "od280/od315 od1/od2"] {
            assert!(families(&names(text)).is_empty(), "{text}");
        }
        assert_eq!(families(&names("age s1 s2"))[0].members.len(), 2);
    }

    #[test]
    fn pixels_are_told_by_their_names() {
        let grid = |rows: usize, columns: usize| {
            (0..rows * columns).map(|k| format!("pixel_{}_{}", k / columns, k % columns)).collect::<Vec<_>>()
        };
        assert_eq!(pixels(&grid(8, 8)), Some([8, 8]));
        assert_eq!(pixels(&grid(6, 9)), Some([6, 9]));
        assert_eq!(pixels(&grid(2, 9)), None);
        let row: Vec<String> = (0..64).map(|k| format!("pixel{k}")).collect();
        assert_eq!(pixels(&row), Some([8, 8]));
        assert_eq!(pixels(&row[..63]), None);
        assert_eq!(pixels(&names("x0 x1 x2 x3")), None);
        let mut turned = grid(8, 8);
        turned.swap(0, 1);
        assert_eq!(pixels(&turned), None);
    }
}

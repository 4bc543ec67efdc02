//! Every pair of positions in a square: above the diagonal what exchanging them costs, below it what follows from that.

use crate::output::strong;

/// What is known about exchanging two positions.
pub(crate) struct Pair<'a> {
    /// In points, where it was measured.
    pub cost: Option<f64>,
    /// In words, as verdicts are told.
    pub verdict: &'a str,
}

/// The sign of every verdict, and what the legend says of it.
const SIGNS: [(&str, char, &str); 7] = [
    ("shown harmless", '■', "kept: shown harmless"),
    ("not contradicted", '□', "kept: not contradicted"),
    ("kept", '■', "kept"),
    ("undecided", '?', "undecided"),
    ("the network cannot tell", '×', "the network cannot tell"),
    ("contradicted", '·', "contradicted"),
    ("broken", '·', "broken"),
];

/// Most positions of a square: more would not fit a line.
pub(crate) const MOST: usize = 30;

/// The square of `n` positions, counted from 1, with a title and a legend; `pair` knows those with i < j.
pub(crate) fn square<'a>(n: usize, pair: impl Fn(usize, usize) -> Option<Pair<'a>>) -> String {
    let sign = |verdict: &str| SIGNS.iter().find(|(words, ..)| *words == verdict).map_or('!', |(_, sign, _)| *sign);
    let cell = |i: usize, j: usize| match (i != j).then(|| pair(i.min(j), i.max(j))).flatten() {
        Some(Pair { cost, .. }) if i < j => cost.map_or("-".into(), |cost| format!("{:.0}", cost.max(0.0))),
        Some(Pair { verdict, .. }) => sign(verdict).to_string(),
        None => String::new(),
    };
    let mut lines = vec![(String::new(), (1..=n).map(|j| j.to_string()).collect::<Vec<_>>())];
    lines.extend((0..n).map(|i| ((i + 1).to_string(), (0..n).map(|j| cell(i, j)).collect())));
    let width = lines.iter().flat_map(|(_, cells)| cells).map(|cell| cell.chars().count() + 1).max().unwrap_or(0).max(4);
    let title = "of exchanging two positions, those of the table; below the diagonal what follows";
    let mut text = vec![format!("{} {title}", strong("cost"))];
    text.extend(lines.into_iter().map(|(first, cells)| {
        let cells: Vec<String> = cells.iter().map(|cell| format!("{cell:>width$}")).collect();
        format!("{first:>4}{}", cells.concat()).trim_end().to_string()
    }));
    let seen = |words: &str| (0..n).any(|i| (i + 1..n).any(|j| pair(i, j).is_some_and(|pair| pair.verdict == words)));
    let legend = SIGNS.iter().filter(|(words, ..)| seen(words)).map(|(_, sign, legend)| format!("{sign} {legend}"));
    text.push(legend.collect::<Vec<_>>().join(", "));
    text.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_costs_stay_apart_and_every_sign_is_explained() {
        let verdicts = ["kept", "broken", "undecided"];
        let pair = |i: usize, j: usize| {
            let cost = (j == 2).then_some([52_731.6, -3.0][i]);
            (j < 3).then_some(Pair { cost, verdict: verdicts[i + j - 1] })
        };
        let text = anstream::adapter::strip_str(&square(3, pair)).to_string();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        assert_eq!(
            lines,
            [
                "         1     2     3",
                "   1           - 52732",
                "   2     ■           0",
                "   3     ·     ?",
                "■ kept, ? undecided, · broken",
            ]
        );
    }
}

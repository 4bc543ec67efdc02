//! Every pair of positions in a square: above the diagonal what exchanging them costs, below it what follows from that.

/// What is known about exchanging two positions.
pub(crate) struct Pair<'a> {
    /// In points, where it was measured.
    pub cost: Option<f64>,
    /// In words, as verdicts are told.
    pub verdict: &'a str,
}

/// The sign of every verdict, and what the legend says of it.
const SIGNS: [(&str, char, &str); 8] = [
    ("kept freely", '■', "kept freely"),
    ("kept", '■', "kept"),
    ("tolerated", '~', "tolerated"),
    ("undecided, kept", '?', "undecided, kept"),
    ("undecided, not kept", '×', "undecided, not kept"),
    ("dropped", '/', "dropped: not with the others"),
    ("contradicted", '·', "contradicted"),
    ("given up", '·', "given up"),
];

/// The square of `n` positions, counted from 1, with a legend; `pair` knows those with i < j.
pub(crate) fn square<'a>(n: usize, pair: impl Fn(usize, usize) -> Option<Pair<'a>>) -> String {
    let sign = |verdict: &str| SIGNS.iter().find(|(words, ..)| *words == verdict).map_or('!', |(_, sign, _)| *sign);
    let cell = |i: usize, j: usize| match pair(i.min(j), i.max(j)).filter(|_| i != j) {
        Some(Pair { cost, .. }) if i < j => cost.map_or("-".into(), |cost| format!("{:.0}", cost.max(0.0))),
        Some(Pair { verdict, .. }) => sign(verdict).to_string(),
        None => String::new(),
    };
    let line = |first: String, cells: Vec<String>| {
        let cells: Vec<String> = std::iter::once(first).chain(cells).map(|cell| format!("{cell:>4}")).collect();
        cells.concat().trim_end().to_string()
    };
    let mut text = vec![line(String::new(), (1..=n).map(|j| j.to_string()).collect())];
    text.extend((0..n).map(|i| line((i + 1).to_string(), (0..n).map(|j| cell(i, j)).collect())));
    let seen = |words: &str| (0..n).any(|i| (i + 1..n).any(|j| pair(i, j).is_some_and(|pair| pair.verdict == words)));
    let legend = SIGNS.iter().filter(|(words, ..)| seen(words)).map(|(_, sign, legend)| format!("{sign} {legend}"));
    text.push(legend.collect::<Vec<_>>().join(", "));
    text.join("\n")
}

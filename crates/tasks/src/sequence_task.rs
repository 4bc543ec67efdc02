//! The sequence tasks: what is computed from x_1, ..., x_n, and what may be exchanged without changing it.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::partition::Partition;

/// Tokens from here on continue a run in [`SequenceTask::Geometric`].
const RUN_FROM: i32 = 20;
/// Tokens above this are large in [`SequenceTask::ThirdPlusLarge`] and [`SequenceTask::OddPlusLarge`].
const LARGE_ABOVE: i32 = 50;

/// A number to compute from a sequence of whole numbers x_1, ..., x_n. The first four are the tasks of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SequenceTask {
    /// x_1 + ... + x_n.
    Sum,
    /// x_2 + ... + x_n.
    Sum2,
    /// Σ_i (x_{2i} − x_{2i−1}).
    EvenMinusOdd,
    /// Σ_i Π_{j≤i} 1(x_j ≥ 20): the length of the first run of tokens of at least 20.
    Geometric,
    /// |(x_1 + x_3 + ...) − (x_2 + x_4 + ...)|: no affine function of the tokens.
    AbsDiff,
    /// The largest token: no affine function of the tokens.
    Max,
    /// x_3 + the sum of the other tokens above 50.
    ThirdPlusLarge,
    /// x_1 + x_3 + ... + the sum of the tokens above 50 at even positions.
    OddPlusLarge,
    /// The first third of the tokens once, the second twice and the last three times.
    Thirds,
}

/// How training sequences are drawn and ordered: the canonical form X(hid).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrangement {
    /// From the whole vocabulary, ascending.
    Ascending,
    /// One half of the sequences from the lower half of the vocabulary, ascending; the other from the upper half, descending.
    Halves,
    /// From the whole vocabulary, ascending, then moved by G_D: in any order, because every order has its own target.
    Any,
}

impl SequenceTask {
    /// All tasks, those of the paper first.
    pub const ALL: [Self; 9] = [
        Self::Sum,
        Self::Sum2,
        Self::EvenMinusOdd,
        Self::Geometric,
        Self::AbsDiff,
        Self::Max,
        Self::ThirdPlusLarge,
        Self::OddPlusLarge,
        Self::Thirds,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sum => "sum",
            Self::Sum2 => "sum2",
            Self::EvenMinusOdd => "even_minus_odd",
            Self::Geometric => "geometric",
            Self::AbsDiff => "abs_diff",
            Self::Max => "max",
            Self::ThirdPlusLarge => "third_plus_large",
            Self::OddPlusLarge => "odd_plus_large",
            Self::Thirds => "thirds",
        }
    }

    /// What is computed and what may be exchanged, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Sum => "sum of all tokens; any two positions can be exchanged",
            Self::Sum2 => "sum of all tokens but the first; any two positions after the first can be exchanged",
            Self::EvenMinusOdd => "sum of x_2i - x_(2i-1); positions of the same parity can be exchanged",
            Self::Geometric => "number of tokens before the first below 20; no two positions can be exchanged",
            Self::AbsDiff => "|sum at odd positions - sum at even positions|; positions of the same parity can be exchanged",
            Self::Max => "largest token; any two positions can be exchanged",
            Self::ThirdPlusLarge => "x_3 plus the other tokens above 50; any two positions but the third can be exchanged",
            Self::OddPlusLarge => "x_1 + x_3 + ... plus the other tokens above 50; positions of the same parity can be exchanged",
            Self::Thirds => {
                "first third of the tokens once, second twice, last three times; positions of the same third can be exchanged"
            }
        }
    }

    /// Which positions may be exchanged, in few words.
    pub fn symmetry_in_words(self) -> &'static str {
        match self {
            Self::Sum | Self::Max => "all positions",
            Self::Sum2 => "all but the first",
            Self::EvenMinusOdd | Self::AbsDiff | Self::OddPlusLarge => "same parity",
            Self::Geometric => "none",
            Self::ThirdPlusLarge => "all but the third",
            Self::Thirds => "same third",
        }
    }

    /// Whether the task is in the paper.
    pub fn in_paper(self) -> bool {
        matches!(self, Self::Sum | Self::Sum2 | Self::EvenMinusOdd | Self::Geometric)
    }

    /// Y, from the sequence as observed.
    pub fn target(self, x: &[i32]) -> f32 {
        let parity = |odd: usize| x.iter().skip(odd).step_by(2).sum::<i32>();
        let with_large = |always: fn(usize) -> bool| {
            x.iter().enumerate().filter(|&(i, &token)| always(i) || token > LARGE_ABOVE).map(|(_, &token)| token).sum()
        };
        let value = match self {
            Self::Sum => x.iter().sum(),
            Self::Sum2 => x.iter().skip(1).sum(),
            // Positions count from 1 in the paper: x_1, x_3, ... are the entries 0, 2, ...
            Self::EvenMinusOdd => parity(1) - parity(0),
            Self::Geometric => x.iter().take_while(|&&token| token >= RUN_FROM).count() as i32,
            Self::AbsDiff => (parity(0) - parity(1)).abs(),
            Self::Max => x.iter().copied().max().unwrap_or(0),
            Self::ThirdPlusLarge => with_large(|i| i == 2),
            Self::OddPlusLarge => with_large(|i| i % 2 == 0),
            Self::Thirds => x.iter().enumerate().map(|(i, &token)| (1 + third(i, x.len()) as i32) * token).sum(),
        };
        value as f32
    }

    /// The true symmetry on n positions: the second column of the paper's table of sequence tasks.
    pub fn symmetry(self, n: usize) -> Partition {
        match self {
            Self::Sum | Self::Max => Partition::whole(n),
            // |x_1 - x_2| is the one case in which an exchange of the two parities is a single transposition.
            Self::AbsDiff if n == 2 => Partition::whole(n),
            Self::Sum2 => Partition::all_but(n, 0),
            Self::EvenMinusOdd | Self::AbsDiff | Self::OddPlusLarge => Partition::of(n, |i| i % 2),
            Self::Geometric => Partition::discrete(n),
            Self::ThirdPlusLarge => Partition::all_but(n, 2),
            Self::Thirds => Partition::of(n, |i| third(i, n)),
        }
    }

    /// How often a token counts at most.
    pub(crate) fn heaviest(self) -> usize {
        if self == Self::Thirds { 3 } else { 1 }
    }

    /// The canonical form of its training sequences.
    pub fn arrangement(self) -> Arrangement {
        match self {
            Self::Sum | Self::Max => Arrangement::Ascending,
            Self::Sum2 | Self::EvenMinusOdd | Self::AbsDiff | Self::ThirdPlusLarge | Self::OddPlusLarge | Self::Thirds => {
                Arrangement::Halves
            }
            Self::Geometric => Arrangement::Any,
        }
    }

    /// Checks that the task means something for this length and vocabulary.
    pub(crate) fn check(self, length: usize, vocabulary: usize) -> Result<()> {
        let (shortest, why) = match self {
            Self::ThirdPlusLarge => (3, "the third position counts"),
            Self::Thirds => (4, "otherwise no two positions can be exchanged"),
            _ => (2, "otherwise no two positions can be exchanged"),
        };
        if length < shortest {
            return Err(Error::parameter("sequence length", format!("at least {shortest} for {}: {why}", self.name()), length));
        }
        if self == Self::EvenMinusOdd && length % 2 == 1 {
            return Err(Error::parameter("sequence length", "even for even_minus_odd: positions come in pairs", length));
        }
        let (smallest, why) = match self {
            Self::Geometric => (RUN_FROM as usize, "runs are made of tokens of at least 20"),
            Self::ThirdPlusLarge | Self::OddPlusLarge => (LARGE_ABOVE as usize + 1, "tokens above 50 are the large ones"),
            Self::Sum | Self::Max => (2, "one token alone has no order"),
            Self::Sum2 | Self::EvenMinusOdd | Self::AbsDiff | Self::Thirds => {
                (4, "each half of the vocabulary needs two tokens to have an order")
            }
        };
        if vocabulary < smallest {
            return Err(Error::parameter("vocabulary", format!("at least {smallest} for {}: {why}", self.name()), vocabulary));
        }
        Ok(())
    }
}

/// In which third of n positions the i-th is, from 0; the first is the longest.
fn third(i: usize, n: usize) -> usize {
    3 * i / n
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_by_hand() {
        let x = [30, 2, 50, 19, 99, 51, 20, 20, 1, 7];
        for (task, y) in [
            (SequenceTask::Sum, 299.0),
            (SequenceTask::Sum2, 269.0),
            // Even positions 2 + 19 + 51 + 20 + 7 = 99, odd 30 + 50 + 99 + 20 + 1 = 200.
            (SequenceTask::EvenMinusOdd, -101.0),
            (SequenceTask::Geometric, 1.0),
            (SequenceTask::AbsDiff, 101.0),
            (SequenceTask::Max, 99.0),
            (SequenceTask::ThirdPlusLarge, 200.0),
            // The odd ones and 51.
            (SequenceTask::OddPlusLarge, 251.0),
            // 30 + 2 + 50 + 19 = 101, 99 + 51 + 20 = 170, 20 + 1 + 7 = 28.
            (SequenceTask::Thirds, 525.0),
        ] {
            assert_eq!(task.target(&x), y, "{}", task.name());
        }
        let geometric = |x: &[i32]| SequenceTask::Geometric.target(x);
        assert_eq!(geometric(&[19, 99, 99]), 0.0);
        assert_eq!(geometric(&[20, 20, 20]), 3.0);
        assert_eq!(geometric(&[20, 99, 19, 99]), 2.0);
        assert_eq!(SequenceTask::ThirdPlusLarge.target(&[51, 50, 60, 1]), 111.0);
        assert_eq!(SequenceTask::AbsDiff.target(&[1, 5, 2]), 2.0);
    }

    #[test]
    fn symmetries_of_five_or_six_positions() {
        let blocks = |task: SequenceTask, n| task.symmetry(n).blocks();
        assert_eq!(blocks(SequenceTask::Sum, 3), [vec![0, 1, 2]]);
        assert_eq!(blocks(SequenceTask::Sum2, 5), [vec![0], vec![1, 2, 3, 4]]);
        assert_eq!(blocks(SequenceTask::EvenMinusOdd, 6), [vec![0, 2, 4], vec![1, 3, 5]]);
        assert_eq!(blocks(SequenceTask::Geometric, 3), [vec![0], vec![1], vec![2]]);
        assert_eq!(blocks(SequenceTask::ThirdPlusLarge, 5), [vec![0, 1, 3, 4], vec![2]]);
        assert_eq!(blocks(SequenceTask::Thirds, 6), [vec![0, 1], vec![2, 3], vec![4, 5]]);
        assert_eq!(blocks(SequenceTask::Thirds, 10), [vec![0, 1, 2, 3], vec![4, 5, 6], vec![7, 8, 9]]);
        assert_eq!(SequenceTask::Sum2.symmetry(10).swaps().len(), 36);
        assert_eq!(SequenceTask::EvenMinusOdd.symmetry(10).swaps().len(), 20);
    }
}

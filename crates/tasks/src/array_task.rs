//! The array tasks: what is computed from a few real numbers, which candidates are offered, and which of them hold.

use std::cmp::Ordering;

use invar_algebra::GroupSet;
use serde::{Deserialize, Serialize};

use crate::partition::Partition;

/// Entries along an axis of the board, and nodes of the network.
const BOARD: usize = 3;
const NODES: usize = 5;

/// The lines of the board as first entry and step: rows and columns, then diagonals.
const STRAIGHT: [[usize; 2]; 6] = [[0, 1], [3, 1], [6, 1], [0, 3], [1, 3], [2, 3]];
const DIAGONAL: [[usize; 2]; 2] = [[0, 4], [2, 2]];

/// A class or a number to compute from an array of real numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ArrayTask {
    /// Whether five sensors are further from their middle than a threshold allows.
    Sensors,
    /// The largest of six numbers less the largest of two others.
    Largest,
    /// Whether the median of five numbers is above a sixth.
    Median,
    /// How many of six numbers are above a seventh.
    Above,
    /// Whether four items with two features each add up to more than nothing.
    Items,
    /// Whether a diagonal of a board comes close to its heaviest row or column.
    Board,
    /// Whether the steepest step up around a cycle is steeper than the steepest step down.
    Steepest,
    /// Whether three nodes of a directed graph follow each other in a loop.
    Loops,
    /// Whether the sum of three numbers outweighs a fourth, whatever their signs.
    Balance,
    /// A class on which every entry bears in its own way.
    Unlike,
}

/// How every entry of an array is drawn: independently of the others, and from one distribution.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Entries {
    /// Uniform in 0..1.
    Unit,
    /// Uniform in -1..1.
    Signed,
    /// 1 with this probability, else 0.
    Bits(f64),
}

impl ArrayTask {
    /// All tasks.
    pub const ALL: [Self; 10] = [
        Self::Sensors,
        Self::Largest,
        Self::Median,
        Self::Above,
        Self::Items,
        Self::Board,
        Self::Steepest,
        Self::Loops,
        Self::Balance,
        Self::Unlike,
    ];

    /// The name by which it is asked for.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sensors => "sensors",
            Self::Largest => "largest",
            Self::Median => "median",
            Self::Above => "above",
            Self::Items => "items",
            Self::Board => "board",
            Self::Steepest => "steepest",
            Self::Loops => "loops",
            Self::Balance => "balance",
            Self::Unlike => "unlike",
        }
    }

    /// What is computed and what may be exchanged, in a line.
    pub fn description(self) -> &'static str {
        match self {
            Self::Sensors => "whether five sensors stray further than a threshold allows; any two sensors can be exchanged",
            Self::Largest => "largest of x_1..x_6 less the largest of x_7, x_8; positions of one block can be exchanged",
            Self::Median => "whether the median of x_1..x_5 is above x_6; any two of the five can be exchanged",
            Self::Above => "how many of x_1..x_6 are above x_7; any two of the six can be exchanged",
            Self::Items => "sign of the sum of a b^2 over four items (a, b); any two items can be exchanged, features cannot",
            Self::Board => "whether a diagonal comes close to the heaviest row or column; a board can be turned and mirrored",
            Self::Steepest => "whether the steepest step around a cycle goes up; the cycle can be turned, not reversed",
            Self::Loops => "whether three nodes of a directed graph form a loop; any two nodes can be exchanged",
            Self::Balance => {
                "whether |x_1+x_2+x_3| > 1.3 |x_4|; the three can be exchanged, signs changed together or that of x_4"
            }
            Self::Unlike => "a class on which all of five entries bear differently; no two can be exchanged",
        }
    }

    /// The sides of one array.
    pub fn shape(self) -> Vec<usize> {
        match self {
            Self::Sensors | Self::Median | Self::Steepest => vec![6],
            Self::Largest => vec![8],
            Self::Above => vec![7],
            Self::Items => vec![4, 2],
            Self::Board => vec![BOARD, BOARD],
            Self::Loops => vec![NODES, NODES],
            Self::Balance => vec![4],
            Self::Unlike => vec![5],
        }
    }

    /// The candidate symmetries in shorthand; those that hold come first.
    pub fn candidates(self) -> Vec<&'static str> {
        match self {
            Self::Sensors | Self::Largest | Self::Median | Self::Above | Self::Unlike => vec!["swaps(0)"],
            // All features exchanged, and those of two items mixed.
            Self::Items => vec!["swaps(0)", "features=swap(1;0,1)", "mixed=generators([[0,3,2,1,4,5,6,7]])"],
            Self::Board => vec!["rot90(0,1)", "flip(1)", "permute(0)", "swap(1;0,1)"],
            Self::Steepest => vec!["cycle(0)", "flip(0)", "swap(0;0,1)"],
            // Nodes change rows and columns at once, the others rows alone.
            Self::Loops => vec!["node_swaps(0,1)", "rows=permute(0)", "row_swap=swap(0;0,1)"],
            Self::Balance => {
                vec!["swaps(0)", "negate", "last_sign=generators([[0,1,2,-3]])", "first_sign=generators([[-0,1,2,3]])"]
            }
        }
    }

    /// The true symmetry: every candidate that leaves the target of every array alone.
    pub fn symmetry(self) -> GroupSet {
        match self {
            Self::Sensors | Self::Median => Partition::all_but(6, 5).swaps(),
            Self::Largest => Partition::of(8, |i| i < 6).swaps(),
            Self::Above => Partition::all_but(7, 6).swaps(),
            Self::Items => Partition::whole(4).swaps(),
            Self::Board => GroupSet::full(2),
            Self::Steepest => GroupSet::full(1),
            Self::Loops => Partition::whole(NODES).swaps(),
            Self::Balance => Partition::all_but(4, 3).swaps().with(6).with(7),
            Self::Unlike => GroupSet::empty(),
        }
    }

    /// Number of classes; none when the target is a number.
    pub fn classes(self) -> Option<usize> {
        self.deviation().is_none().then_some(2)
    }

    /// The standard deviation of the target, when it is a number.
    pub fn deviation(self) -> Option<f32> {
        match self {
            // The largest of n has variance n / ((n + 1)^2 (n + 2)): 6/392 and 2/36 together.
            Self::Largest => Some(0.266_189_1),
            // The rank of x_7 is uniform on 0..=6.
            Self::Above => Some(2.0),
            _ => None,
        }
    }

    /// How entries are drawn. All alike, so that candidates do not change what is drawn, whether they hold or not.
    pub(crate) fn entries(self) -> Entries {
        match self {
            Self::Sensors | Self::Largest | Self::Median | Self::Above | Self::Steepest => Entries::Unit,
            Self::Items | Self::Board | Self::Balance | Self::Unlike => Entries::Signed,
            Self::Loops => Entries::Bits(0.345),
        }
    }

    /// Y, a number or the index of a class.
    pub fn target(self, x: &[f32]) -> f32 {
        // Sums of so few entries of f32 are exact in f64, or as good as that: their order does not matter.
        let at = |i: usize| f64::from(x[i]);
        let largest = |places: std::ops::Range<usize>| places.map(at).fold(f64::NEG_INFINITY, f64::max);
        let class = match self {
            Self::Sensors => (0..5).map(|i| (at(i) - 0.5).powi(2)).sum::<f64>() > 0.55 * at(5) + 0.1,
            Self::Largest => return (largest(0..6) - largest(6..8)) as f32,
            Self::Median => x[..5].iter().filter(|&&value| value > x[5]).count() > 2,
            Self::Above => return x[..6].iter().filter(|&&value| value > x[6]).count() as f32,
            Self::Items => (0..4).map(|i| at(2 * i) * at(2 * i + 1).powi(2)).sum::<f64>() > 0.0,
            Self::Board => heaviest(x, &DIAGONAL) > heaviest(x, &STRAIGHT) - 0.6,
            Self::Steepest => {
                let steps = || (0..6).map(|i| at((i + 1) % 6) - at(i));
                steps().fold(f64::NEG_INFINITY, f64::max) > -steps().fold(f64::INFINITY, f64::min)
            }
            Self::Loops => has_loop(x),
            Self::Balance => (at(0) + at(1) + at(2)).abs() > 1.3 * at(3).abs(),
            Self::Unlike => 1.5 * at(0) - 1.5 * at(1) + 2.0 * at(2).powi(2) - 2.0 * at(2) * at(3) + 0.5 * at(4) > 0.6,
        };
        f32::from(u8::from(class))
    }

    /// Moves an array by its true symmetry to where training shows it: the same place for all arrays that the symmetry makes of
    /// each other.
    pub fn arrange(self, x: &mut [f32]) {
        match self {
            Self::Sensors | Self::Median => x[..5].sort_by(f32::total_cmp),
            Self::Above => x[..6].sort_by(f32::total_cmp),
            Self::Largest => {
                x[..6].sort_by(f32::total_cmp);
                x[6..].sort_by(f32::total_cmp);
            }
            Self::Items => sort_items(x),
            Self::Board => smallest(x, (0..8).map(board_image)),
            Self::Steepest => {
                let first = (0..6).max_by(|&i, &j| x[i].total_cmp(&x[j])).unwrap_or(0);
                x.rotate_left(first);
            }
            Self::Loops => smallest(x, (0..120).map(node_image)),
            Self::Balance => {
                if x[..3].iter().map(|&value| f64::from(value)).sum::<f64>() < 0.0 {
                    x[..3].iter_mut().for_each(|value| *value = -*value);
                }
                x[3] = x[3].abs();
                x[..3].sort_by(f32::total_cmp);
            }
            Self::Unlike => {}
        }
    }
}

/// The largest sum over some lines of the board.
fn heaviest(x: &[f32], lines: &[[usize; 2]]) -> f64 {
    let sum = |[first, step]: [usize; 2]| (0..BOARD).map(|i| f64::from(x[first + i * step])).sum::<f64>();
    lines.iter().copied().map(sum).fold(f64::NEG_INFINITY, f64::max)
}

/// Whether i -> j -> k -> i for three different nodes.
fn has_loop(x: &[f32]) -> bool {
    let joined = |i: usize, j: usize| x[i * NODES + j] != 0.0;
    let closes = |i: usize, j: usize| (i + 1..NODES).any(|k| k != j && joined(j, k) && joined(k, i));
    (0..NODES).any(|i| (i + 1..NODES).any(|j| joined(i, j) && closes(i, j)))
}

/// Sorts items of two features by their first, then by their second.
fn sort_items(x: &mut [f32]) {
    let (items, _) = x.as_chunks_mut::<2>();
    items.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
}

/// Replaces an array by the smallest of its images, compared entry by entry; an image is where each of its entries comes from.
fn smallest<const N: usize>(x: &mut [f32], images: impl Iterator<Item = [usize; N]>) {
    let mut best: [f32; N] = std::array::from_fn(|entry| x[entry]);
    for image in images {
        let order = image.iter().zip(&best).map(|(&from, least)| x[from].total_cmp(least)).find(|order| order.is_ne());
        if order == Some(Ordering::Less) {
            best = image.map(|from| x[from]);
        }
    }
    x.copy_from_slice(&best);
}

/// One of the eight images of the board: mirrored or not along each axis, and the axes exchanged or not.
fn board_image(number: usize) -> [usize; BOARD * BOARD] {
    let mirrored = |index: usize, bit: usize| if number >> bit & 1 == 1 { BOARD - 1 - index } else { index };
    std::array::from_fn(|entry| {
        let (row, column) = (mirrored(entry / BOARD, 0), mirrored(entry % BOARD, 1));
        if number >> 2 & 1 == 1 { column * BOARD + row } else { row * BOARD + column }
    })
}

/// One of the 120 images of the graph.
fn node_image(number: usize) -> [usize; NODES * NODES] {
    let order = node_order(number);
    std::array::from_fn(|entry| order[entry / NODES] * NODES + order[entry % NODES])
}

/// One of the 120 orders of the nodes.
fn node_order(mut number: usize) -> [usize; NODES] {
    let mut order = std::array::from_fn(|i| i);
    for left in (2..=NODES).rev() {
        order.swap(left - 1, number % left);
        number /= left;
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_by_hand() {
        let cases: [(ArrayTask, &[f32], f32); 22] = [
            // Two sensors stray by 1/2 each: 0.5 in all, against thresholds 0.1 and 0.65.
            (ArrayTask::Sensors, &[0.0, 1.0, 0.5, 0.5, 0.5, 0.0], 1.0),
            (ArrayTask::Sensors, &[0.0, 1.0, 0.5, 0.5, 0.5, 1.0], 0.0),
            (ArrayTask::Largest, &[0.25, 0.5, 0.0, 0.0, 0.75, 0.0, 0.5, 0.125], 0.25),
            (ArrayTask::Largest, &[0.25, 0.5, 0.0, 0.0, 0.75, 0.0, 0.5, 1.0], -0.25),
            (ArrayTask::Median, &[0.9, 0.1, 0.8, 0.2, 0.6, 0.5], 1.0),
            (ArrayTask::Median, &[0.9, 0.1, 0.8, 0.2, 0.6, 0.7], 0.0),
            (ArrayTask::Above, &[0.9, 0.1, 0.8, 0.2, 0.6, 0.4, 0.5], 3.0),
            (ArrayTask::Above, &[0.9, 0.1, 0.8, 0.2, 0.6, 0.4, 0.0], 6.0),
            // 1/2 - 1/4 + 0 + 0, and with features exchanged 1/4 - 1.
            (ArrayTask::Items, &[0.5, 1.0, -1.0, 0.5, 0.0, 1.0, 1.0, 0.0], 1.0),
            (ArrayTask::Items, &[1.0, 0.5, 0.5, -1.0, 1.0, 0.0, 0.0, 1.0], 1.0),
            (ArrayTask::Items, &[-0.5, 1.0, 1.0, 0.5, 0.0, 1.0, 1.0, 0.0], 0.0),
            // A falling diagonal of 3 beside rows of 1, then a row of 3 beside diagonals of 1.
            (ArrayTask::Board, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 1.0),
            (ArrayTask::Board, &[1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], 0.0),
            // Up by 0.9 at most, down by 0.4; then the other way round.
            (ArrayTask::Steepest, &[0.0, 0.9, 0.5, 0.3, 0.2, 0.1], 1.0),
            (ArrayTask::Steepest, &[0.1, 0.2, 0.3, 0.5, 0.9, 0.0], 0.0),
            (ArrayTask::Balance, &[0.5, 0.5, -0.25, -0.5], 1.0),
            (ArrayTask::Balance, &[-0.5, -0.5, 0.25, 0.5], 1.0),
            (ArrayTask::Balance, &[0.5, 0.5, -0.25, 0.6], 0.0),
            (ArrayTask::Unlike, &[1.0, 0.0, 0.0, 0.0, 0.0], 1.0),
            (ArrayTask::Unlike, &[0.0, 1.0, 0.0, 0.0, 0.0], 0.0),
            // 2/4 + 2/4 = 1 with opposite signs, 0 with equal ones.
            (ArrayTask::Unlike, &[0.0, 0.0, 0.5, -0.5, 0.0], 1.0),
            (ArrayTask::Unlike, &[0.0, 0.0, 0.5, 0.5, 0.0], 0.0),
        ];
        for (task, x, y) in cases {
            assert_eq!(x.len(), task.shape().iter().product::<usize>(), "{}", task.name());
            assert_eq!(task.target(x), y, "{}: {x:?}", task.name());
        }
    }

    #[test]
    fn loops_need_three_nodes_and_one_direction() {
        let graph = |edges: &[[usize; 2]]| {
            let mut x = [0.0; NODES * NODES];
            for &[i, j] in edges {
                x[i * NODES + j] = 1.0;
            }
            ArrayTask::Loops.target(&x)
        };
        assert_eq!(graph(&[[0, 1], [1, 2], [2, 0]]), 1.0);
        assert_eq!(graph(&[[4, 3], [3, 1], [1, 4]]), 1.0);
        assert_eq!(graph(&[[0, 1], [1, 2], [0, 2]]), 0.0);
        // An edge there and back, an edge to itself, and a way around four nodes.
        assert_eq!(graph(&[[0, 1], [1, 0], [0, 0], [1, 1]]), 0.0);
        assert_eq!(graph(&[[0, 1], [1, 2], [2, 3], [3, 0]]), 0.0);
    }

    #[test]
    fn arrangements_by_hand() {
        let arranged = |task: ArrayTask, x: &[f32]| {
            let mut x = x.to_vec();
            task.arrange(&mut x);
            x
        };
        assert_eq!(arranged(ArrayTask::Sensors, &[5.0, 3.0, 1.0, 4.0, 2.0, 0.0]), [1.0, 2.0, 3.0, 4.0, 5.0, 0.0]);
        assert_eq!(
            arranged(ArrayTask::Items, &[2.0, 9.0, 1.0, 8.0, 4.0, 7.0, 3.0, 6.0]),
            [1.0, 8.0, 2.0, 9.0, 3.0, 6.0, 4.0, 7.0]
        );
        assert_eq!(
            arranged(ArrayTask::Board, &[9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0]),
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]
        );
        assert_eq!(arranged(ArrayTask::Steepest, &[3.0, 1.0, 6.0, 2.0, 5.0, 4.0]), [6.0, 2.0, 5.0, 4.0, 3.0, 1.0]);
        assert_eq!(arranged(ArrayTask::Balance, &[0.5, -1.0, 0.25, -0.75]), [-0.5, -0.25, 1.0, 0.75]);
    }

    #[test]
    fn node_orders_are_all_permutations() {
        let orders: std::collections::BTreeSet<_> = (0..120).map(node_order).collect();
        assert_eq!(orders.len(), 120);
        assert!(orders.iter().all(|order| (0..NODES).all(|node| order.contains(&node))));
    }
}

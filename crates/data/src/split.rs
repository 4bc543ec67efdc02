//! Training and validation examples, drawn by a seed.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::error::{Error, Result};
use crate::table::{Labels, Table};

/// Positions of examples, ascending; every example is in exactly one part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// To train on.
    pub train: Vec<usize>,
    /// Held out.
    pub validation: Vec<usize>,
}

/// Holds out a fraction of the examples: of each class alike, at least one of every class that has two, and never the last.
///
/// The same seed gives the same parts on every machine.
pub fn split(table: &Table, fraction: f64, seed: u64) -> Result<Parts> {
    if !(fraction > 0.0 && fraction < 1.0) {
        let problem = format!("the fraction held out must lie between 0 and 1, got {fraction}");
        return Err(Error::request(&table.source, problem));
    }
    let mut strata = match &table.labels {
        Labels::Classes { names, values } => {
            let mut members = vec![Vec::new(); names.len()];
            values.iter().enumerate().for_each(|(example, &class)| members[class].push(example));
            members
        }
        _ => vec![(0..table.len()).collect()],
    };
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut parts = Parts { train: Vec::new(), validation: Vec::new() };
    for members in &mut strata {
        shuffle(members, &mut rng);
        let (held, kept) = members.split_at(held_out(members.len(), fraction));
        parts.validation.extend(held);
        parts.train.extend(kept);
    }
    if parts.validation.is_empty() {
        let problem = match &table.labels {
            Labels::Classes { .. } => "no class has two examples, one to train on and one to hold out for validation",
            _ => "there is one example only: none can be held out for validation",
        };
        return Err(Error::labels(&table.source, format!("{problem}; add examples, or give validation a file of its own")));
    }
    parts.train.sort_unstable();
    parts.validation.sort_unstable();
    Ok(parts)
}

fn held_out(count: usize, fraction: f64) -> usize {
    if count < 2 { 0 } else { ((count as f64 * fraction).round() as usize).clamp(1, count - 1) }
}

fn shuffle(values: &mut [usize], rng: &mut ChaCha8Rng) {
    for last in (1..values.len()).rev() {
        values.swap(last, rng.random_range(0..=last));
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn table(classes: &[usize]) -> Table {
        Table::new(
            vec![1],
            vec![0.0; classes.len()],
            Labels::Classes { names: (0..4).map(|i| i.to_string()).collect(), values: classes.to_vec() },
            "a",
        )
    }

    proptest! {
        #[test]
        fn every_example_is_in_one_part_and_every_class_in_training(
            classes in prop::collection::vec(0usize..4, 1..60),
            fraction in 0.05..0.95f64,
            seed in 0..5u64,
        ) {
            let table = table(&classes);
            let count = |among: &[usize], class| among.iter().filter(|&&i| classes[i] == class).count();
            let all: Vec<usize> = (0..classes.len()).collect();
            match split(&table, fraction, seed) {
                Err(_) => prop_assert!((0..4).all(|class| count(&all, class) < 2)),
                Ok(parts) => {
                    let mut together = [&parts.train[..], &parts.validation].concat();
                    together.sort_unstable();
                    prop_assert_eq!(together, all.clone());
                    for class in 0..4 {
                        let (n, held) = (count(&all, class), count(&parts.validation, class));
                        prop_assert!(n < 2 && held == 0 || n >= 2 && held > 0 && held < n);
                        prop_assert!((held as f64 - n as f64 * fraction).abs() <= 1.0);
                    }
                    prop_assert_eq!(&parts, &split(&table, fraction, seed).unwrap());
                }
            }
        }
    }

    #[test]
    fn seeds_differ_and_numbers_are_split_too() {
        let mut table = table(&[0; 40]);
        assert_ne!(split(&table, 0.5, 1).unwrap(), split(&table, 0.5, 2).unwrap());
        table.labels = Labels::Values(vec![0.0; 40]);
        assert_eq!(split(&table, 0.2, 1).unwrap().validation.len(), 8);
    }

    #[test]
    fn known_parts_stay_the_same() {
        // Written down from the first run: another answer means that no earlier experiment can be repeated.
        assert_eq!(split(&table(&[0, 0, 0, 0, 1, 1, 1, 1]), 0.25, 7).unwrap().validation, [1, 6]);
    }

    #[test]
    fn fractions_are_checked() {
        for fraction in [0.0, 1.0, -0.5, f64::NAN] {
            assert!(split(&table(&[0, 0]), fraction, 1).unwrap_err().to_string().contains("between 0 and 1"));
        }
    }

    #[test]
    fn too_few_examples_are_told_in_words() {
        let error = split(&table(&[0, 1]), 0.5, 1).unwrap_err().to_string();
        assert!(error.starts_with("a: no class has two examples"), "{error}");
        let number = Table { labels: Labels::Values(vec![0.0]), ..table(&[0]) };
        let error = split(&number, 0.5, 1).unwrap_err().to_string();
        assert!(error.starts_with("a: there is one example only"), "{error}");
    }
}

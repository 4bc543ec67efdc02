//! Examples with transformed versions of them, to look at.

use invar_algebra::{Action, Group};
use invar_data::{Labels, Table, encode_png};
use invar_program::Program;
use serde::{Deserialize, Serialize};

use super::judge::{Answers, answers, moved};
use super::load::Loaded;
use crate::error::Result;
use crate::symmetry::Symmetry;

/// Most examples shown.
const EXAMPLES: usize = 6;
/// Most candidates shown with each.
const VERSIONS: usize = 5;
/// Most numbers of an array that are shown.
const NUMBERS: usize = 64;

/// An example with its transformed versions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// What the user calls it.
    pub id: String,
    /// How it looks.
    pub picture: Picture,
    /// Its label.
    pub truth: String,
    /// What the model answers.
    pub answer: String,
    /// Transformed by one generator of each candidate.
    pub versions: Vec<Version>,
}

/// A transformed example.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Version {
    /// By which candidate.
    pub symmetry: String,
    /// Whether the model keeps it.
    pub kept: bool,
    /// How it looks.
    pub picture: Picture,
    /// What the model answers.
    pub answer: String,
}

/// How an example looks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Picture {
    /// A PNG file in base 64.
    Png(String),
    /// Its first entries.
    Numbers(Vec<f32>),
}

/// Shows some validation examples, of as many classes as possible, under the kept candidates first.
pub(super) fn show(loaded: &Loaded, program: &Program, symmetries: &[Symmetry]) -> Result<Vec<Shown>> {
    let kept = |group: usize| symmetries[group].kept;
    let table = &loaded.validation;
    let rows = spread(table);
    let mut order: Vec<usize> = (0..loaded.groups.len()).filter(|&group| !loaded.groups[group].is_trivial()).collect();
    order.sort_by_key(|&group| !kept(group));
    order.truncate(VERSIONS);
    let generator = |group: &Group| group.generators().iter().find(|generator| !generator.is_identity()).cloned();
    let moves: Vec<(usize, Action)> = order.iter().filter_map(|&k| Some((k, generator(&loaded.groups[k])?))).collect();
    let brightest = Range::of(table);
    rows.into_iter()
        .map(|row| {
            let example = table.example(row);
            let say = |inputs: &[f32]| -> Result<String> { Ok(word(loaded, &answers(program, inputs, &table.labels)?)) };
            let version = |(group, action): &(usize, Action)| -> Result<Version> {
                let inputs = moved(action, example);
                let symmetry = symmetries[*group].shown();
                Ok(Version { symmetry, kept: kept(*group), picture: brightest.picture(loaded, &inputs)?, answer: say(&inputs)? })
            };
            Ok(Shown {
                id: table.ids.get(row).cloned().unwrap_or_else(|| format!("validation example {}", row + 1)),
                picture: brightest.picture(loaded, example)?,
                truth: truth(table, row),
                answer: say(example)?,
                versions: moves.iter().map(version).collect::<Result<_>>()?,
            })
        })
        .collect()
}

/// Some rows, one of each class while there are classes, else spread over the table.
fn spread(table: &Table) -> Vec<usize> {
    if let Labels::Classes { names, values } = &table.labels {
        let first = |class: usize| values.iter().position(|&value| value == class);
        return (0..names.len()).filter_map(first).take(EXAMPLES).collect();
    }
    let count = table.len().min(EXAMPLES);
    (0..count).map(|k| k * table.len() / count).collect()
}

fn truth(table: &Table, row: usize) -> String {
    match &table.labels {
        Labels::Classes { names, values } => names[values[row]].clone(),
        Labels::Values(values) => number(f64::from(values[row])),
        Labels::None => String::new(),
    }
}

fn word(loaded: &Loaded, answers: &Answers) -> String {
    match answers {
        Answers::Classes(found) => found.first().map_or(String::new(), |(class, share)| {
            let name = loaded.classes().get(*class).map_or("", String::as_str);
            format!("{name} ({:.0} %)", 100.0 * share)
        }),
        Answers::Values(found) => found.first().map_or(String::new(), |&value| number(value)),
    }
}

/// Four digits that matter.
fn number(value: f64) -> String {
    let digits = if value == 0.0 { 3 } else { (3 - value.abs().log10().floor() as i32).clamp(0, 8) as usize };
    format!("{value:.digits$}")
}

/// The range of all examples, so that pictures can be compared.
struct Range {
    low: f32,
    width: f32,
}

impl Range {
    fn of(table: &Table) -> Self {
        let fold = |(low, high): (f32, f32), &v: &f32| (low.min(v), high.max(v));
        let (low, high) = table.inputs.iter().fold((f32::INFINITY, f32::NEG_INFINITY), fold);
        if low >= 0.0 && high <= 1.0 { Self { low: 0.0, width: 1.0 } } else { Self { low, width: (high - low).max(1e-30) } }
    }

    fn picture(&self, loaded: &Loaded, inputs: &[f32]) -> Result<Picture> {
        let &[channels, height, width] = loaded.shape.sides() else {
            return Ok(Picture::Numbers(inputs.iter().take(NUMBERS).copied().collect()));
        };
        if !loaded.architecture.takes_images() {
            return Ok(Picture::Numbers(inputs.iter().take(NUMBERS).copied().collect()));
        }
        let scaled: Vec<f32> = inputs.iter().map(|v| (v - self.low) / self.width).collect();
        // PNG has one or three colours; of others the mean is shown.
        let (channels, scaled) = match channels {
            1 | 3 => (channels, scaled),
            _ => {
                let pixels = height * width;
                let mean = |p: usize| (0..channels).map(|c| scaled[c * pixels + p]).sum::<f32>() / channels as f32;
                (1, (0..pixels).map(mean).collect())
            }
        };
        Ok(Picture::Png(base64(&encode_png([channels, height, width], &scaled)?)))
    }
}

/// Base 64 (RFC 4648), as data URLs take it.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |k: usize| u32::from(chunk.get(k).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for k in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * k) & 63) as usize];
            text.push(if k <= chunk.len() { digit as char } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_the_standard() {
        for (plain, coded) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")] {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xff, 0xfe]), "//4=");
    }

    #[test]
    fn numbers_have_four_digits() {
        assert_eq!([0.0, 1.5, -123.456, 0.001_234_5, 98765.4].map(number), ["0.000", "1.500", "-123.5", "0.001234", "98765"]);
    }

    #[test]
    fn rows_are_spread_over_classes() {
        let labels = Labels::Classes { names: vec!["a".into(), "b".into(), "c".into()], values: vec![1, 1, 0, 1] };
        let table = |labels: Labels| Table::new(vec![1], vec![0.0; labels.len()], labels, "");
        assert_eq!(spread(&table(labels)), [2, 0]);
        assert_eq!(spread(&table(Labels::Values(vec![0.0; 12]))), [0, 2, 4, 6, 8, 10]);
        assert_eq!(spread(&table(Labels::Values(vec![0.0; 2]))), [0, 1]);
    }
}

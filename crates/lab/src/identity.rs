//! What identifies a configuration: a digest of what it says, field by field, in which numbers count by their bits. Neither how numbers
//! are printed nor how anything is worded for people takes part.

use invar_data::Digest;
use serde::Serialize;
use serde_json::Value;

use crate::error::{Error, Result};

/// Of what is hashed. To be raised when a configuration that is written as before comes to mean another fit: what was finished under
/// the old meaning is then made again.
const VERSION: u64 = 1;

/// The digest of a configuration. Equal ones have equal digests whatever order their fields are in.
pub fn identity(config: &impl Serialize) -> Result<Digest> {
    let value = serde_json::to_value(config).map_err(|error| Error::Setting {
        name: "configuration",
        expected: "one that can be written down".into(),
        got: error.to_string(),
    })?;
    let mut bytes = VERSION.to_le_bytes().to_vec();
    append(&value, &mut bytes);
    Ok(Digest::of([bytes]))
}

/// Each kind of value with a mark of its own, and its length where it has one, so that no two write the same.
fn append(value: &Value, bytes: &mut Vec<u8>) {
    let mut mark = |kind: u8, number: u64| {
        bytes.push(kind);
        bytes.extend(number.to_le_bytes());
    };
    match value {
        Value::Null => mark(0, 0),
        Value::Bool(flag) => mark(1, u64::from(*flag)),
        Value::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(count), _, _) => mark(2, count),
            (None, Some(negative), _) => mark(3, negative as u64),
            (None, None, fraction) => mark(4, fraction.unwrap_or(f64::NAN).to_bits()),
        },
        Value::String(text) => {
            mark(5, text.len() as u64);
            bytes.extend(text.as_bytes());
        }
        Value::Array(items) => {
            mark(6, items.len() as u64);
            for item in items {
                append(item, bytes);
            }
        }
        Value::Object(fields) => {
            mark(7, fields.len() as u64);
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_unstable_by_key(|(name, _)| name.as_str());
            for (name, value) in fields {
                bytes.extend((name.len() as u64).to_le_bytes());
                bytes.extend(name.as_bytes());
                append(value, bytes);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::project::Architecture;
    use invar_nn::Schedule;
    use invar_tasks::Task;
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;
    use crate::fit::{Descent, FitConfig, Method};
    use crate::networks::Backbone;
    use crate::problem::Data;
    use crate::screen::ScreenConfig;

    #[test]
    fn what_differs_has_another_digest_and_the_order_of_fields_does_not_count() {
        let of = |value: Value| identity(&value).unwrap();
        assert_eq!(of(json!({ "a": 1, "b": [0.5, "x"] })), of(json!({ "b": [0.5, "x"], "a": 1 })));
        let all = [
            json!(null),
            json!(false),
            json!(0),
            json!(-1),
            json!(u64::MAX),
            json!(0.0),
            json!(-0.0),
            json!(""),
            json!([]),
            json!({}),
            json!("ab"),
            json!(["ab"]),
            json!(["a", "b"]),
            json!({ "a": "b" }),
            json!({ "a": { "b": 1 } }),
            json!({ "a": [1] }),
            json!(0.911_111_111_111_111_1),
            json!(0.911_111_111_111_111_2),
            json!([[], 1]),
            json!([[1]]),
        ];
        let digests: std::collections::HashSet<String> = all.iter().map(|value| of(value.clone()).to_string()).collect();
        assert_eq!(digests.len(), all.len());
        // As it was written into the names of files: a change here makes every finished fit again.
        assert_eq!(of(json!({ "lambda": 0.1, "epochs": 3 })).short(), "e82b3aef8079ec25");
    }

    /// Every text in a value.
    fn texts(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::String(text) => found.push(text.clone()),
            Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
            Value::Object(fields) => fields.values().for_each(|value| texts(value, found)),
            _ => {}
        }
    }

    #[test]
    fn configurations_hold_names_and_numbers_but_no_words_for_people() {
        let mut found = Vec::new();
        let mut look = |value: Value| texts(&value, &mut found);
        for name in Task::all().map(Task::name) {
            let mut data = Data::by_name(name).unwrap();
            data.set_examples(50);
            for method in [Method::Cgreg, Method::DeepSets, Method::GInvariant] {
                let config = FitConfig { descent: Descent::Momentum, ..FitConfig::new(data, method) };
                look(serde_json::to_value(config.with_schedule(Schedule::OneCycle, 3)).unwrap());
            }
        }
        let mut data = Data::by_name("sum").unwrap();
        data.set_examples(50);
        for network in [Backbone::lift(), Backbone::small(), Backbone::Orbit, Backbone::Pairs, Backbone::Feedforward] {
            let config = ScreenConfig { network: Some(network), ..ScreenConfig::new(data, &data.problem(0).unwrap()) };
            look(serde_json::to_value(config).unwrap());
        }
        look(serde_json::to_value([Architecture::Lift, Architecture::Pairs, Architecture::OrbitImages]).unwrap());
        let is_name = |text: &String| text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || "_,".contains(c));
        assert!(found.len() > 50);
        assert_eq!(found.iter().find(|text| !is_name(text)), None);
    }

    proptest! {
        /// What was written and read is the same to the last bit, and so has the same digest.
        #[test]
        fn numbers_survive_being_written_and_read(bits in any::<u64>(), small in any::<u32>()) {
            let (number, single) = (f64::from_bits(bits), f32::from_bits(small));
            prop_assume!(number.is_finite() && single.is_finite());
            let text = serde_json::to_string(&(number, single)).unwrap();
            let read: (f64, f32) = serde_json::from_str(&text).unwrap();
            prop_assert_eq!((read.0.to_bits(), read.1.to_bits()), (bits, small));
            prop_assert_eq!(identity(&read).unwrap(), identity(&(number, single)).unwrap());
        }
    }
}

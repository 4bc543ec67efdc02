//! What identifies data: their content, not their name or place.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use sha2::{Digest as _, Sha256};

use crate::error::{Error, Result, origin};
use crate::table::{Labels, Table};

/// The SHA-256 of some content; written as hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest([u8; 32]);

impl Digest {
    /// Of several parts, so that where one ends and the next begins matters.
    pub fn of<P: AsRef<[u8]>>(parts: impl IntoIterator<Item = P>) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            let part = part.as_ref();
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Of a file, as `sha256sum` has it.
    pub fn of_file(path: &Path) -> Result<Self> {
        let origin = origin(path);
        let mut file = File::open(path).map_err(Error::opening(&origin))?;
        let mut hasher = Sha256::new();
        let mut buffer = vec![0; 1 << 16];
        loop {
            match io::Read::read(&mut file, &mut buffer).map_err(Error::io(&origin, "read it"))? {
                0 => return Ok(Self(hasher.finalize().into())),
                count => hasher.update(&buffer[..count]),
            }
        }
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// The first digits: enough for a file name, or for people to tell two apart.
    pub fn short(&self) -> String {
        self.to_string()[..16].to_string()
    }
}

impl Table {
    /// The digest of shape, inputs and labels, classes and the names of columns included: a model keeps these. Where the data
    /// came from does not count.
    pub fn digest(&self) -> Digest {
        let sides: Vec<u8> = self.shape.iter().flat_map(|&side| (side as u64).to_le_bytes()).collect();
        let inputs: Vec<u8> = self.inputs.iter().flat_map(|value| value.to_le_bytes()).collect();
        let labels: Vec<u8> = match &self.labels {
            Labels::Classes { names, values } => {
                let names = names.iter().flat_map(|name| name.bytes().chain([0]));
                names.chain(values.iter().flat_map(|&class| (class as u64).to_le_bytes())).collect()
            }
            Labels::Values(values) => values.iter().flat_map(|value| value.to_le_bytes()).collect(),
            Labels::None => Vec::new(),
        };
        let columns = self.columns.iter().flat_map(|name| name.bytes().chain([0])).collect();
        let mut parts = vec![sides, inputs, labels, columns];
        // Tables without names have the digest they always had.
        if self.columns.is_empty() {
            parts.pop();
        }
        Digest::of(parts)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl FromStr for Digest {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let wrong = || format!("expected 64 hexadecimal digits, got {text:?}");
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, k) in bytes.iter_mut().zip(0..) {
            *byte = u8::from_str_radix(&text[2 * k..2 * k + 2], 16).map_err(|_| wrong())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(inputs: &[f32], values: &[usize]) -> Table {
        Table::new(
            vec![2],
            inputs.to_vec(),
            Labels::Classes { names: vec!["a".into(), "b".into()], values: values.to_vec() },
            "here",
        )
    }

    #[test]
    fn a_known_digest_comes_back_from_its_digits() {
        // SHA-256 of eight zero bytes: the length of an empty part.
        let digest = Digest::of([""]);
        assert_eq!(digest.to_string(), "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc");
        assert_eq!(digest.to_string().parse(), Ok(digest));
        let json = serde_json::to_string(&digest).unwrap();
        assert_eq!(serde_json::from_str::<Digest>(&json).unwrap(), digest);
        assert!("af".parse::<Digest>().is_err() && "é".repeat(32).parse::<Digest>().is_err());
        assert_ne!(Digest::of(["ab", "c"]), Digest::of(["a", "bc"]));
    }

    #[test]
    fn the_digest_of_a_file_is_that_of_other_programs() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, "abc").unwrap();
        let known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(Digest::of_file(&path).unwrap().to_string(), known);
        assert!(matches!(Digest::of_file(&folder.path().join("b")), Err(Error::Missing { .. })));
    }

    #[test]
    fn content_counts_and_the_place_does_not() {
        let one = table(&[1.0, 2.0, 3.0, 4.0], &[0, 1]);
        assert_eq!(one.digest(), Table { source: "there".into(), ..one.clone() }.digest());
        assert_ne!(one.digest(), table(&[1.0, 2.0, 3.0, 5.0], &[0, 1]).digest());
        assert_ne!(one.digest(), table(&[1.0, 2.0, 3.0, 4.0], &[1, 0]).digest());
        assert_ne!(one.digest(), Table { shape: vec![2, 1], ..one.clone() }.digest());
        let named = |names: [&str; 2]| Table { columns: names.map(Into::into).into(), ..one.clone() }.digest();
        assert_ne!(one.digest(), named(["x", "y"]));
        assert_ne!(named(["x", "y"]), named(["x", "z"]));
    }
}

//! Model bundles: weights and what is known about them in one file.
//!
//! The file is a safetensors file, which other programs can read. Its metadata hold a manifest with the checksum of every tensor,
//! and the checksum of the manifest itself, so that damage anywhere is found.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::path::Path;

use safetensors::SafeTensors;
use safetensors::tensor::{Dtype, Metadata, TensorView};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::assemble::volume;
use crate::error::{Error, Result, one_line, origin, quote};
use crate::limits::{Budget, Limits, open};
use crate::write::write_whole;

/// What the manifest calls itself.
const FORMAT: &str = "invar model";
/// The version this code writes, and the newest it reads.
const VERSION: u32 = 1;
/// The entry of the metadata that holds the manifest.
const KEY: &str = "invar";

/// A model: named tensors, and texts (configuration, classes, verdicts; JSON if they have a structure).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bundle {
    /// What is known about the model.
    pub metadata: BTreeMap<String, String>,
    /// Its weights.
    pub tensors: BTreeMap<String, Tensor>,
}

/// A tensor by rows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tensor {
    /// Its shape.
    pub shape: Vec<usize>,
    /// Its entries, the last axis fastest.
    pub values: Vec<f32>,
}

/// Enough of the manifest to know whether the rest can be understood.
#[derive(Debug, Serialize, Deserialize)]
struct Manifest {
    format: String,
    version: u32,
    /// The checksum of `body`.
    #[serde(default)]
    sha256: String,
    /// The rest, as text, because the checksum is that of a text.
    #[serde(default)]
    body: String,
}

#[derive(Debug, Serialize, Deserialize)]
struct Body {
    metadata: BTreeMap<String, String>,
    /// The checksum of each tensor.
    tensors: BTreeMap<String, String>,
}

impl Bundle {
    /// Writes the bundle, whole or not at all. Equal bundles make equal files.
    pub fn save(&self, path: &Path) -> Result<()> {
        write_whole(path, &self.encode(&origin(path))?)
    }

    /// Reads a bundle and checks all of it.
    pub fn load(path: &Path, limits: Limits) -> Result<Self> {
        let origin = origin(path);
        let mut budget = Budget::new(limits);
        let (file, length) = open(path, &budget)?;
        budget.take(&origin, "the file and its tensors", usize::try_from(length).unwrap_or(usize::MAX), 2)?;
        let mut bytes = Vec::new();
        file.take(length).read_to_end(&mut bytes).map_err(Error::io(&origin, "read it"))?;
        Self::decode(&origin, &bytes)
    }

    fn encode(&self, origin: &str) -> Result<Vec<u8>> {
        let refuse = |problem: String| Error::Bundle { origin: origin.to_owned(), problem };
        for (name, tensor) in &self.tensors {
            if name == "__metadata__" || volume(&tensor.shape) != Some(tensor.values.len()) {
                return Err(refuse(format!("tensor {} cannot be written: wrong name or shape", quote(name))));
            }
        }
        let data: BTreeMap<&String, Vec<u8>> = self.tensors.iter().map(|(name, tensor)| (name, tensor.bytes())).collect();
        let sums = self.tensors.iter().map(|(name, tensor)| (name.clone(), checksum(&tensor.shape, &data[name])));
        let body = Body { metadata: self.metadata.clone(), tensors: sums.collect() };
        let body = serde_json::to_string(&body).map_err(|error| refuse(error.to_string()))?;
        let manifest = Manifest { format: FORMAT.to_owned(), version: VERSION, sha256: hex(&body), body };
        let manifest = serde_json::to_string(&manifest).map_err(|error| refuse(error.to_string()))?;
        let views = self.tensors.iter().map(|(name, tensor)| {
            let view = TensorView::new(Dtype::F32, tensor.shape.clone(), &data[name]);
            view.map(|view| (name, view)).map_err(|error| refuse(error.to_string()))
        });
        let views = views.collect::<Result<Vec<_>>>()?;
        // One entry only: the order of several would differ from run to run.
        let metadata = HashMap::from([(KEY.to_owned(), manifest)]);
        safetensors::serialize(views, Some(metadata)).map_err(|error| refuse(error.to_string()))
    }

    fn decode(origin: &str, bytes: &[u8]) -> Result<Self> {
        let refuse = |problem: String| Error::Bundle { origin: origin.to_owned(), problem };
        let foreign = |error: safetensors::SafeTensorError| {
            refuse(format!("not a model bundle, or a damaged one: {}", one_line(&error.to_string())))
        };
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(foreign)?;
        let body = Body::find(&header, origin)?;
        let tensors = SafeTensors::deserialize(bytes).map_err(foreign)?;
        let names: BTreeSet<&str> = tensors.names().into_iter().collect();
        let stated: BTreeSet<&str> = body.tensors.keys().map(String::as_str).collect();
        if let Some(name) = names.symmetric_difference(&stated).next() {
            return Err(refuse(format!("the file is damaged: tensor {} is missing, or was added", quote(name))));
        }
        let mut read = BTreeMap::new();
        for (name, view) in tensors.iter() {
            if view.dtype() != Dtype::F32 {
                return Err(refuse(format!("tensor {}: expected numbers of type F32, got {:?}", quote(name), view.dtype())));
            }
            if body.tensors.get(name) != Some(&checksum(view.shape(), view.data())) {
                return Err(refuse(format!("the file is damaged: tensor {} has the wrong checksum", quote(name))));
            }
            read.insert(name.to_owned(), Tensor::new(view.shape(), view.data()));
        }
        Ok(Self { metadata: body.metadata, tensors: read })
    }
}

/// Writes tensors for other programs as a safetensors file, whole or not at all, with one text in its metadata. It has no
/// checksums, and is not read back here.
pub fn write_safetensors(path: &Path, tensors: &BTreeMap<String, Tensor>, (key, text): (&str, &str)) -> Result<()> {
    let refuse = |problem: String| Error::Bundle { origin: origin(path), problem };
    let data: BTreeMap<&String, Vec<u8>> = tensors.iter().map(|(name, tensor)| (name, tensor.bytes())).collect();
    let views = tensors.iter().map(|(name, tensor)| {
        let view = TensorView::new(Dtype::F32, tensor.shape.clone(), &data[name]);
        view.map(|view| (name, view)).map_err(|error| refuse(format!("tensor {}: {error}", quote(name))))
    });
    let metadata = HashMap::from([(key.to_owned(), text.to_owned())]);
    let bytes = safetensors::serialize(views.collect::<Result<Vec<_>>>()?, Some(metadata));
    write_whole(path, &bytes.map_err(|error| refuse(error.to_string()))?)
}

impl Body {
    /// Finds the manifest, and checks it.
    fn find(header: &Metadata, origin: &str) -> Result<Self> {
        let refuse = |problem: String| Err(Error::Bundle { origin: origin.to_owned(), problem });
        let Some(text) = header.metadata().as_ref().and_then(|metadata| metadata.get(KEY)) else {
            return refuse("a safetensors file, but not a model of invar: it has no manifest".to_owned());
        };
        let manifest: Manifest = match serde_json::from_str(text) {
            Ok(manifest) => manifest,
            Err(error) => {
                return refuse(format!("the file is damaged: the manifest cannot be read: {}", one_line(&error.to_string())));
            }
        };
        if manifest.format != FORMAT {
            return refuse(format!("expected the format {}, got {}", quote(FORMAT), quote(&manifest.format)));
        }
        if manifest.version == 0 || manifest.version > VERSION {
            let version = manifest.version;
            return refuse(format!("written by another version of invar: format {version}, but this one reads up to {VERSION}"));
        }
        if hex(&manifest.body) != manifest.sha256 {
            return refuse("the file is damaged: the manifest has the wrong checksum".to_owned());
        }
        serde_json::from_str(&manifest.body).or_else(|error| refuse(format!("the manifest is not as expected: {error}")))
    }
}

impl Tensor {
    fn new(shape: &[usize], bytes: &[u8]) -> Self {
        let (chunks, _) = bytes.as_chunks::<4>();
        Self { shape: shape.to_vec(), values: chunks.iter().map(|chunk| f32::from_le_bytes(*chunk)).collect() }
    }

    fn bytes(&self) -> Vec<u8> {
        self.values.iter().flat_map(|value| value.to_le_bytes()).collect()
    }
}

/// The checksum of a tensor: of its shape and its data, for a changed shape is damage too.
fn checksum(shape: &[usize], data: &[u8]) -> String {
    let mut hasher = Sha256::new();
    hasher.update((shape.len() as u64).to_le_bytes());
    for &size in shape {
        hasher.update((size as u64).to_le_bytes());
    }
    hasher.update(data);
    digits(&hasher.finalize())
}

fn hex(text: &str) -> String {
    sha256(text.as_bytes())
}

/// The SHA-256 checksum of some bytes, in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    digits(&Sha256::digest(bytes))
}

fn digits(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits { bytes: 1 << 20 };

    fn bundle() -> Bundle {
        let tensor = |shape: &[usize]| {
            let values = (0..shape.iter().product::<usize>()).map(|i| i as f32 - 0.5).collect();
            Tensor { shape: shape.to_vec(), values }
        };
        Bundle {
            metadata: [("classes", "[\"a\"]"), ("note", "é \"x\"")].map(|(k, v)| (k.into(), v.into())).into(),
            tensors: [("w", tensor(&[2, 3])), ("b", tensor(&[3])), ("none", tensor(&[0])), ("one", tensor(&[]))]
                .map(|(k, v)| (k.into(), v))
                .into(),
        }
    }

    fn message(bytes: &[u8]) -> String {
        Bundle::decode("m", bytes).unwrap_err().to_string()
    }

    #[test]
    fn bundles_come_back_and_equal_ones_are_equal_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("m.safetensors");
        bundle().save(&path).unwrap();
        assert_eq!(Bundle::load(&path, LIMITS).unwrap(), bundle());
        assert_eq!(std::fs::read(&path).unwrap(), bundle().encode("m").unwrap());
        assert!(matches!(Bundle::load(&path, Limits::new(100)), Err(Error::TooLarge { .. })));
        assert_eq!(Bundle::decode("m", &Bundle::default().encode("m").unwrap()).unwrap(), Bundle::default());
    }

    #[test]
    fn any_changed_byte_is_noticed() {
        let bytes = bundle().encode("m").unwrap();
        for i in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[i] ^= 1;
            match Bundle::decode("m", &changed) {
                Err(Error::Bundle { .. }) => {}
                // White space, and the like, that means the same.
                Ok(read) => assert_eq!(read, bundle(), "byte {i}"),
                Err(error) => panic!("byte {i}: {error}"),
            }
            assert!(Bundle::decode("m", &bytes[..i]).is_err(), "truncated to {i}");
        }
        let data = bytes.len() - 1;
        let mut changed = bytes;
        changed[data] ^= 1;
        assert_eq!(message(&changed), "m: the file is damaged: tensor `w` has the wrong checksum");
    }

    #[test]
    fn foreign_and_newer_files_are_told_apart() {
        let foreign = safetensors::serialize(Vec::<(String, TensorView)>::new(), None).unwrap();
        assert!(message(&foreign).contains("not a model of invar"));
        assert!(message(b"something else entirely").contains("not a model bundle"));
        let with = |manifest: &str| {
            let metadata = HashMap::from([(KEY.to_owned(), manifest.to_owned())]);
            safetensors::serialize(Vec::<(String, TensorView)>::new(), Some(metadata)).unwrap()
        };
        let newer = message(&with("{\"format\":\"invar model\",\"version\":7,\"news\":[]}"));
        assert!(newer.contains("format 7, but this one reads up to 1"), "{newer}");
        assert!(message(&with("{\"format\":\"other\",\"version\":1}")).contains("expected the format `invar model`"));
        assert!(message(&with("{")).contains("cannot be read"));
        let body = "{\"metadata\":{},\"tensors\":{\"w\":\"00\"}}";
        let manifest = Manifest { format: FORMAT.into(), version: 1, sha256: hex(body), body: body.into() };
        assert!(message(&with(&serde_json::to_string(&manifest).unwrap())).contains("tensor `w` is missing"));
    }

    #[test]
    fn what_cannot_be_written_is_refused() {
        let wrong = Tensor { shape: vec![2], values: vec![0.0] };
        let bundle = Bundle { tensors: [("w".to_owned(), wrong)].into(), ..Bundle::default() };
        assert!(bundle.encode("m").is_err());
        let reserved = Bundle { tensors: [("__metadata__".to_owned(), Tensor::default())].into(), ..Bundle::default() };
        assert!(reserved.encode("m").is_err());
    }
}

//! Finished fits of a screen on disk, so that a screen that is cut short goes on where it was.
//!
//! Fits depend on each other: most begin with the weights of another. So weights are kept to the last bit, each fit under a key
//! that says everything that decided it, the key of the fit it began with included.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use burn::module::{Module, ModuleMapper, ModuleVisitor, Param};
use burn::tensor::{Tensor, TensorData};
use invar_data::{Bundle, Digest, Limits};
use invar_nn::{Epoch, Network};
use serde::{Deserialize, Serialize};

use super::config::ScreenConfig;
use super::fitter::Ending;
use crate::error::{Error, Result};

/// How the names of its files end.
const ENDING: &str = "fit";
/// The entry of a file that holds what is known besides weights.
const ABOUT: &str = "fit";

/// A folder of finished fits.
#[derive(Debug)]
pub struct Memory {
    folder: PathBuf,
    config: String,
}

/// What is known about a finished fit besides its weights.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct About {
    #[serde(with = "exact")]
    pub(super) curve: Vec<Epoch>,
    pub(super) epochs: usize,
    pub(super) ending: Ending,
}

impl Memory {
    /// Fits of one screen, in a folder that is created.
    pub fn open(folder: &Path, config: &ScreenConfig) -> Result<Self> {
        Self::create(folder.to_path_buf(), described(config, folder)?)
    }

    /// Fits of one screen of many, in a folder of its own among theirs.
    pub fn among(folder: &Path, config: &ScreenConfig) -> Result<Self> {
        let config = described(config, folder)?;
        Self::create(folder.join(Digest::of([&config]).short()), config)
    }

    fn create(folder: PathBuf, config: String) -> Result<Self> {
        std::fs::create_dir_all(&folder).map_err(|source| Error::File { what: "create", path: folder.clone(), source })?;
        Ok(Self { folder, config })
    }

    /// Removes the fits: the screen is done. The folder goes with them unless there is something else in it.
    pub fn forget(self) -> Result<()> {
        let failed = |source| Error::File { what: "remove", path: self.folder.clone(), source };
        for entry in std::fs::read_dir(&self.folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            // A program that was killed may have left a file that it had begun.
            if path.extension().is_some_and(|ending| ending == ENDING || ending == "tmp") {
                std::fs::remove_file(&path).map_err(failed)?;
            }
        }
        let _ = std::fs::remove_dir(&self.folder);
        Ok(())
    }

    /// The key of a fit, from everything besides the configuration that decides it. Without a fingerprint of the program there is
    /// none, and nothing is remembered.
    pub(super) fn key(&self, parts: &[String]) -> Option<Digest> {
        Some(Digest::of([program()?, self.config.as_str()].into_iter().chain(parts.iter().map(String::as_str))))
    }

    fn path(&self, key: &Digest) -> PathBuf {
        self.folder.join(format!("{}.{ENDING}", key.short()))
    }

    /// The weights of a finished fit, put into a network of its kind; nothing when it is not there. A file that is damaged is
    /// one that is not there: the fit is made again.
    pub(super) fn recall(&self, key: &Digest, network: Network) -> Option<(Network, About)> {
        let bundle = Bundle::load(&self.path(key), Limits::of_this_machine()).ok()?;
        let about = serde_json::from_str(bundle.metadata.get(ABOUT)?).ok()?;
        let mut writer = Writer { bundle: &bundle, next: 0, sound: true };
        let network = network.map(&mut writer);
        (writer.sound && writer.next == bundle.tensors.len()).then_some((network, about))
    }

    /// Keeps a finished fit.
    pub(super) fn keep(&self, key: &Digest, network: &Network, about: &About) -> Result<()> {
        let path = self.path(key);
        let failed = |error: serde_json::Error| Error::File { what: "write", path: path.clone(), source: error.into() };
        let text = serde_json::to_string(about).map_err(failed)?;
        let mut reader = Reader(Bundle { metadata: [(ABOUT.to_string(), text)].into(), ..Bundle::default() });
        network.visit(&mut reader);
        Ok(reader.0.save(&path)?)
    }
}

/// Everything that the user decides about a screen, as text.
fn described(config: &ScreenConfig, folder: &Path) -> Result<String> {
    let failed = |error: serde_json::Error| Error::File { what: "write", path: folder.to_path_buf(), source: error.into() };
    serde_json::to_string(config).map_err(failed)
}

/// A fingerprint of this program: another one may train otherwise, and costs are differences between fits of one program.
fn program() -> Option<&'static str> {
    static PROGRAM: OnceLock<Option<String>> = OnceLock::new();
    let fingerprint = || {
        // What runs, even if its file has been replaced since.
        let own = Path::new("/proc/self/exe");
        let bytes = std::fs::read(own).or_else(|_| std::env::current_exe().and_then(std::fs::read));
        bytes.ok().map(|bytes| Digest::of([bytes]).to_string())
    };
    PROGRAM.get_or_init(fingerprint).as_deref()
}

/// Learning curves to the last bit, which decimal numbers do not promise.
mod exact {
    use invar_nn::Epoch;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(curve: &[Epoch], serializer: S) -> Result<S::Ok, S::Error> {
        let bits = |epoch: &Epoch| {
            let Epoch { epoch, train_loss, validation_loss, validation_accuracy, penalty } = *epoch;
            (epoch, [train_loss, validation_loss, validation_accuracy, penalty].map(f64::to_bits))
        };
        serializer.collect_seq(curve.iter().map(bits))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Epoch>, D::Error> {
        let lines = Vec::<(usize, [u64; 4])>::deserialize(deserializer)?;
        let epoch = |(epoch, bits): (usize, [u64; 4])| {
            let [train_loss, validation_loss, validation_accuracy, penalty] = bits.map(f64::from_bits);
            Epoch { epoch, train_loss, validation_loss, validation_accuracy, penalty }
        };
        Ok(lines.into_iter().map(epoch).collect())
    }
}

/// Parameters are named by their number.
fn name(number: usize) -> String {
    format!("{number:04}")
}

struct Reader(Bundle);

impl ModuleVisitor for Reader {
    fn visit_float<const D: usize>(&mut self, param: &Param<Tensor<D>>) {
        let data = param.val().into_data();
        let shape = param.dims().to_vec();
        let values = data.try_to_vec::<f32>().unwrap_or_default();
        self.0.tensors.insert(name(self.0.tensors.len()), invar_data::Tensor { shape, values });
    }
}

struct Writer<'a> {
    bundle: &'a Bundle,
    next: usize,
    sound: bool,
}

impl ModuleMapper for Writer<'_> {
    fn map_float<const D: usize>(&mut self, param: Param<Tensor<D>>) -> Param<Tensor<D>> {
        let found = self.bundle.tensors.get(&name(self.next));
        self.next += 1;
        let dims = param.dims();
        let Some(tensor) = found.filter(|tensor| tensor.shape == dims) else {
            self.sound = false;
            return param;
        };
        let values = tensor.values.clone();
        param.map(|old| Tensor::from_data(TensorData::new(values, dims), &old.device()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Data;
    use burn::tensor::Device;
    use invar_nn::{Bases, CgFeedForwardConfig, Init, Model};

    fn network(seed: u64, outputs: usize) -> Network {
        let config = CgFeedForwardConfig { outputs, ..CgFeedForwardConfig::array() };
        config.init(&Bases::sequence(3), &mut Init::new(seed, &Device::flex())).unwrap().into()
    }

    fn answers(network: &Network) -> Vec<f32> {
        let x = Tensor::from_floats([[0.1, -2.0, 3.0], [5.0, 0.2, 0.0]], &Device::flex());
        let y = network.forward(invar_nn::Input::Array(x), &mut invar_nn::Pass::evaluate()).unwrap();
        y.into_data().try_to_vec().unwrap()
    }

    #[test]
    fn weights_come_back_to_the_last_bit() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::open(&folder.path().join("deep"), &ScreenConfig::new(Data::by_name("sum").unwrap())).unwrap();
        let (one, other) = (memory.key(&["a".into()]).unwrap(), memory.key(&["b".into()]).unwrap());
        let (third, least) = (1.0 / 3.0, f64::MIN_POSITIVE);
        let line = Epoch { epoch: 7, train_loss: third, validation_loss: 0.1, validation_accuracy: 2.0 * third, penalty: least };
        let about = About { curve: vec![line], epochs: 3, ending: Ending::Reached };
        memory.keep(&one, &network(1, 2), &about).unwrap();
        let (back, found) = memory.recall(&one, network(2, 2)).unwrap();
        assert_eq!((answers(&back), found), (answers(&network(1, 2)), about));
        assert_ne!(answers(&back), answers(&network(2, 2)));
        assert!(memory.recall(&other, network(2, 2)).is_none(), "another fit");
        assert!(memory.recall(&one, network(2, 3)).is_none(), "another kind of network");
        std::fs::write(memory.path(&one), b"damaged").unwrap();
        assert!(memory.recall(&one, network(2, 2)).is_none());
        memory.forget().unwrap();
        assert!(!folder.path().join("deep").exists());
    }
}

//! Makes `assets/mnist.bin` from the four original MNIST files, plain or gzipped:
//!
//! ```sh
//! cargo run --release -p invar-tasks --example pack_mnist -- FOLDER crates/tasks/assets/mnist.bin
//! ```

use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::time::Instant;

use flate2::read::GzDecoder;
use invar_tasks::{Digits, Mnist};
use md5::{Digest, Md5};

/// A file as published: its name, the MD5 of what is in it, and the length of its header, whose contents the MD5 vouches for.
type Original = (&'static str, &'static str, usize);

/// Images and labels to learn from.
const TRAIN: [Original; 2] = [
    ("train-images-idx3-ubyte", "6bbc9ace898e44ae57da46a324031adb", 16),
    ("train-labels-idx1-ubyte", "a25bea736e30d166cdddb491f175f624", 8),
];
/// Images and labels to test on.
const TEST: [Original; 2] = [
    ("t10k-images-idx3-ubyte", "2646ac647ad5339dbf082846283269ea", 16),
    ("t10k-labels-idx1-ubyte", "27ae3e4e09519cfbb04c329615203637", 8),
];

fn main() -> Result<(), Box<dyn Error>> {
    let [folder, asset] =
        std::env::args().skip(1).collect::<Vec<_>>().try_into().map_err(|_| "usage: pack_mnist FOLDER ASSET")?;
    let folder = Path::new(&folder);
    let digits = Mnist { train: part(folder, TRAIN)?, test: part(folder, TEST)? };
    let packed = digits.pack();
    let start = Instant::now();
    assert!(Mnist::unpack(&packed)? == digits, "unpacking gives back what was packed");
    println!("{} images in {} bytes, unpacked in {:.2?}", digits.train.len() + digits.test.len(), packed.len(), start.elapsed());
    std::fs::write(asset, packed)?;
    Ok(())
}

fn part(folder: &Path, [images, labels]: [Original; 2]) -> Result<Digits, Box<dyn Error>> {
    Ok(Digits::new(&data(folder, images)?, data(folder, labels)?)?)
}

/// What follows the header of a file that is the original one.
fn data(folder: &Path, (name, expected, header): Original) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut bytes = original(folder, name)?;
    let found: String = Md5::digest(&bytes).iter().flat_map(|byte| [byte >> 4, byte & 15]).map(hex).collect();
    if found != expected {
        return Err(format!("{name}: the MD5 is {found} but should be {expected}").into());
    }
    Ok(bytes.split_off(header))
}

fn hex(digit: u8) -> char {
    char::from(b"0123456789abcdef"[usize::from(digit)])
}

/// One of the files as published, unpacked.
fn original(folder: &Path, name: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    if let Ok(bytes) = std::fs::read(folder.join(name)) {
        return Ok(bytes);
    }
    let zipped = folder.join(format!("{name}.gz"));
    let file = std::fs::File::open(&zipped).map_err(|error| format!("neither {name} nor {}: {error}", zipped.display()))?;
    let mut bytes = Vec::new();
    GzDecoder::new(file).read_to_end(&mut bytes)?;
    Ok(bytes)
}

//! Files for other programs. Each appears whole or not at all.

mod csv_file;
mod file;
mod npy;
mod npz;
mod own;
mod png_file;

pub use csv_file::{CsvWriter, Field};
pub use file::{NewFile, folder_of, write_whole};
pub use npy::{Array, NpyWriter, write_npy};
pub use npz::{Packing, write_npz};
pub use own::claim;
pub(crate) use own::is_claimed;
pub use png_file::{encode_png, write_png};

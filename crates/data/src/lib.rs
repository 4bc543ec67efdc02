//! The user's own data, and files for other programs.
//!
//! A [`Source`] says where data are and how they are to be understood; [`Source::load`] reads them into a [`Table`], within
//! [`Limits`]: nothing is allocated on the word of a file, and whatever is wrong is an error that names the file and the place.

// What can be wrong, and how much memory may be used.
mod error;
mod limits;

// What is asked for, and what comes out.
mod source;
mod table;

mod assemble;
mod labels;

// Readers.
mod element;

mod npy;
mod npy_header;

mod archive;
mod npz;

mod idx;
mod sheet;

mod fit;
mod folder;
mod image;
mod pnm;

// Texts and gaps of tables as entries.
mod coding;

// What to know about a table, and what to hold out.
mod digest;
mod split;
mod summary;

// Writers, and model files.
mod write;

mod bundle;
pub mod onnx;

pub use bundle::{Bundle, Tensor, sha256, write_safetensors};
pub use coding::{Coded, Coding};
pub use digest::Digest;
pub use error::{Error, Result, printable, steers};
pub use limits::{Limits, read_text};
pub use sheet::{ColumnFacts, ColumnKind};
pub use source::{Format, Layout, Missing, Source, Task};
pub use split::{Parts, split};
pub use summary::{ClassCount, Range, Shared, Summary, shared};
pub use table::{Labels, Table};
pub use write::{
    Array, CsvWriter, Field, NewFile, NpyWriter, Packing, claim, encode_png, folder_of, write_npy, write_npz, write_png,
    write_whole,
};

//! Archives of NumPy arrays.

use std::io::Write;
use std::path::Path;

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};

use crate::error::{Error, Result, origin};
use crate::write::{Array, NewFile};

/// How the arrays of an archive are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Packing {
    /// As they are.
    Stored,
    /// Compressed.
    Deflated,
}

/// Writes arrays by name; each is made in memory first. Archives end at 4 GiB: larger arrays go to NPY files.
pub fn write_npz(path: &Path, arrays: &[(&str, Array)], packing: Packing) -> Result<()> {
    let origin = origin(path);
    let mut file = NewFile::create(path)?;
    let mut archive = Archive { out: &mut file, origin: &origin, packing, position: 0, directory: Vec::new(), count: 0 };
    for (name, array) in arrays {
        archive.add(name, array)?;
    }
    archive.finish()?;
    file.finish()
}

struct Archive<'a> {
    out: &'a mut NewFile,
    origin: &'a str,
    packing: Packing,
    position: u32,
    directory: Vec<u8>,
    count: u16,
}

impl Archive<'_> {
    fn add(&mut self, name: &str, array: &Array) -> Result<()> {
        let name = format!("{name}.npy");
        let mut bytes = Vec::new();
        array.write(&mut bytes, self.origin)?;
        let mut crc = Crc::new();
        crc.update(&bytes);
        let packed = match self.packing {
            Packing::Stored => None,
            Packing::Deflated => Some(self.deflate(&bytes)?),
        };
        let data = packed.as_deref().unwrap_or(&bytes);
        let name_length = u16::try_from(name.len()).map_err(|_| self.too_long())?;

        // What the entry's own header and the directory have in common.
        let mut common = Vec::new();
        let flags = 1u16 << 11; // names are UTF-8
        common.extend([20u16, flags, if packed.is_some() { 8 } else { 0 }].iter().flat_map(|field| field.to_le_bytes()));
        common.extend([0, 0, 0x21, 0]); // midnight, the first of January 1980: equal data make equal files
        common.extend(crc.sum().to_le_bytes());
        common.extend(self.size(data.len())?.to_le_bytes());
        common.extend(self.size(bytes.len())?.to_le_bytes());
        common.extend(name_length.to_le_bytes());
        common.extend([0, 0]); // no extra fields

        self.directory.extend(b"PK\x01\x02\x14\x00");
        self.directory.extend(&common);
        self.directory.extend([0; 10]); // no comment, disk 0, no attributes
        self.directory.extend(self.position.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.count = self.count.checked_add(1).ok_or_else(|| self.too_long())?;

        self.put(b"PK\x03\x04")?;
        self.put(&common)?;
        self.put(name.as_bytes())?;
        self.put(data)
    }

    fn finish(mut self) -> Result<()> {
        let directory = std::mem::take(&mut self.directory);
        let start = self.position;
        self.put(&directory)?;
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend(self.count.to_le_bytes().repeat(2));
        end.extend(self.size(directory.len())?.to_le_bytes());
        end.extend(start.to_le_bytes());
        end.extend([0, 0]);
        self.put(&end)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let length = self.size(bytes.len())?;
        self.position = self.position.checked_add(length).ok_or_else(|| self.too_long())?;
        self.out.write_all(bytes).map_err(Error::io(self.origin, "write it"))
    }

    fn deflate(&self, bytes: &[u8]) -> Result<Vec<u8>> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(bytes).and_then(|()| encoder.finish()).map_err(Error::io(self.origin, "compress it"))
    }

    fn size(&self, bytes: usize) -> Result<u32> {
        // The largest value stands for a 64-bit size elsewhere.
        u32::try_from(bytes).ok().filter(|&size| size < u32::MAX).ok_or_else(|| self.too_long())
    }

    fn too_long(&self) -> Error {
        Error::unsupported(self.origin, "an archive of 4 GiB or more", "write the arrays as NPY files")
    }
}

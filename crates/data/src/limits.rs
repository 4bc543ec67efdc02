//! How much memory a file may take: decided before anything is allocated.

use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::Path;

use crate::error::{Error, Result, origin};

/// How many bytes reading one source may use. The table itself, labels included, counts against it, and no single file (nor
/// array inside an archive) may be larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes allowed.
    pub bytes: u64,
}

impl Limits {
    /// A cap of so many bytes.
    pub fn new(bytes: u64) -> Self {
        Self { bytes }
    }

    /// Half the memory that is free now, or 2 GiB where the system does not say.
    pub fn of_this_machine() -> Self {
        Self::new(available_memory().map_or(2 << 30, |free| free / 2))
    }
}

/// What is left of the limits while a source is read.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    left: u64,
}

impl Budget {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { limit: limits.bytes, left: limits.bytes }
    }

    /// Refuses a file, or the content of an archive, that is larger than the limit.
    pub(crate) fn admit(&self, origin: &str, what: &str, bytes: u64) -> Result<()> {
        if bytes <= self.limit { Ok(()) } else { Err(self.too_large(origin, what, bytes)) }
    }

    /// Sets aside `count` times `each` bytes, before they are allocated.
    pub(crate) fn take(&mut self, origin: &str, what: &str, count: usize, each: usize) -> Result<()> {
        let bytes = (count as u64).saturating_mul(each as u64);
        self.left = self.left.checked_sub(bytes).ok_or_else(|| self.too_large(origin, what, bytes))?;
        Ok(())
    }

    /// What may still be used.
    pub(crate) fn left(&self) -> u64 {
        self.left
    }

    fn too_large(&self, origin: &str, what: &str, needed: u64) -> Error {
        Error::TooLarge { origin: origin.to_owned(), what: what.to_owned(), needed, limit: self.left.min(self.limit) }
    }
}

/// A file that is open, ordinary and within the limits, and its length.
pub(crate) fn open(path: &Path, budget: &Budget) -> Result<(File, u64)> {
    let origin = origin(path);
    // Asked before opening: to open a pipe is to wait for whoever writes it.
    let found = fs::metadata(path).map_err(Error::opening(&origin))?;
    if !found.is_file() {
        return Err(Error::request(&origin, format!("expected a file, got {}", kind(&found))));
    }
    let file = File::open(path).map_err(Error::opening(&origin))?;
    let length = file.metadata().map_err(Error::io(&origin, "read its size"))?.len();
    budget.admit(&origin, "the file", length)?;
    Ok((file, length))
}

/// The text of an ordinary file, where each of its bytes will take so many in memory when it is understood.
pub fn read_text(path: &Path, limits: Limits, each: usize) -> Result<String> {
    let origin = origin(path);
    let mut budget = Budget::new(limits);
    let (file, length) = open(path, &budget)?;
    budget.take(&origin, "the file, understood,", usize::try_from(length).unwrap_or(usize::MAX), each)?;
    let mut text = String::new();
    file.take(length).read_to_string(&mut text).map_err(Error::io(&origin, "read it"))?;
    Ok(text)
}

fn kind(found: &Metadata) -> &'static str {
    if found.is_dir() { "a folder" } else { "a pipe or a device" }
}

/// Bytes of memory that could be used now, where the system says: on Linux, also within a container.
fn available_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let machine = meminfo(&text)?;
    Some(container().map_or(machine, |inside| inside.min(machine)))
}

fn meminfo(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

fn container() -> Option<u64> {
    let number = |name: &str| fs::read_to_string(format!("/sys/fs/cgroup/{name}")).ok()?.trim().parse::<u64>().ok();
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_once() {
        let mut budget = Budget::new(Limits::new(100));
        budget.take("a", "the table", 20, 4).unwrap();
        let error = budget.take("a", "the table", 6, 4).unwrap_err().to_string();
        assert!(error.starts_with("a: the table would take 24 bytes, but at most 20 bytes may be used"), "{error}");
        assert!(budget.take("a", "the table", usize::MAX, 8).is_err());
        assert!(budget.take("a", "the table", 5, 4).is_ok());
    }

    #[test]
    fn free_memory_is_read() {
        assert_eq!(meminfo("MemTotal: 9 kB\nMemAvailable:   24 kB\n"), Some(24 * 1024));
        assert_eq!(meminfo("MemAvailable: many"), None);
        assert!(Limits::of_this_machine().bytes > 0);
    }

    #[test]
    fn only_ordinary_files_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(Limits::new(2));
        assert!(open(folder.path(), &budget).unwrap_err().to_string().contains("got a folder"));
        assert!(matches!(open(&folder.path().join("none"), &budget), Err(Error::Missing { .. })));
        let path = folder.path().join("three");
        fs::write(&path, "abc").unwrap();
        assert!(matches!(open(&path, &budget), Err(Error::TooLarge { needed: 3, limit: 2, .. })));
        assert_eq!(read_text(&path, Limits::new(30), 10).unwrap(), "abc");
        assert!(matches!(read_text(&path, Limits::new(30), 11), Err(Error::TooLarge { needed: 33, limit: 30, .. })));
        fs::write(&path, b"\xff").unwrap();
        assert!(read_text(&path, Limits::new(30), 10).unwrap_err().to_string().contains("cannot read it"));
    }

    #[cfg(unix)]
    #[test]
    fn devices_are_refused() {
        let budget = Budget::new(Limits::new(1 << 20));
        assert!(open(Path::new("/dev/zero"), &budget).unwrap_err().to_string().contains("a pipe or a device"));
    }
}

//! Memory that a construction may use: asked for before it is allocated.

use crate::error::{Error, Result};

/// What is left of the memory a construction may use.
#[derive(Debug)]
pub(crate) struct Budget {
    limit: u64,
    used: u64,
}

impl Budget {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, used: 0 }
    }

    /// Sets aside `count` times `each` bytes, or says what would not fit.
    pub(crate) fn take(&mut self, what: &str, count: u64, each: usize) -> Result<()> {
        self.admit(what, count, each)?;
        self.used += count * each as u64;
        Ok(())
    }

    /// Refuses what would not fit, without setting it aside: for memory that is given back at once.
    pub(crate) fn admit(&self, what: &str, count: u64, each: usize) -> Result<()> {
        let needed = count.saturating_mul(each as u64).saturating_add(self.used);
        if needed <= self.limit { Ok(()) } else { Err(Error::TooLarge { what: what.into(), needed, limit: self.limit }) }
    }
}

/// A number of bytes for people: "1.5 GB".
pub fn bytes(n: u64) -> String {
    const UNITS: [&str; 6] = ["kB", "MB", "GB", "TB", "PB", "EB"];
    if n < 1000 {
        return format!("{n} B");
    }
    let mut value = n as f64 / 1000.0;
    let mut unit = 0;
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    if value < 10.0 { format!("{value:.1} {}", UNITS[unit]) } else { format!("{value:.0} {}", UNITS[unit]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_does_not_fit_is_refused_before_it_is_counted() {
        let mut budget = Budget::new(100);
        budget.take("a list", 5, 10).unwrap();
        let error = budget.take("a table", 6, 10).unwrap_err().to_string();
        assert_eq!(
            error,
            "a table would bring the memory in use to 110 B, but at most 100 B may be used; raise the limit (--memory)"
        );
        budget.admit("a list", 5, 10).unwrap();
        budget.take("a list", 5, 10).unwrap();
        assert!(budget.take("everything", u64::MAX, 1000).is_err());
    }

    #[test]
    fn bytes_for_people() {
        assert_eq!([999, 1500, 13_900_000_000, 999_600].map(bytes), ["999 B", "1.5 kB", "14 GB", "1.0 MB"]);
    }
}

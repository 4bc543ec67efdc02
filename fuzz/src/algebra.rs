//! Symmetries in shorthand, and certificates of lattices.

use invar_algebra::{Candidate, Certificate, Check, Error, Group, Lattice, Mode, Options, Shape, candidates};

use crate::Desk;

/// Entries of a tensor whose lattice is built in an instant.
const SMALL: usize = 64;
/// Entries of a tensor whose certificate is checked in an instant.
const CERTIFIED: usize = 512;
/// Candidates, too.
const FEW: usize = 8;

/// A line with a shape, and lines with one candidate each: what is read is written as it was, and lattices keep their laws.
pub(crate) fn shorthand(_: &Desk, bytes: &[u8]) -> bool {
    let Some((shape, lines)) = std::str::from_utf8(bytes).ok().and_then(|text| text.split_once('\n')) else { return false };
    let lines: Vec<&str> = lines.lines().take(FEW).collect();
    for line in &lines {
        let _ = line.parse::<Candidate>().map(|candidate| check_written(&candidate)).map_err(|error| check_place(&error));
    }
    let Ok(shape) = shape.parse::<Shape>() else { return false };
    if shape.len() > SMALL {
        return false;
    }
    let Ok(groups) = candidates(&shape, lines) else { return false };
    if groups.is_empty() || groups.len() > FEW {
        return false;
    }
    let whole = Group::join("all", &groups).expect("groups on one shape can be joined");
    for group in &groups {
        assert!(whole.order() >= group.order(), "a part of a group is larger than it");
        assert_eq!(group.orbits().is_some(), group.orbits().is_some());
    }
    for mode in [Mode::Paper, Mode::Complete] {
        check_lattice(&groups, mode);
    }
    true
}

/// What is written for a candidate is read as the same.
fn check_written(candidate: &Candidate) {
    let written = candidate.to_string();
    match written.parse::<Candidate>() {
        Ok(read) => assert_eq!(read.to_string(), written),
        Err(error) => panic!("`{written}` was written, and cannot be read: {error}"),
    }
}

/// The place that a message points at is between two letters.
fn check_place(error: &Error) {
    if let Error::Parse(wrong) = error {
        assert!(wrong.text.is_char_boundary(wrong.position), "{wrong:?}");
    }
}

/// The lattice of these groups keeps its laws, and so does its certificate when it was written and read.
fn check_lattice(groups: &[Group], mode: Mode) {
    let options = Options { mode, cap: 64, memory: 16 << 20, ..Options::default() };
    let Ok(lattice) = Lattice::new(groups.to_vec(), &options) else { return };
    // Whether decimals keep a law is a matter of degree.
    if lattice.gap().is_some() {
        return;
    }
    let certificate = lattice.verify();
    assert!(certificate.holds(), "{:?}", failed(&certificate.checks));
    let text = serde_json::to_string(&certificate).expect("a certificate can be written");
    let read: Certificate = serde_json::from_str(&text).expect("a certificate that was written can be read");
    let again = read.recheck().expect("a certificate that was written can be checked");
    assert!(again.holds(), "{:?}", failed(&again.checks));
}

fn failed(checks: &[Check]) -> Vec<&Check> {
    checks.iter().filter(|check| !check.holds()).collect()
}

/// A certificate: it is checked again, with the same outcome each time.
pub(crate) fn certificate(_: &Desk, bytes: &[u8]) -> bool {
    let Ok(claimed) = serde_json::from_slice::<Certificate>(bytes) else { return false };
    if claimed.shape.len() > CERTIFIED || claimed.groups.len() > FEW {
        return false;
    }
    let Ok(found) = claimed.recheck() else { return false };
    assert_eq!(found.checks, claimed.recheck().expect("it was checked before").checks);
    found.holds()
}

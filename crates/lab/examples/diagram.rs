//! Draws the lattice of some candidates: `cargo run -p invar-lab --example diagram -- out 3x3x3 'rot90(1,2)' 'permute(0)'`
//! writes `out.svg` and `out.html`. A leading `--eigenspaces` adds each group's own space, `--complete` every subspace.

use std::error::Error;

use invar_algebra::{Lattice, Mode, Options, Shape, candidates};
use invar_lab::diagram::{self, DiagramOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, rest): (Vec<String>, Vec<String>) = std::env::args().skip(1).partition(|arg| arg.starts_with("--"));
    let [out, shape, groups @ ..] = &rest[..] else {
        return Err("usage: diagram [--eigenspaces] [--complete] OUT SHAPE GROUP...".into());
    };
    let shape: Shape = shape.parse()?;
    let mode = if flags.contains(&"--complete".to_string()) { Mode::Complete } else { Mode::Paper };
    let groups = candidates(&shape, groups.iter().map(String::as_str))?;
    let lattice = Lattice::new(groups, &Options { mode, ..Options::default() })?;
    let options = DiagramOptions { eigenspaces: flags.contains(&"--eigenspaces".to_string()), ..DiagramOptions::default() };
    std::fs::write(format!("{out}.svg"), diagram::svg(&lattice, &options))?;
    std::fs::write(format!("{out}.html"), diagram::html(&lattice, &options))?;
    Ok(())
}

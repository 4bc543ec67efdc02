//! The weights of a neuron, split by how much symmetry they have.
//!
//! Run it: `cargo run --example 02_lattice`

use invar_algebra::{Lattice, Options, Result, Shape, Subspace, candidates};

fn main() -> Result<()> {
    // A 3x3 filter, and two symmetries that the data may or may not contradict.
    let shape: Shape = "3x3".parse()?;
    let groups = candidates(&shape, ["turn=rot90(0,1)", "mirror=flip(0)"])?;
    let lattice = Lattice::new(groups, &Options::default())?;

    // Every filter is a sum of one part from each subspace. A network that pays for using the lower ones gives up an
    // invariance only when the data demands it.
    for subspace in lattice.subspaces() {
        let words = lattice.label(subspace.set());
        println!("level {}: invariant to {words} and nothing else, dimension {}", subspace.level(), subspace.dimension());
        draw(subspace, &shape);
    }
    // There is no subspace of {turn} alone: on so small a patch, whatever survives quarter turns survives the mirror.
    let turn = [0].into_iter().collect();
    println!("the closure of {} is {}\n", lattice.label(&turn), lattice.label(&lattice.closure(&turn)?));

    // The lattice proves itself: every claim is checked in exact integer arithmetic, from generators and vectors alone.
    let certificate = lattice.verify();
    for check in &certificate.checks {
        println!("{} ({} cases): {}", if check.holds() { "holds" } else { "FAILS" }, check.cases, check.law);
    }

    // Ten positions have 45 transpositions and 2^45 sets of them; ten of those sets matter, and only those are visited.
    let positions: Shape = "10".parse()?;
    let lattice = Lattice::new(candidates(&positions, ["swaps(0)"])?, &Options::default())?;
    println!("\nof {} swaps of 10 positions, the subspaces are:", lattice.groups().len());
    for subspace in lattice.subspaces() {
        println!("  level {}: {}", subspace.level(), lattice.label(subspace.set()));
    }
    Ok(())
}

/// The integer vectors that span a subspace, as filters side by side.
fn draw(subspace: &Subspace, shape: &Shape) {
    let vectors: Vec<_> = subspace.exact().iter().map(|v| v.to_dense(shape.len(), 0.into())).collect();
    for row in 0..shape.side(0) {
        let cell = |v: &[_], column| format!("{:3}", v[shape.flat(&[row, column])]);
        let line = |v: &Vec<_>| (0..shape.side(1)).map(|column| cell(v, column)).collect::<Vec<_>>().concat();
        println!("   {}", vectors.iter().map(line).collect::<Vec<_>>().join("    "));
    }
    println!();
}

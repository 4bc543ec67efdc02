//! Which symmetries might hold, and what they are together.
//!
//! Run it: `cargo run --example 01_groups`

use invar_algebra::{Group, Result, Shape, candidates, warnings};

fn main() -> Result<()> {
    // A colour photo, small enough to count by hand: 3 channels of 4x4 pixels. Axes count from 0.
    let shape: Shape = "3x4x4".parse()?;
    // Symmetries that might hold of its label. Each is given by generators; nothing lists all their elements.
    let groups = candidates(&shape, ["turn=rot90(1,2)", "mirror=flip(1)", "color=permute(0)"])?;

    println!("On a tensor of shape {shape}:");
    for group in &groups {
        // Invariant weights are constant on every orbit, so orbits count what is left to learn once a symmetry is kept.
        let orbits = group.orbits().expect("no candidate is a matrix").count();
        println!("  {:6} has {} elements and leaves {orbits} of {} weights free", group.name(), group.order(), shape.len());
    }

    let all = Group::join("all", &groups)?;
    let orbits = all.orbits().expect("no candidate is a matrix").count();
    println!("  together they generate {} elements and leave {orbits} weights free\n", all.order());

    // Theorem 2: being invariant to the candidates one believes in guarantees counterfactual invariance when what they
    // generate is normal in the whole. A mirror is not: a quarter turn makes another mirror of it, about the other axis.
    for group in &groups {
        match group.witness_against_normality(&groups) {
            None => println!("{} is normal in the whole", group.name()),
            Some(witness) => {
                let undo = witness.g.inverse().expect("elements of a group have inverses");
                let conjugate = witness.g.after(&witness.h).after(&undo);
                println!("{} is not normal: conjugation by {} makes", group.name(), witness.of);
                println!("    [{}] into [{}], which it lacks", all.describe(&witness.h), all.describe(&conjugate));
            }
        }
    }

    // Orders are exact however large: 30! has 33 digits.
    let sequence: Shape = "30".parse()?;
    let shuffles = candidates(&sequence, ["permute(0)"])?.remove(0);
    println!("\nA sequence of 30 can be permuted in {} ways", shuffles.order());

    // Candidates that change nothing, or stand twice, are accepted and named.
    let odd = candidates(&"1x5".parse()?, ["permute(0)", "a=flip(1)", "b=flip(1)"])?;
    for warning in warnings(&odd) {
        println!("warning: {warning}");
    }
    Ok(())
}

//! Groups, lattices and certificates with the real binary, in temporary folders.

mod answers;
mod certificates;
mod help;
mod machines;
mod refusals;
mod run;

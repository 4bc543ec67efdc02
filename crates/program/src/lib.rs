//! What is left of a network when training is over: a [`Program`], a straight list of ordinary operations with their weights.
//!
//! Flow: `invar_nn::lower` writes a network down as a [`Program`] -> [`Saved`] puts it in a file with everything a user needs
//! to know about it -> [`Program::run`] predicts, [`certify()`] proves which symmetries the program has, [`export`] writes it for
//! other runtimes. Nothing here trains, and nothing here knows Burn.
//!
//! ```
//! use invar_program::{Activation, Input, Op, Program, Tensor};
//!
//! // The sum of three numbers, rectified.
//! let sum = Op::Linear { weight: Tensor::new([1, 3], vec![1.0; 3])?, bias: None };
//! let program = Program::new(Input::Array { shape: vec![3] }, vec![sum, Op::Activate { activation: Activation::Relu }])?;
//! assert_eq!(program.run(&[1.0, 2.0, 3.0, -1.0, -2.0, -3.0])?, [6.0, 0.0]);
//!
//! // It is the same for every order of its inputs, and that can be proved from its weights.
//! let group = &invar_algebra::candidates(&"3".parse()?, ["permute(0)"])?[0];
//! assert!(invar_program::certify(&program, group)?.is_proved());
//! # Ok::<(), invar_program::Error>(())
//! ```

mod error;
mod tensor;

mod input;
mod op;
mod program;
mod views;

mod row_sets;
mod run;

mod saved;

pub mod certify;
pub mod export;
mod interpret;

pub use certify::{certify, tied};
pub use error::{Error, Result};
pub use input::Input;
pub use interpret::Interpreter;
pub use op::{Activation, Op, Pooling};
pub use program::Program;
pub use saved::{Candidate, Member, Normalisation, Reading, Saved, Task, Told};
pub use tensor::Tensor;

#[cfg(test)]
mod testing;

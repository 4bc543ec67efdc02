//! `invar export`: a model for other programs.

use std::process::ExitCode;

use anyhow::Result;
use invar_program::{Saved, export};

use super::ExportArgs;
use super::args::Outputs;
use crate::output::{self, line, thousands};

pub(crate) fn run(args: &ExportArgs) -> Result<ExitCode> {
    let Outputs { onnx, safetensors } = &args.outputs;
    let files = [("--onnx", onnx.as_deref()), ("--safetensors", safetensors.as_deref())];
    output::check_apart(&files, &[("the model", &args.model)])?;
    let model = Saved::load(&args.model)?;
    let program = model.whole()?;
    if let Some(path) = onnx {
        model.write_onnx(path)?;
        let (input, output) = (export::INPUT, export::OUTPUT);
        line(&format!(
            "wrote {}: ONNX, {} in, {} out ({input} -> {output})",
            output::shown(path),
            sides(&program),
            program.outputs()?
        ))?;
        line(&format!("  {input}: {}", model.input_in_words()))?;
    }
    if let Some(path) = safetensors {
        model.write_safetensors(path)?;
        let count = output::count(program.tensors().count(), "tensor");
        line(&format!("wrote {}: {count}, {} numbers", output::shown(path), thousands(&program.parameters())))?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The shape of one example, as in `3x28x28`.
pub(super) fn sides(program: &invar_program::Program) -> String {
    let sides: Vec<String> = program.input.sides().iter().map(usize::to_string).collect();
    sides.join("x")
}

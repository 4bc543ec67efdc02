//! `invar verify`: a certificate checked again from its data alone.

use std::process::ExitCode;

use anyhow::{Context, Result, anyhow};
use invar_algebra::Certificate;
use invar_data::{Limits, read_text};

use crate::cli::VerifyArgs;
use crate::lattice::render_checks;
use crate::output;

/// Bytes in memory for a byte of a certificate: a digit in quotes becomes a string, an integer and a share of its list.
const UNDERSTOOD: usize = 25;

pub(crate) fn run(args: &VerifyArgs) -> Result<ExitCode> {
    let shown = output::shown(&args.file);
    let text = read_text(&args.file, Limits::of_this_machine(), UNDERSTOOD).map_err(|error| anyhow!("cannot read {error}"))?;
    let claimed: Certificate = serde_json::from_str(&text)
        .with_context(|| format!("{shown} is not a certificate written by `invar lattice --certificate`"))?;
    // What is wrong inside a file is a failure of the file, not of the command line: no usage error.
    let found = claimed.recheck().map_err(|error| anyhow!("{shown}: {error}"))?;
    if args.json {
        output::json(&found.checks)?;
    } else {
        let groups = output::count(found.groups.len(), "group");
        let subspaces = output::count(found.subspaces.len(), "subspace");
        output::line(&format!("shape {}, {groups}, {subspaces}\n{}", found.shape, render_checks(&found.checks)))?;
    }
    Ok(ExitCode::from(u8::from(!found.holds())))
}

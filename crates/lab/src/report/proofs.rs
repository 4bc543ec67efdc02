//! What can be proved from the weights, and how to do it all again.

use std::fmt::Write;

use super::evidence::MAX_ROWS;
use super::{Proof, section};
use crate::diagram::escape;
use crate::project::Run;
use crate::symmetry::Symmetry;

/// What can be proved from the weights.
pub(super) fn certificate(out: &mut String, run: &Run, proofs: &[Proof]) {
    if proofs.is_empty() {
        return;
    }
    let mut content = String::from(
        "<p>Whether the model file is invariant, layer by layer, from its weights alone.</p>\n<div class=\"scroll-x\"><table>\n<thead><tr>\
         <th scope=\"col\">symmetry</th><th scope=\"col\">kept</th><th scope=\"col\">result</th><th scope=\"col\">why</th></tr></thead>\n<tbody>\n",
    );
    for (k, proof) in proofs.iter().take(MAX_ROWS).enumerate() {
        let name = run.symmetries.get(k).map_or_else(|| proof.symmetry.clone(), Symmetry::shown);
        let (class, word) = match (proof.kept, proof.proved) {
            (_, true) => ("good", "proved"),
            (true, false) => ("bad", "not proved"),
            (false, false) => ("warn", "not invariant"),
        };
        let _ = writeln!(
            content,
            "<tr><td class=\"name\">{}</td><td>{}</td><td><span class=\"badge {class}\">{word}</span></td><td class=\"words\">{}</td></tr>",
            escape(&name),
            if proof.kept { "yes" } else { "no" },
            escape(&proof.words)
        );
    }
    content.push_str("</tbody>\n</table></div>\n");
    section(out, "certificate", "The certificate", &content);
}

/// How to do it again.
pub(super) fn rerun(out: &mut String, run: &Run) {
    let project = toml::to_string(&run.project).unwrap_or_default();
    let content = format!(
        "<p>Save this as invar.toml{}, then run <code>invar train invar.toml</code>. The same data, settings and version give the \
         same model on the same kind of processor.</p>\n<pre>{}</pre>\n\
         <p class=\"muted\">invar {}; data {}; {:.0} seconds of fits.</p>\n",
        if run.folder.is_empty() { String::new() } else { format!(" in {}", escape(&run.folder)) },
        lines(&project),
        escape(&run.invar),
        escape(&data(run)),
        run.seconds,
    );
    section(out, "rerun", "How to run it again", &content);
}

/// Escapes line by line: a line end is one.
fn lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<_>>().join("\n")
}

fn data(run: &Run) -> String {
    match run.data {
        crate::problem::Data::Files(digest) => format!("sha256 {digest}"),
        other => other.name().into(),
    }
}

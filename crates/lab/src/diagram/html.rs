//! The picture in a page of its own, with everything it shows as tables.

use std::fmt::Write;

use invar_algebra::{Lattice, Mode};

use super::names::Names;
use super::scene::{Scene, eigenspace_dimension, level_in_words};
use super::svg::Place;
use super::text::{count, escape};
use super::{DiagramOptions, colour, layout, svg};

/// Diagrams with at most so many nodes have a second form for narrow screens; others scroll sideways.
const NARROW_NODES: usize = 60;
/// Most rows of a table, and most groups named in a row.
const MAX_ROWS: usize = 400;
const MAX_NAMES: usize = 24;

const STYLE: &str = "
body{margin:0;background:var(--page);color:var(--text);line-height:1.45}
main{max-width:1216px;margin:0 auto;padding:20px 16px 48px}
h1{font-size:1.5rem;margin:0 0 4px;line-height:1.25;overflow-wrap:anywhere}
h2{font-size:1.1rem;margin:36px 0 8px}
p{margin:0 0 8px}.muted{color:var(--muted)}
table{border-collapse:collapse;width:100%;max-width:820px}
th,td{text-align:left;padding:6px 14px 6px 0;border-bottom:1px solid var(--border);vertical-align:top;overflow-wrap:anywhere}
th{font-weight:600;overflow-wrap:normal}td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
@media(max-width:760px){main{padding:16px 12px 40px}}
";

/// Where the picture stands in a page.
pub(super) const FIGURE_STYLE: &str = "
figure{margin:18px 0 0;overflow-x:auto}
figure svg{display:block;margin:0 auto}
figure svg.wide{max-width:100%;height:auto}
figure svg.narrow{display:none}
figure.scroll svg.wide{max-width:none}
@media(max-width:760px){figure.both svg.wide{display:none}figure.both svg.narrow{display:block;max-width:100%;height:auto}}
@media print{figure.scroll svg.wide{max-width:100%}}
";

/// Writes the page.
pub(super) fn write(lattice: &Lattice, options: &DiagramOptions) -> String {
    let scene = Scene::new(lattice, options);
    let mut out = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{title}</title>\n\
         <style>{}{}body{{font-family:{}}}{FIGURE_STYLE}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p class=\"muted\">{}</p>\n",
        colour::page_variables(),
        colour::style(),
        colour::FONTS,
        escape(&scene.summary),
        title = escape(&scene.title),
    );
    out.push_str(&figure(&scene));
    about(&mut out, lattice);
    candidates(&mut out, lattice);
    subspaces(&mut out, lattice);
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

/// The picture, in a wide and a narrow form.
pub(super) fn figure(scene: &Scene) -> String {
    let both = scene.cards.len() <= NARROW_NODES;
    let mut out = format!("<figure class=\"{}\">\n", if both { "both" } else { "scroll" });
    out.push_str(&svg::write(scene, &layout::arrange(scene, &layout::PAGE), Place::Page));
    if both {
        out.push('\n');
        out.push_str(&svg::write(scene, &layout::arrange(scene, &layout::NARROW), Place::Page));
    }
    out.push_str("\n</figure>\n");
    out
}

/// The facts about the whole.
fn about(out: &mut String, lattice: &Lattice) {
    let mode = match lattice.options().mode {
        Mode::Paper => "paper: of each subspace what is independent of the more invariant ones",
        Mode::Complete => "complete: every subspace that is not zero",
    };
    let together: usize = lattice.subspaces().iter().map(invar_algebra::Subspace::dimension).sum();
    let _ = write!(
        out,
        "<h2>The space</h2>\n<table>\n<tr><th scope=\"row\">shape</th><td>{}</td></tr>\n\
         <tr><th scope=\"row\">mode</th><td>{mode}</td></tr>\n\
         <tr><th scope=\"row\">subspaces</th><td>{}, dimensions sum to {together}</td></tr>\n",
        match lattice.shape().axes() {
            1 => lattice.shape().to_string(),
            _ => format!("{}, {} entries", lattice.shape(), lattice.shape().len()),
        },
        lattice.subspaces().len(),
    );
    if let Some(gap) = lattice.gap() {
        let _ = writeln!(out, "<tr><th scope=\"row\">singular-value gap</th><td>{gap:.1e}; ranks are not exact</td></tr>");
    }
    out.push_str("</table>\n");
}

/// The candidate groups; families of swaps in one row each.
fn candidates(out: &mut String, lattice: &Lattice) {
    out.push_str(
        "<h2>Candidate groups</h2>\n<table>\n<thead><tr><th scope=\"col\">group</th><th scope=\"col\" class=\"n\">order</th>\
         <th scope=\"col\" class=\"n\">dimension of W</th></tr></thead>\n<tbody>\n",
    );
    let names = Names::new(lattice);
    let single: Vec<usize> = names.singles().collect();
    for &number in single.iter().take(MAX_ROWS) {
        let group = &lattice.groups()[number];
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            escape(group.name()),
            short(&group.order().to_string()),
            eigenspace_dimension(group, lattice.options())
        );
    }
    if single.len() > MAX_ROWS {
        let _ = writeln!(out, "<tr><td colspan=\"3\">and {} more</td></tr>", count(single.len() - MAX_ROWS, "group"));
    }
    for family in names.families() {
        let group = &lattice.groups()[family.members[0]];
        let _ = writeln!(
            out,
            "<tr><td>{} of two of {} {}s ({})</td><td class=\"n\">2 each</td><td class=\"n\">{} each</td></tr>",
            count(family.members.len(), "swap"),
            family.n,
            family.noun(),
            family.axes(),
            eigenspace_dimension(group, lattice.options())
        );
    }
    out.push_str("</tbody>\n</table>\n<p class=\"muted\">W: the weights that the group alone leaves invariant.</p>\n");
}

/// The subspaces by level.
fn subspaces(out: &mut String, lattice: &Lattice) {
    out.push_str(
        "<h2>Subspaces, most invariant first</h2>\n<table>\n<thead><tr><th scope=\"col\">level</th>\
         <th scope=\"col\">invariant to</th><th scope=\"col\" class=\"n\">dimension</th></tr></thead>\n<tbody>\n",
    );
    let names = Names::new(lattice);
    for subspace in lattice.subspaces().iter().take(MAX_ROWS) {
        let _ = writeln!(
            out,
            "<tr><td title=\"{}\">{}</td><td>{}</td><td class=\"n\">{}</td></tr>",
            level_in_words(subspace.level()),
            subspace.level(),
            escape(&names.of(subspace.set(), MAX_NAMES)),
            subspace.dimension()
        );
    }
    if lattice.subspaces().len() > MAX_ROWS {
        let left = lattice.subspaces().len() - MAX_ROWS;
        let _ = writeln!(out, "<tr><td colspan=\"3\">and {} of less invariance</td></tr>", count(left, "more subspace"));
    }
    out.push_str("</tbody>\n</table>\n");
}

/// A whole number, rounded when it is long: "about 2.65e32".
fn short(digits: &str) -> String {
    if digits.len() <= 12 { digits.to_string() } else { format!("about {}.{}e{}", &digits[..1], &digits[1..3], digits.len() - 1) }
}

//! The picture as SVG.

use std::fmt::Write;

use super::colour::{self, STEPS};
use super::layout::{LEADING, LINE, Layout, PAD, Placed, more};
use super::scene::Scene;
use super::text::{self, escape, px};

/// Where a picture is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// As a file of its own: with its heading and background.
    Alone,
    /// In a page that has a heading and the style.
    Page,
}

/// Height of the heading and of one line of notes; width of the legend of colours.
const HEADING: f64 = 44.0;
const NOTE: f64 = 17.0;
const LEGEND: f64 = 184.0;

/// Writes a picture.
pub(super) fn write(scene: &Scene, layout: &Layout, place: Place) -> String {
    let top = if place == Place::Alone { HEADING } else { 0.0 };
    let side = layout.side;
    let notes = notes(scene, layout.width - 2.0 * side - if layout.narrow { 0.0 } else { LEGEND + 24.0 });
    let legend_below = if layout.narrow { 40.0 } else { 0.0 };
    let foot = 24.0 + legend_below + (NOTE * notes.len() as f64).max(32.0);
    let (width, height) = (layout.width, top + layout.height + foot + if place == Place::Alone { 8.0 } else { 0.0 });
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"iv{}\" role=\"img\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\">\n<title>{}</title>\n<desc>{}</desc>\n",
        if layout.narrow { " narrow" } else { " wide" },
        escape(&scene.title),
        escape(&scene.summary),
        w = px(width),
        h = px(height),
    );
    if place == Place::Alone {
        let _ = writeln!(out, "<style>{}</style>", colour::style());
    }
    let _ = writeln!(out, "<defs>{}</defs>", scene.plan.shared(layout.cell));
    if place == Place::Alone {
        let _ = writeln!(out, "<rect class=\"bg\" width=\"{}\" height=\"{}\"/>", px(width), px(height));
        let heading = text::wrap(&scene.title, 18.0, width - 48.0, 1).concat();
        let _ = writeln!(out, "<text class=\"hd lo\" x=\"24\" y=\"29\">{}</text>", escape(&heading));
    }
    let _ = writeln!(out, "<g transform=\"translate(0 {})\">", px(top));
    for (&(upper, lower), path) in scene.edges.iter().zip(&layout.edges) {
        let _ = writeln!(out, "<path class=\"edge\" data-edge=\"{upper}-{lower}\" d=\"{path}\"/>");
    }
    headings(&mut out, scene, layout);
    if let Some(y) = layout.rule {
        let _ = writeln!(out, "<path class=\"rule\" d=\"M{} {}H{}\"/>", px(side), px(y), px(width - side));
    }
    layout.cards.iter().for_each(|placed| card(&mut out, scene, placed, layout.cell));
    let y = layout.height + 24.0;
    for (k, note) in notes.iter().enumerate() {
        let y = px(y + legend_below + 12.0 + NOTE * k as f64);
        let _ = writeln!(out, "<text class=\"mu sm lo\" x=\"{}\" y=\"{y}\">{}</text>", px(side), escape(note));
    }
    legend(&mut out, if layout.narrow { side } else { width - side - LEGEND }, y);
    out.push_str("</g>\n</svg>");
    out
}

/// The level labels.
fn headings(out: &mut String, scene: &Scene, layout: &Layout) {
    for heading in &layout.headings {
        let section = &scene.sections[heading.section];
        let (name, detail) = (escape(&section.heading), escape(&section.detail));
        let (x, y) = (px(heading.x), px(heading.y));
        if heading.one_line {
            let _ = writeln!(
                out,
                "<text class=\"sm lo halo\" x=\"{x}\" y=\"{y}\"><tspan class=\"nm\">{name}</tspan><tspan class=\"mu\"> — {detail}</tspan></text>"
            );
        } else {
            let _ = writeln!(
                out,
                "<g><title>{name} — {detail}</title><text class=\"nm lo\" x=\"{x}\" y=\"{y}\">{name}</text>\
                 <text class=\"mu sm lo\" x=\"{x}\" y=\"{}\">{detail}</text></g>",
                px(heading.y + LINE)
            );
        }
    }
}

/// One node.
fn card(out: &mut String, scene: &Scene, placed: &Placed, cell: u32) {
    let card = &scene.cards[placed.card];
    let class = match card.kept {
        None => "card",
        Some(true) => "card kept",
        Some(false) => "card past",
    };
    let mark = card.subspace.map_or_else(String::new, |number| format!(" data-subspace=\"{number}\""));
    let (x, y, w, h) = (px(placed.x), px(placed.y), px(placed.w), px(placed.h));
    let _ = writeln!(
        out,
        "<g class=\"{class}\"{mark}><title>{}</title><rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" rx=\"8\"/>",
        escape(&card.tip)
    );
    let middle = px(placed.x + placed.w / 2.0);
    // Short names of a row with long ones stand in the middle of the space.
    let slack = placed.head - LINE * (placed.name.len() + 1) as f64;
    let mut line = placed.y + PAD + 11.0 + slack / 2.0;
    for name in &placed.name {
        let _ = write!(out, "<text class=\"nm\" x=\"{middle}\" y=\"{}\">{}</text>", px(line), escape(name));
        line += LINE;
    }
    let _ = write!(out, "<text class=\"mu sm\" x=\"{middle}\" y=\"{}\">dim {}</text>", px(line), card.dimension);
    let ((pw, ph), apart) = (scene.plan.size(cell), scene.plan.apart(cell));
    let rest = more(card.dimension, placed.shown);
    let lines = placed.shown.div_ceil(placed.columns);
    let block = lines as f64 * (ph + LEADING) + if rest.is_empty() { 0.0 } else { LINE };
    let room = placed.h - 2.0 * PAD - placed.head + 2.0;
    let first = placed.y + PAD + placed.head - 2.0 + LEADING + ((room - block) / 2.0).max(0.0).floor();
    for (k, vector) in card.pick(placed.shown).enumerate() {
        let (row, column) = (k / placed.columns, k % placed.columns);
        let across = (placed.shown - row * placed.columns).min(placed.columns) as f64;
        let block = across * (pw + apart) - apart;
        let left = placed.x + (placed.w - block) / 2.0;
        let at = (left + column as f64 * (pw + apart)).round();
        out.push_str(&scene.plan.draw(vector, cell, at, (first + row as f64 * (ph + LEADING)).round()));
    }
    if !rest.is_empty() {
        let y = px(placed.y + placed.h - PAD - 1.0);
        let _ = write!(out, "<text class=\"mu sm\" x=\"{middle}\" y=\"{y}\">{rest}</text>");
    }
    out.push_str("</g>\n");
}

/// Notes, flowing into lines of some width.
fn notes(scene: &Scene, width: f64) -> Vec<String> {
    text::wrap(&scene.notes.join(" "), 12.0, width.max(120.0), 12)
}

/// The scale of colours.
fn legend(out: &mut String, x: f64, y: f64) {
    let cell = 9.0;
    let _ = write!(out, "<g aria-hidden=\"true\"><text class=\"mu sm lo\" x=\"{}\" y=\"{}\">−</text>", px(x), px(y + 12.0));
    for step in -STEPS..=STEPS {
        let at = x + 14.0 + f64::from(step + STEPS) * cell;
        let class = colour::class(step);
        let _ = write!(out, "<rect class=\"{class} px\" x=\"{}\" y=\"{}\" width=\"{cell}\" height=\"12\"/>", px(at), px(y + 2.0));
    }
    let zero = x + 14.0 + (f64::from(STEPS) + 0.5) * cell;
    let end = x + 14.0 + f64::from(2 * STEPS + 1) * cell;
    let _ = writeln!(
        out,
        "<text class=\"mu sm\" x=\"{}\" y=\"{}\">0</text><text class=\"mu sm lo\" x=\"{}\" y=\"{}\">+</text></g>",
        px(zero),
        px(y + 27.0),
        px(end + 6.0),
        px(y + 12.0)
    );
}

//! The colours: a diverging scale centred at zero, and everything else, for light and dark.

use std::fmt::Write;

/// Steps on each side of zero.
pub(super) const STEPS: i8 = 8;

/// The step of a value in -1..=1; zero only for values that are zero up to rounding.
pub(super) fn step(value: f64) -> i8 {
    if value.abs() < 1e-9 {
        return 0;
    }
    let step = (value.abs() * f64::from(STEPS)).round().clamp(1.0, f64::from(STEPS)) as i8;
    if value < 0.0 { -step } else { step }
}

/// Classes of zero cells and of the lines between cells. These are drawn once and used many times, and in such copies
/// rules that ask for what is around an element do not apply: the names must be enough.
pub(super) const ZERO: &str = "iv0";
pub(super) const GRID: &str = "ivg";

/// The class that a step is drawn with.
pub(super) fn class(step: i8) -> String {
    match step {
        0 => ZERO.to_string(),
        _ => format!("{}{}", if step < 0 { 'n' } else { 'p' }, step.unsigned_abs()),
    }
}

type Ramp = [[u8; 3]; 4];

/// From close to zero to the largest magnitude: blue for negative and red for positive values, told apart by every
/// common form of colour vision.
struct Theme {
    negative: Ramp,
    positive: Ramp,
    /// Page, card, border, text, muted text, edge, zero cell, highlight.
    rest: [&'static str; 8],
}

const LIGHT: Theme = Theme {
    negative: [[0xc9, 0xdf, 0xf0], [0x92, 0xc5, 0xde], [0x43, 0x93, 0xc3], [0x1f, 0x5f, 0xa3]],
    positive: [[0xfb, 0xd3, 0xbf], [0xf4, 0xa5, 0x82], [0xd6, 0x60, 0x4d], [0xb2, 0x18, 0x2b]],
    rest: ["#ffffff", "#ffffff", "#d3d8e0", "#1b1f24", "#5b6470", "#9ca5b2", "#eef0f3", "#7a4fbf"],
};

const DARK: Theme = Theme {
    negative: [[0x2b, 0x44, 0x5e], [0x2f, 0x69, 0x99], [0x4a, 0x9b, 0xd6], [0x9f, 0xd2, 0xff]],
    positive: [[0x54, 0x37, 0x34], [0x94, 0x48, 0x3c], [0xdd, 0x66, 0x52], [0xff, 0xa9, 0x92]],
    rest: ["#14171c", "#1c2026", "#383f4a", "#e8eaed", "#a3abb7", "#697383", "#2d333c", "#b794f4"],
};

fn at(ramp: &Ramp, step: i8) -> String {
    let place = f64::from(step - 1) / f64::from(STEPS - 1) * (ramp.len() - 1) as f64;
    let (low, share) = ((place as usize).min(ramp.len() - 2), place - (place as usize).min(ramp.len() - 2) as f64);
    let mix = |k: usize| (f64::from(ramp[low][k]) * (1.0 - share) + f64::from(ramp[low + 1][k]) * share).round() as u8;
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

fn rules(theme: &Theme) -> String {
    let [page, card, border, text, muted, edge, zero, highlight] = theme.rest;
    let mut css = format!(
        ".iv .bg{{fill:{page}}}.iv .halo{{stroke:{page}}}.iv .box{{fill:{card};stroke:{border}}}.iv text{{fill:{text}}}.iv .mu{{fill:{muted}}}\
         .iv .edge{{stroke:{edge}}}.iv0{{fill:{zero}}}.ivg{{stroke:{card}}}.iv .rule{{stroke:{border}}}\
         .iv .kept .box{{stroke:{highlight}}}"
    );
    for step in 1..=STEPS {
        for (class, ramp) in [('n', &theme.negative), ('p', &theme.positive)] {
            let _ = write!(css, ".iv .{class}{step}{{fill:{}}}", at(ramp, step));
        }
    }
    css
}

/// The style sheet of a diagram. Plain rules instead of variables, for programs that know only a little CSS.
pub(super) fn style() -> String {
    format!(
        ".iv{{font-family:{FONTS}}}.iv text{{text-anchor:middle;font-size:13px}}.iv .nm{{font-weight:600}}.iv .hd{{font-weight:600;\
         font-size:18px}}.iv .lo{{text-anchor:start}}.iv .sm{{font-size:12px}}.iv .box{{stroke-width:1}}.iv .edge{{fill:none;\
         stroke-width:1.5}}.ivg{{fill:none;stroke-width:1}}.iv .px,.iv0,.ivg{{shape-rendering:crispEdges}}\
         .iv .kept .box{{stroke-width:2.5}}.iv .past{{opacity:.5}}.iv .halo{{paint-order:stroke;stroke-width:8px;stroke-linejoin:round}}{}@media(prefers-color-scheme:dark){{{}}}",
        rules(&LIGHT),
        rules(&DARK)
    )
}

/// The same colours for the page around it, as variables.
pub(super) fn page_variables() -> String {
    let set = |theme: &Theme| {
        let [page, card, border, text, muted, ..] = theme.rest;
        format!(":root{{--page:{page};--card:{card};--border:{border};--text:{text};--muted:{muted}}}")
    };
    format!("{}@media(prefers-color-scheme:dark){{{}}}", set(&LIGHT), set(&DARK))
}

/// Fonts that come with the reader's system.
pub(super) const FONTS: &str = "system-ui,-apple-system,'Segoe UI',Roboto,'Noto Sans','DejaVu Sans',sans-serif";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_symmetric_and_only_zero_is_neutral() {
        assert_eq!([step(0.0), step(1e-12), step(1e-3), step(-1e-3), step(1.0), step(-1.0)], [0, 0, 1, -1, 8, -8]);
        assert_eq!(at(&LIGHT.positive, 1), "#fbd3bf");
        assert_eq!(at(&LIGHT.positive, STEPS), "#b2182b");
    }
}

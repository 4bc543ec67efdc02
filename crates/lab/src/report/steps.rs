//! How many symmetries would be kept at other tolerances, as a picture.

use std::fmt::Write;

use crate::diagram::escape;
use crate::screen::{Rule, Threshold};

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 200.0;
/// Left, right, top, bottom.
const MARGIN: [f64; 4] = [44.0, 16.0, 14.0, 40.0];
/// Largest tolerance drawn, and where there are marks.
const MOST: f64 = 100.0;
const MARKS: [f64; 8] = [0.0, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0];

/// Where a tolerance lies: small ones, between which answers change, get more room.
fn x(tolerance: f64) -> f64 {
    MARGIN[0] + (WIDTH - MARGIN[0] - MARGIN[1]) * (tolerance.clamp(0.0, MOST) / MOST).sqrt()
}

/// The steps with a sentence before them; nothing where there are none.
pub(super) fn steps(steps: &[Threshold], rule: Rule, candidates: usize) -> String {
    let Some(words) = Threshold::in_words(steps, rule.tolerance) else { return String::new() };
    let strict = if rule.strict { "; were it not strict" } else { "" };
    let mut out = format!("<p>How many would be kept at other tolerances, in points: {}{strict}.</p>\n", escape(&words));
    let height = HEIGHT - MARGIN[2] - MARGIN[3];
    let bottom = HEIGHT - MARGIN[3];
    let y = |kept: usize| bottom - height * kept as f64 / candidates.max(1) as f64;
    let _ = writeln!(
        out,
        "<svg class=\"chart\" role=\"img\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" aria-label=\"Symmetries kept by tolerance\">\n\
         <path class=\"grid\" d=\"M{left} {top}V{bottom}H{right}\"/>",
        left = MARGIN[0],
        top = MARGIN[2],
        right = WIDTH - MARGIN[1],
    );
    for kept in [0, candidates] {
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{kept}</text>", MARGIN[0] - 8.0, y(kept) + 4.0);
    }
    for mark in MARKS {
        let _ = writeln!(out, "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{mark}</text>", x(mark), bottom + 16.0);
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">tolerance in points</text>",
        x(MOST / 4.0),
        bottom + 32.0
    );
    for (k, step) in steps.iter().enumerate() {
        let end = steps.get(k + 1).map_or(MOST, |next| next.from);
        let (a, b) = (x(step.from), x(end));
        let _ = match &step.kept {
            Some(kept) => writeln!(
                out,
                "<path class=\"curve chosen\" d=\"M{a:.1} {h:.1}H{b:.1}\"><title>from {:.1} points: {} kept</title></path>",
                step.from,
                kept.len(),
                h = y(kept.len()),
            ),
            None => writeln!(
                out,
                "<rect class=\"unknown\" x=\"{a:.1}\" y=\"{}\" width=\"{:.1}\" height=\"{height}\"><title>from {:.1} points: not known \
                 from these fits</title></rect>",
                MARGIN[2],
                b - a,
                step.from,
            ),
        };
    }
    let _ = writeln!(
        out,
        "<path class=\"tick\" d=\"M{at:.1} {}V{bottom}\"><title>asked for: {}</title></path>\n</svg>",
        MARGIN[2],
        escape(&rule.in_words()),
        at = x(rule.tolerance),
    );
    let unknown = if steps.iter().any(|step| step.kept.is_none()) { " Grey: these fits do not tell." } else { "" };
    let _ = writeln!(out, "<p class=\"muted\">The upright line is the tolerance that was asked for.{unknown}</p>");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_is_drawn_and_what_is_not_known_is_grey() {
        let known = |from: f64, kept: usize| Threshold { from, kept: Some((0..kept).collect()) };
        let list = [known(0.0, 1), known(2.0, 3), Threshold { from: 69.6, kept: None }];
        let text = steps(&list, Rule::default(), 4);
        assert_eq!(text.matches("class=\"curve chosen\"").count(), 2);
        assert!(text.contains("from 2.0 points: 3 kept") && text.contains("asked for: tolerance 5 points"));
        assert_eq!(text.matches("class=\"unknown\"").count(), 1);
        assert!(text.contains("Grey"));
        assert!(steps(&list[..2], Rule { strict: true, ..Rule::default() }, 4).contains("were it not strict"));
        assert_eq!(steps(&[], Rule::default(), 4), "");
    }
}

//! Learning curves and bars, as inline pictures.

use std::fmt::Write;

use invar_nn::Epoch;

use crate::diagram::escape;
use crate::project::Run;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 300.0;
/// Left, right, top, bottom.
const MARGIN: [f64; 4] = [56.0, 12.0, 12.0, 34.0];
/// Losses that differ by more than this factor are drawn by their orders of magnitude.
const MANY: f64 = 20.0;

/// Where numbers lie on paper.
struct Axes {
    epochs: f64,
    low: f64,
    high: f64,
    log: bool,
}

impl Axes {
    fn x(&self, epoch: usize) -> f64 {
        let width = WIDTH - MARGIN[0] - MARGIN[1];
        MARGIN[0] + width * (epoch as f64 - 1.0) / (self.epochs - 1.0).max(1.0)
    }

    fn y(&self, value: f64) -> f64 {
        let at = |v: f64| if self.log { v.max(self.low).ln() } else { v };
        let share = (at(value) - at(self.low)) / (at(self.high) - at(self.low)).max(1e-12);
        MARGIN[2] + (HEIGHT - MARGIN[2] - MARGIN[3]) * (1.0 - share.clamp(0.0, 1.0))
    }

    fn path(&self, points: &[Epoch], value: impl Fn(&Epoch) -> f64) -> String {
        let mut path = String::new();
        for (k, point) in points.iter().enumerate() {
            let _ = write!(path, "{}{:.1} {:.1}", if k == 0 { "M" } else { "L" }, self.x(point.epoch), self.y(value(point)));
        }
        path
    }
}

/// Training and validation loss of every fit, the chosen one on top.
pub(super) fn curves(run: &Run) -> String {
    let points = || run.curves.iter().flat_map(|curve| &curve.points);
    let losses =
        || points().flat_map(|point| [point.train_loss, point.validation_loss]).filter(|loss| loss.is_finite() && *loss > 0.0);
    let (low, high) = losses().fold((f64::INFINITY, 0.0f64), |(low, high), loss| (low.min(loss), high.max(loss)));
    if low > high {
        return String::new();
    }
    let log = high > MANY * low;
    let axes =
        Axes { epochs: points().map(|point| point.epoch).max().unwrap_or(1) as f64, low: if log { low } else { 0.0 }, high, log };
    let mut out = format!(
        "<p>Loss by epoch: validation solid, training dashed; the fit that became the model stands out.</p>\n\
         <svg class=\"chart\" role=\"img\" viewBox=\"0 0 {WIDTH} {HEIGHT}\"><title>Learning curves</title>\n"
    );
    for k in 0..=4 {
        let share = f64::from(k) / 4.0;
        let value = if log { (axes.low.ln() + share * (high.ln() - axes.low.ln())).exp() } else { share * high };
        let y = axes.y(value);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{} {y:.1}H{}\"/><text x=\"{}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            MARGIN[0],
            WIDTH - MARGIN[1],
            MARGIN[0] - 6.0,
            y + 4.0,
            short(value)
        );
    }
    let last = axes.epochs as usize;
    for epoch in [1, last.div_ceil(2), last] {
        let (x, y) = (axes.x(epoch), HEIGHT - MARGIN[3] + 18.0);
        let anchor = if epoch == 1 {
            "start"
        } else if epoch == last {
            "end"
        } else {
            "middle"
        };
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{epoch}</text>");
    }
    let mut order: Vec<_> = run.curves.iter().collect();
    order.sort_by_key(|curve| curve.chosen);
    for curve in order {
        let mark = if curve.chosen { " chosen" } else { "" };
        let name = escape(&curve.name);
        let train = axes.path(&curve.points, |point| point.train_loss);
        let validation = axes.path(&curve.points, |point| point.validation_loss);
        let _ = writeln!(out, "<path class=\"curve train{mark}\" d=\"{train}\"><title>{name}, training</title></path>");
        let _ = writeln!(out, "<path class=\"curve{mark}\" d=\"{validation}\"><title>{name}, validation</title></path>");
    }
    out.push_str("</svg>\n");
    out
}

/// A share from 0 to 1 with its interval, and chance as a tick.
pub(super) fn bar(share: f64, interval: [f64; 2], chance: Option<f64>) -> String {
    let x = |share: f64| 500.0 * share.clamp(0.0, 1.0);
    let mut out = format!(
        "<svg class=\"bar\" role=\"img\" viewBox=\"0 -2 520 34\" aria-hidden=\"true\"><rect class=\"grid\" x=\"0\" y=\"4\" width=\"500\" \
         height=\"20\"/><rect class=\"fill\" x=\"0\" y=\"4\" width=\"{:.1}\" height=\"20\"/><path class=\"whisker\" \
         d=\"M{a:.1} 14H{b:.1}M{a:.1} 8V20M{b:.1} 8V20\"/>",
        x(share),
        a = x(interval[0]),
        b = x(interval[1]),
    );
    if let Some(chance) = chance {
        let _ = write!(out, "<path class=\"tick\" d=\"M{c:.1} 0V28\"/>", c = x(chance));
    }
    out.push_str("</svg>\n");
    out
}

/// Three digits that matter.
fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 6) as usize;
    format!("{value:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_map_ends_to_ends() {
        for log in [false, true] {
            let axes = Axes { epochs: 10.0, low: 0.5, high: 50.0, log };
            assert!((axes.x(1) - MARGIN[0]).abs() < 1e-9 && (axes.x(10) - (WIDTH - MARGIN[1])).abs() < 1e-9);
            assert!((axes.y(50.0) - MARGIN[2]).abs() < 1e-9 && (axes.y(0.5) - (HEIGHT - MARGIN[3])).abs() < 1e-9);
        }
        assert_eq!([0.0, 0.012_345, 1.5, 1234.0].map(short), ["0", "0.0123", "1.50", "1234"]);
        assert!(bar(0.9, [0.8, 0.95], Some(0.5)).contains("M250.0 0V28"));
    }
}

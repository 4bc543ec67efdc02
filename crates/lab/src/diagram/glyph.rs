//! A basis vector as a small picture of cells.

use std::collections::BTreeMap;
use std::fmt::Write;

use invar_algebra::{Shape, SparseVector};

use super::colour;
use super::text::px;

/// Most panels of one picture, most cells along a side of one panel, and most cells of a strip.
const MAX_PANELS: usize = 16;
const MAX_SIDE: usize = 32;
const MAX_STRIP: usize = 64;

/// How tensors of one shape are drawn: as panels (channels) of rows and columns.
///
/// Large panels are drawn with fewer cells, each standing for a block of entries by the one of largest magnitude, so that
/// a single nonzero entry stays visible.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Plan {
    /// Sides of the tensor as panels, rows and columns.
    tensor: [usize; 3],
    /// Whether panels are the last axis of the tensor instead of the first.
    panels_last: bool,
    /// Entries that one cell stands for, along rows and columns.
    block: [usize; 2],
}

impl Plan {
    pub(super) fn new(shape: &Shape) -> Self {
        let sides: Vec<usize> = shape.sides().iter().copied().filter(|&n| n > 1).collect();
        let (tensor, panels_last) = match sides[..] {
            [] => ([1, 1, 1], false),
            [n] => ([1, 1, n], false),
            [h, w] => ([1, h, w], false),
            // A few features of each pair, or the channels of an image that come last.
            [h, w, c] if h == w && c < h && c <= 4 => ([c, h, w], true),
            [ref leading @ .., h, w] => ([leading.iter().product(), h, w], false),
        };
        let most = if tensor[1] == 1 { MAX_STRIP } else { MAX_SIDE };
        let block = [tensor[1].div_ceil(MAX_SIDE), tensor[2].div_ceil(most)];
        Self { tensor, panels_last, block }
    }

    fn panels(&self) -> usize {
        self.tensor[0].min(MAX_PANELS)
    }

    /// Panels side by side; beyond four, folded into several lines.
    fn across(&self) -> usize {
        let panels = self.panels();
        if panels <= 4 { panels } else { (panels as f64).sqrt().ceil() as usize }
    }

    /// Rows and columns of cells of one panel.
    fn cells(&self) -> [usize; 2] {
        [self.tensor[1].div_ceil(self.block[0]), self.tensor[2].div_ceil(self.block[1])]
    }

    /// The longer side of a panel, in cells.
    pub(super) fn longest(&self) -> usize {
        self.cells()[0].max(self.cells()[1])
    }

    /// Most rectangles that a vector with this many nonzero entries can need.
    pub(super) fn marks(&self, entries: usize) -> usize {
        entries.min(self.panels() * self.cells()[0] * self.cells()[1])
    }

    /// What is left out or merged, if anything.
    pub(super) fn note(&self) -> Option<String> {
        let mut parts = Vec::new();
        if self.tensor[0] > MAX_PANELS {
            parts.push(format!("the first {MAX_PANELS} of {} panels are drawn", self.tensor[0]));
        }
        if self.block != [1, 1] {
            let size = if self.tensor[1] == 1 {
                format!("{} entries", self.block[1])
            } else {
                format!("{}×{} entries", self.block[0], self.block[1])
            };
            parts.push(format!("each cell stands for {size}, by the largest"));
        }
        (!parts.is_empty()).then(|| format!("Large pictures are shortened: {}.", parts.join("; ")))
    }

    /// What one picture is.
    pub(super) fn caption(&self) -> String {
        let [panels, rows, columns] = self.tensor;
        let what = match (panels, rows) {
            (1, 1) if columns == 1 => "one cell".to_string(),
            (1, 1) => format!("a strip of {columns} entries"),
            (1, _) => format!("{rows}×{columns} entries"),
            (2..=4, _) => format!("{panels} channels of {rows}×{columns}, side by side"),
            _ => format!("{panels} panels of {rows}×{columns}"),
        };
        format!("Each small picture is one basis vector: {what}.")
    }

    /// The space between panels, in quarters of a cell, the unit of all coordinates; at least 5 px.
    fn gap(cell: u32) -> usize {
        20_usize.div_ceil(cell as usize)
    }

    /// A good space between pictures, in pixels: wider than that between the panels of one.
    pub(super) fn apart(&self, cell: u32) -> f64 {
        if self.panels() == 1 { 9.0 } else { (Self::gap(cell) as f64 * f64::from(cell) * 0.6).clamp(14.0, 20.0) }
    }

    /// Height of a row in units: cells are square, but those of a strip are at least 16 px high.
    fn tall(&self, cell: u32) -> usize {
        if self.tensor[..2] == [1, 1] { 64_usize.div_ceil(cell as usize).max(4) } else { 4 }
    }

    fn units(&self, cell: u32) -> [usize; 2] {
        let ([rows, columns], gap) = (self.cells(), Self::gap(cell));
        let (across, down) = (self.across(), self.panels().div_ceil(self.across()));
        [across * (4 * columns + gap) - gap, down * (self.tall(cell) * rows + gap) - gap]
    }

    /// Width and height in pixels.
    pub(super) fn size(&self, cell: u32) -> (f64, f64) {
        let [width, height] = self.units(cell);
        let unit = f64::from(cell) / 4.0;
        (width as f64 * unit, height as f64 * unit)
    }

    /// The corner of a panel, in units.
    fn corner(&self, panel: usize, cell: u32) -> [usize; 2] {
        let ([rows, columns], gap) = (self.cells(), Self::gap(cell));
        [panel % self.across() * (4 * columns + gap), panel / self.across() * (self.tall(cell) * rows + gap)]
    }

    /// Name of the shared parts: the same name always stands for the same drawing.
    fn id(&self, cell: u32) -> String {
        let [rows, columns] = self.cells();
        format!("iv{}-{rows}-{columns}-{cell}", self.panels())
    }

    /// The parts that all vectors share: the empty cells, and the lines between cells.
    pub(super) fn shared(&self, cell: u32) -> String {
        let (id, [rows, columns], unit) = (self.id(cell), self.cells(), f64::from(cell) / 4.0);
        let (mut empty, mut lines) = (String::new(), String::new());
        for panel in 0..self.panels() {
            let [x, y] = self.corner(panel, cell).map(|at| at as f64 * unit);
            let (w, h) = (columns as u32 * cell, px((self.tall(cell) * rows) as f64 * unit));
            let _ = write!(empty, "M{} {}h{w}v{h}h-{w}z", px(x), px(y));
            for column in 1..columns {
                let _ = write!(lines, "M{} {}v{h}", px(x + f64::from(column as u32 * cell)), px(y));
            }
            for row in 1..rows {
                let _ = write!(lines, "M{} {}h{w}", px(x), px(y + f64::from(row as u32 * cell)));
            }
        }
        let mut out = format!("<path id=\"{id}\" class=\"{}\" d=\"{empty}\"/>", colour::ZERO);
        if Self::has_lines(cell) {
            let _ = write!(out, "<path id=\"{id}l\" class=\"{}\" d=\"{lines}\"/>", colour::GRID);
        }
        out
    }

    fn has_lines(cell: u32) -> bool {
        cell >= 5
    }

    /// The picture of a vector with its corner at (x, y).
    pub(super) fn draw(&self, vector: &SparseVector<f64>, cell: u32, x: f64, y: f64) -> String {
        let mut paths: BTreeMap<i8, String> = BTreeMap::new();
        let steps = self.steps(vector);
        let ([rows, columns], tall) = (self.cells(), self.tall(cell));
        for panel in 0..self.panels() {
            let [left, top] = self.corner(panel, cell);
            let cells = &steps[panel * rows * columns..][..rows * columns];
            for ([row, column, down, across], step) in rectangles(cells, columns) {
                let path = paths.entry(step).or_default();
                let (h, w) = (tall * down, 4 * across);
                let _ = write!(path, "M{} {}h{w}v{h}h-{w}z", left + 4 * column, top + tall * row);
            }
        }
        let (id, x, y, unit) = (self.id(cell), px(x), px(y), f64::from(cell) / 4.0);
        let mut out = format!("<use href=\"#{id}\" x=\"{x}\" y=\"{y}\"/>");
        if !paths.is_empty() {
            let _ = write!(out, "<g class=\"px\" transform=\"translate({x} {y})scale({unit})\">");
            for (step, path) in paths {
                let _ = write!(out, "<path class=\"{}\" d=\"{path}\"/>", colour::class(step));
            }
            out.push_str("</g>");
        }
        if Self::has_lines(cell) {
            let _ = write!(out, "<use href=\"#{id}l\" x=\"{x}\" y=\"{y}\"/>");
        }
        out
    }

    /// The colour step of every cell, panel by panel; the largest magnitude of the vector gets the strongest colour.
    fn steps(&self, vector: &SparseVector<f64>) -> Vec<i8> {
        let [_, height, width] = self.tensor;
        let [rows, columns] = self.cells();
        let mut cells = vec![0.0_f64; self.panels() * rows * columns];
        for (&entry, &value) in vector.entries.iter().zip(&vector.values) {
            let entry = entry as usize;
            let (panel, place) = if self.panels_last {
                (entry % self.tensor[0], entry / self.tensor[0])
            } else {
                (entry / (height * width), entry % (height * width))
            };
            if panel < self.panels() {
                let (row, column) = (place / width / self.block[0], place % width / self.block[1]);
                let cell = &mut cells[(panel * rows + row) * columns + column];
                if value.abs() > cell.abs() {
                    *cell = value;
                }
            }
        }
        let largest = vector.values.iter().fold(0.0_f64, |most, value| most.max(value.abs()));
        cells.into_iter().map(|value| if largest > 0.0 { colour::step(value / largest) } else { 0 }).collect()
    }
}

/// Covers the nonzero cells of a grid by rectangles (row, column, rows, columns) of one step each.
fn rectangles(cells: &[i8], columns: usize) -> Vec<([usize; 4], i8)> {
    let rows = cells.len() / columns;
    let mut open: Vec<bool> = cells.iter().map(|&step| step != 0).collect();
    let mut found = Vec::new();
    for at in 0..cells.len() {
        if !open[at] {
            continue;
        }
        let (row, column, step) = (at / columns, at % columns, cells[at]);
        let free = |open: &[bool], r: usize, c: usize| open[r * columns + c] && cells[r * columns + c] == step;
        let across = (column..columns).take_while(|&c| free(&open, row, c)).count();
        let whole = |r: &usize| (column..column + across).all(|c| free(&open, *r, c));
        let down = (row..rows).take_while(whole).count();
        for r in row..row + down {
            open[r * columns + column..][..across].fill(false);
        }
        found.push(([row, column, down, across], step));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(shape: &str) -> Plan {
        Plan::new(&shape.parse().unwrap())
    }

    #[test]
    fn shapes_become_panels() {
        assert_eq!(plan("3x5x7").tensor, [3, 5, 7]);
        assert_eq!(plan("6x6x2").tensor, [2, 6, 6]);
        assert!(plan("6x6x2").panels_last && !plan("3x3x3").panels_last);
        assert_eq!(plan("10").tensor, [1, 1, 10]);
        assert_eq!(plan("1x4x1").tensor, [1, 1, 4]);
        assert_eq!(plan("2x2x3x3").tensor, [4, 3, 3]);
        assert_eq!(plan("1").size(10), (10.0, 17.5));
        assert_eq!(plan("5").size(18), (90.0, 18.0));
        assert_eq!(plan("3x3x3").size(12), (3.0 * 36.0 + 2.0 * 6.0, 36.0));
        assert_eq!(plan("64x3x3").panels(), 16);
        assert!(plan("64x3x3").note().unwrap().contains("first 16 of 64"));
        assert!(plan("100").note().unwrap().contains("stands for 2 entries"));
    }

    #[test]
    fn equal_neighbours_are_one_rectangle() {
        let cells = [1, 1, 0, 1, 1, 2, 0, 2, 2];
        assert_eq!(rectangles(&cells, 3), [([0, 0, 2, 2], 1), ([1, 2, 2, 1], 2), ([2, 1, 1, 1], 2)]);
    }

    #[test]
    fn a_single_entry_of_a_large_tensor_stays_visible() {
        let plan = plan("3x224x224");
        let vector = SparseVector { entries: [50_000_u32, 50_176].into(), values: vec![-0.5, 1.0] };
        let steps = plan.steps(&vector);
        assert_eq!(steps.iter().filter(|&&step| step != 0).count(), 2);
        assert!(steps.contains(&8) && steps.contains(&-4));
    }

    #[test]
    fn trailing_channels_are_sorted_into_panels() {
        // Entry (row 1, column 0, channel 1) of 3x3x2.
        let vector = SparseVector { entries: [7_u32].into(), values: vec![2.0] };
        let at = plan("3x3x2").steps(&vector).iter().position(|&step| step == 8);
        assert_eq!(at, Some(9 + 3));
    }
}

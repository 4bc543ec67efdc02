//! Tables of results: one value, many formats.

use std::fmt::Write as _;

use serde::Serialize;

use crate::stats::Mean;

/// A titled table whose cells compare our figures with the paper's.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Table {
    /// File name without ending.
    pub name: String,
    /// What it shows, on which budget.
    pub title: String,
    /// Header of the first columns (labels) and of the value columns.
    pub labels: Vec<String>,
    /// Headers of the value columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Row>,
    /// What a reader must know.
    pub notes: Vec<String>,
}

/// One row: labels and cells.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// As many as the table has labels.
    pub labels: Vec<String>,
    /// As many as the table has columns.
    pub cells: Vec<Cell>,
}

/// One figure in percent.
#[derive(Debug, Clone, PartialEq, Serialize, Default)]
pub struct Cell {
    /// What we measured; absent when no fit is recorded.
    pub ours: Option<Mean>,
    /// What the paper prints, mean and half width of the interval.
    pub paper: Option<(f64, f64)>,
    /// Significantly better than the comparison named in the notes, or the chosen lambda.
    pub strong: bool,
}

/// A figure in a few digits: an R² has no lower end.
fn short(figure: f64) -> String {
    if figure.abs() < 1e6 { format!("{figure:.2}") } else { format!("{figure:.1e}") }
}

impl Cell {
    /// A cell from shares (0 to 1).
    pub fn of(shares: &[f64], paper: Option<(f64, f64)>, strong: bool) -> Self {
        let percent: Vec<f64> = shares.iter().map(|share| 100.0 * share).collect();
        Self { ours: Mean::of(&percent), paper, strong }
    }

    fn ours_text(&self, plus_minus: &str) -> String {
        match &self.ours {
            None => "-".into(),
            Some(Mean { mean, interval: Some(interval), .. }) => format!("{}{plus_minus}{}", short(*mean), short(*interval)),
            Some(Mean { mean, interval: None, .. }) => short(*mean),
        }
    }

    fn paper_text(&self, plus_minus: &str) -> Option<String> {
        self.paper.map(|(mean, interval)| format!("{mean:.2}{plus_minus}{interval:.2}"))
    }
}

impl Table {
    /// Whether nothing in it was measured.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
            || !self.columns.is_empty() && self.rows.iter().flat_map(|row| &row.cells).all(|cell| cell.ours.is_none())
    }

    fn grid(&self, cell: impl Fn(&Cell) -> String) -> (Vec<String>, Vec<Vec<String>>) {
        let header = self.labels.iter().chain(&self.columns).cloned().collect();
        let row = |row: &Row| row.labels.iter().cloned().chain(row.cells.iter().map(&cell)).collect();
        (header, self.rows.iter().map(row).collect())
    }

    /// For a terminal: ours, then the paper's in brackets, `*` for strong.
    pub fn text(&self) -> String {
        let cell = |c: &Cell| {
            let paper = c.paper_text("±").map_or(String::new(), |paper| format!(" [{paper}]"));
            format!("{}{}{paper}", c.ours_text("±"), if c.strong { "*" } else { "" })
        };
        let (header, rows) = self.grid(cell);
        let width =
            |k: usize| rows.iter().map(|row| row[k].chars().count()).chain([header[k].chars().count()]).max().unwrap_or(0);
        let widths: Vec<usize> = (0..header.len()).map(width).collect();
        let line = |cells: &[String]| {
            let pad = |(k, text): (usize, &String)| format!("{text}{}", " ".repeat(widths[k] - text.chars().count()));
            cells.iter().enumerate().map(pad).collect::<Vec<_>>().join("  ").trim_end().to_string()
        };
        let mut text = format!("{}\n\n{}\n", self.title, line(&header));
        for row in &rows {
            let _ = writeln!(text, "{}", line(row));
        }
        self.notes.iter().for_each(|note| _ = write!(text, "\n{note}"));
        text
    }

    /// For a page: bold for strong, the paper's figure on a second line.
    pub fn markdown(&self) -> String {
        let cell = |c: &Cell| {
            let ours = c.ours_text(" ± ");
            let ours = if c.strong { format!("**{ours}**") } else { ours };
            c.paper_text(" ± ").map_or(ours.clone(), |paper| format!("{ours}<br>paper {paper}"))
        };
        let (header, rows) = self.grid(cell);
        let mut text = format!("### {}\n\n| {} |\n|{}\n", self.title, header.join(" | "), " --- |".repeat(header.len()));
        for row in &rows {
            let _ = writeln!(text, "| {} |", row.join(" | "));
        }
        self.notes.iter().for_each(|note| _ = write!(text, "\n{note}\n"));
        text
    }

    /// For a spreadsheet: one line per cell.
    pub fn csv(&self) -> String {
        let quote =
            |text: &str| if text.contains([',', '"', '\n']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.into() };
        let number = |x: Option<f64>| x.map_or(String::new(), |x| format!("{x:.4}"));
        let mut text: String = self.labels.iter().map(|label| quote(label) + ",").collect();
        text.push_str("column,mean,interval,count,strong,paper_mean,paper_interval\n");
        for row in &self.rows {
            for (column, cell) in self.columns.iter().zip(&row.cells) {
                let labels: String = row.labels.iter().map(|label| quote(label) + ",").collect();
                let (mean, interval) = (cell.ours.map(|m| m.mean), cell.ours.and_then(|m| m.interval));
                let count = cell.ours.map_or(0, |m| m.count);
                let (paper, paper_interval) = (cell.paper.map(|p| p.0), cell.paper.map(|p| p.1));
                let figures = [
                    number(mean),
                    number(interval),
                    count.to_string(),
                    cell.strong.to_string(),
                    number(paper),
                    number(paper_interval),
                ];
                let _ = writeln!(text, "{labels}{},{}", quote(column), figures.join(","));
            }
        }
        text
    }

    /// For a paper.
    pub fn latex(&self) -> String {
        let escape = |text: &str| {
            let special = |c: char| if "_&%#{}$".contains(c) { format!("\\{c}") } else { c.to_string() };
            text.chars().map(special).collect::<String>()
        };
        let cell = |c: &Cell| {
            let ours = c.ours_text("$\\pm$");
            let ours = if c.strong { format!("\\textbf{{{ours}}}") } else { ours };
            c.paper_text("$\\pm$").map_or(ours.clone(), |paper| format!("{ours} ({paper})"))
        };
        let (header, rows) = self.grid(cell);
        let header: Vec<String> = header.iter().map(|h| escape(h)).collect();
        let mut text = format!(
            "% {}\n\\begin{{tabular}}{{{}{}}}\n\\toprule\n",
            self.title,
            "l".repeat(self.labels.len()),
            "r".repeat(self.columns.len())
        );
        let _ = writeln!(text, "{} \\\\\n\\midrule", header.join(" & "));
        for row in rows {
            let labels = row.iter().take(self.labels.len()).map(|label| escape(label));
            let cells = row.iter().skip(self.labels.len()).cloned();
            let _ = writeln!(text, "{} \\\\", labels.chain(cells).collect::<Vec<_>>().join(" & "));
        }
        text.push_str("\\bottomrule\n\\end{tabular}\n");
        self.notes.iter().for_each(|note| _ = writeln!(text, "% {note}"));
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let cells = vec![Cell::of(&[0.9, 1.0], Some((95.7, 3.05)), true), Cell::default()];
        Table {
            name: "demo".into(),
            title: "A demo".into(),
            labels: vec!["task".into()],
            columns: vec!["a_b".into(), "c, d".into()],
            rows: vec![Row { labels: vec!["sum".into()], cells }],
            notes: vec!["two seeds".into()],
        }
    }

    #[test]
    fn the_same_figures_in_every_format() {
        insta::assert_snapshot!(table().text(), @"
        A demo

        task  a_b                        c, d
        sum   95.00±63.53* [95.70±3.05]  -

        two seeds
        ");
        insta::assert_snapshot!(table().markdown(), @"
        ### A demo

        | task | a_b | c, d |
        | --- | --- | --- |
        | sum | **95.00 ± 63.53**<br>paper 95.70 ± 3.05 | - |

        two seeds
        ");
        insta::assert_snapshot!(table().csv(), @r#"
        task,column,mean,interval,count,strong,paper_mean,paper_interval
        sum,a_b,95.0000,63.5310,2,true,95.7000,3.0500
        sum,"c, d",,,0,false,,
        "#);
        insta::assert_snapshot!(table().latex(), @r"
        % A demo
        \begin{tabular}{lrr}
        \toprule
        task & a\_b & c, d \\
        \midrule
        sum & \textbf{95.00$\pm$63.53} (95.70$\pm$3.05) & - \\
        \bottomrule
        \end{tabular}
        % two seeds
        ");
    }
}

//! Where everything goes: cards in rows, rows in levels, as large as the frame allows.

use super::route;
use super::scene::{Scene, Section};
use super::text;

/// The space a diagram should fit into.
pub(super) struct Frame {
    width: f64,
    /// Height to aim for; none when the reader scrolls anyway.
    height: Option<f64>,
    /// Width of the column of level labels; without one they stand above their level.
    gutter: f64,
    /// Space left and right of everything.
    side: f64,
    /// Whether to fill the whole width, for a page whose text begins where the picture does.
    full: bool,
    /// Whether it is meant for a telephone.
    narrow: bool,
}

/// A picture of its own, on a screen of 1280x800.
pub(super) const WIDE: Frame =
    Frame { width: 1240.0, height: Some(620.0), gutter: 150.0, side: 24.0, full: false, narrow: false };

/// The same in a page, below its heading.
pub(super) const PAGE: Frame = Frame { width: 1216.0, side: 0.0, full: true, ..WIDE };

/// A page on a telephone.
pub(super) const NARROW: Frame = Frame { width: 358.0, height: None, gutter: 0.0, side: 0.0, full: true, narrow: true };

/// Names are 13 px and bold, which runs wider than plain text of that size.
const NAME: f64 = 14.6;
pub(super) const LINE: f64 = 17.0;
/// Inside a card.
pub(super) const PAD: f64 = 12.0;
/// Between the lines of vectors.
pub(super) const LEADING: f64 = 9.0;
/// Between cards of a row, beside rows for edges that pass by, between rows of a level, and between levels; tight where no edge
/// passes.
const GAP: f64 = 20.0;
const MARGIN: f64 = 18.0;
const ROW_GAP: f64 = 26.0;
const TIGHT: f64 = 12.0;
const CROWDED: f64 = 14.0;
const LEVEL_GAP: f64 = 48.0;
const DEEP_LEVEL_GAP: f64 = 40.0;
const BARE_LEVEL_GAP: f64 = 30.0;

const CELLS: [u32; 11] = [18, 16, 14, 12, 10, 8, 6, 5, 4, 3, 2];
const VECTORS: [usize; 7] = [12, 8, 6, 4, 3, 2, 1];

/// A card in its place.
pub(super) struct Placed {
    pub(super) card: usize,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) w: f64,
    pub(super) h: f64,
    /// The name, broken into lines.
    pub(super) name: Vec<String>,
    /// Height kept for names and dimension in this row.
    pub(super) head: f64,
    pub(super) shown: usize,
    pub(super) columns: usize,
}

/// The label of a level.
pub(super) struct Heading {
    pub(super) section: usize,
    pub(super) x: f64,
    /// Baseline of the first line.
    pub(super) y: f64,
    /// On one line, or the detail below.
    pub(super) one_line: bool,
}

/// A finished arrangement.
pub(super) struct Layout {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) cell: u32,
    pub(super) cards: Vec<Placed>,
    pub(super) headings: Vec<Heading>,
    /// Path data, one for each edge of the scene.
    pub(super) edges: Vec<String>,
    /// Height of the line between lattice and eigenspaces.
    pub(super) rule: Option<f64>,
    pub(super) narrow: bool,
    pub(super) side: f64,
}

struct Setting<'a> {
    cell: u32,
    shown: &'a [usize],
    wrap: bool,
}

struct Row {
    cards: Vec<Placed>,
    height: f64,
    width: f64,
}

/// Finds the largest cells, and the most vectors, with which the diagram fits the frame.
pub(super) fn arrange(scene: &Scene, frame: &Frame) -> Layout {
    let smallest = match scene.plan.longest() {
        0..=4 => 6,
        5..=16 => 4,
        _ => 2,
    };
    let fits = |cell: &u32, limit: f64| *cell >= smallest && scene.plan.size(*cell).0 <= limit;
    if let Some(height) = frame.height {
        // The groups alone stand below the lattice: they may reach beyond the first screen.
        let fits_screen = |layout: &Layout| layout.rule.map_or(layout.height, |rule| rule - BARE_LEVEL_GAP) <= height;
        for most in VECTORS {
            let Some(shown) = scene.shown(most) else { continue };
            for cell in CELLS.into_iter().filter(|cell| fits(cell, 280.0)) {
                let setting = Setting { cell, shown: &shown, wrap: false };
                if let Some(layout) = place(scene, frame, &setting).filter(fits_screen) {
                    return layout;
                }
            }
        }
    }
    let most = match scene.cards.len() {
        0..=12 => 6,
        13..=40 => 3,
        _ => 1,
    };
    let shown = (1..=most).rev().find_map(|most| scene.shown(most)).unwrap_or_else(|| vec![0; scene.cards.len()]);
    let limit = if scene.cards.len() > 40 { 84.0 } else { 110.0 };
    let cell = CELLS.into_iter().find(|cell| fits(cell, limit)).unwrap_or(2);
    place(scene, frame, &Setting { cell, shown: &shown, wrap: true }).expect("rows that may be wrapped always fit")
}

fn place(scene: &Scene, frame: &Frame, setting: &Setting) -> Option<Layout> {
    let beside = 2.0 * MARGIN;
    let room = frame.width - frame.gutter - 2.0 * frame.side - beside;
    let levels: Vec<Vec<Row>> =
        scene.sections.iter().map(|section| rows(scene, section, room, setting)).collect::<Option<_>>()?;
    let widest = levels.iter().flatten().map(|row| row.width).fold(0.0, f64::max);
    let tight = (widest + frame.gutter + 2.0 * frame.side + beside).max(680.0);
    let width = if frame.full { frame.width } else { tight.min(frame.width) };
    let centre = f64::midpoint(frame.side + frame.gutter, width - frame.side);
    let mut layout = Layout {
        width,
        height: 0.0,
        cell: setting.cell,
        cards: Vec::new(),
        headings: Vec::new(),
        edges: Vec::new(),
        rule: None,
        narrow: frame.narrow,
        side: frame.side,
    };
    let gap = match scene.sections.len() {
        _ if scene.edges.is_empty() => BARE_LEVEL_GAP,
        0..=4 => LEVEL_GAP,
        _ => DEEP_LEVEL_GAP,
    };
    let mut y = 4.0;
    for (section, level) in levels.into_iter().enumerate() {
        let alone = scene.cards[scene.sections[section].cards[0]].subspace.is_none();
        if section > 0 {
            y += if alone { 2.0 * BARE_LEVEL_GAP } else { gap };
        }
        if alone {
            layout.rule = Some(y - BARE_LEVEL_GAP);
        }
        if frame.gutter == 0.0 {
            layout.headings.push(Heading { section, x: frame.side, y: y + 8.0, one_line: true });
            y += 20.0;
        } else {
            let middle = y + level.first().map_or(0.0, |row| row.height) / 2.0;
            layout.headings.push(Heading { section, x: frame.side, y: middle - 4.0, one_line: false });
        }
        let rows = level.len();
        for (number, row) in level.into_iter().enumerate() {
            let left = centre - row.width / 2.0;
            let height = row.height;
            layout.cards.extend(row.cards.into_iter().map(|card| Placed { x: card.x + left, y, h: height, ..card }));
            y += height
                + if number + 1 == rows {
                    0.0
                } else if scene.edges.is_empty() {
                    TIGHT
                } else {
                    ROW_GAP
                };
        }
    }
    layout.height = y + 4.0;
    layout.edges = route::edges(&scene.edges, &layout.cards);
    Some(layout)
}

/// A level in one row, with the vectors of each card on as few lines as fit; or in several rows of equal cards.
fn rows(scene: &Scene, section: &Section, room: f64, setting: &Setting) -> Option<Vec<Row>> {
    let m = section.cards.len();
    let most = section.cards.iter().map(|&card| setting.shown[card]).max().unwrap_or(0).max(1);
    let gap = if m > 6 { CROWDED } else { GAP };
    let share = (room - (m - 1) as f64 * gap) / m as f64;
    let card = |lines: usize, name: f64| {
        let card = move |&number: &usize| measure(scene, number, setting, lines, name);
        section.cards.iter().map(card).collect::<Vec<Placed>>()
    };
    for lines in 1..=most.min(4) {
        let name = (share - 2.0 * PAD).clamp(60.0, 290.0);
        let cards = card(lines, name);
        // Rather several rows than names cut short.
        let clipped = name < 200.0 && cards.iter().any(|card| card.name.iter().any(|line| line.ends_with('…')));
        if clipped {
            continue;
        }
        if cards.iter().map(|card| card.w).sum::<f64>() + (m - 1) as f64 * gap <= room {
            return Some(vec![row(scene, cards, setting.cell, gap)]);
        }
    }
    if !setting.wrap {
        return None;
    }
    let widest = |cards: &[Placed]| cards.iter().map(|card| card.w).fold(0.0, f64::max);
    let cards = (1..=most).map(|lines| card(lines, 124.0)).find(|cards| widest(cards) <= room);
    let mut cards = cards.unwrap_or_else(|| card(most, 112.0));
    let equal = widest(&cards).min(room);
    for card in &mut cards {
        card.w = equal;
    }
    let gap = if scene.edges.is_empty() { TIGHT } else { GAP };
    let fit = (((room + gap) / (equal + gap)) as usize).max(1);
    let each = m.div_ceil(m.div_ceil(fit));
    let mut out = Vec::new();
    let mut cards = cards.into_iter().peekable();
    while cards.peek().is_some() {
        out.push(row(scene, cards.by_ref().take(each).collect(), setting.cell, gap));
    }
    Some(out)
}

/// The size of a card whose vectors stand on so many lines and whose name may be so wide.
fn measure(scene: &Scene, number: usize, setting: &Setting, lines: usize, name_width: f64) -> Placed {
    let (card, shown) = (&scene.cards[number], setting.shown[number]);
    let columns = shown.div_ceil(lines).max(1);
    let (picture, apart) = (scene.plan.size(setting.cell).0, scene.plan.apart(setting.cell));
    let vectors = if shown == 0 { 0.0 } else { columns as f64 * (picture + apart) - apart };
    let name = text::wrap_evenly(&card.name, NAME, vectors.max(name_width), 3);
    let widths = name.iter().map(|line| text::width(line, NAME));
    let w = widths.chain([vectors, text::width(&more(card.dimension, shown), 12.0), 48.0]).fold(0.0, f64::max);
    Placed { card: number, x: 0.0, y: 0.0, w: (w + 2.0 * PAD).ceil(), h: 0.0, name, head: 0.0, shown, columns }
}

/// Puts cards side by side; all of a row are of one height.
fn row(scene: &Scene, mut cards: Vec<Placed>, cell: u32, gap: f64) -> Row {
    let picture = scene.plan.size(cell).1;
    let head = cards.iter().map(|card| card.name.len()).max().unwrap_or(1) as f64 * LINE + LINE;
    let below = |card: &Placed| {
        let lines = card.shown.div_ceil(card.columns) as f64;
        let rest = if card.shown < scene.cards[card.card].dimension { LINE } else { 0.0 };
        lines * (picture + LEADING) + rest
    };
    let height = (2.0 * PAD + head - 2.0 + cards.iter().map(below).fold(0.0, f64::max)).ceil();
    let mut x = 0.0;
    for card in &mut cards {
        card.x = x;
        card.head = head;
        x += card.w + gap;
    }
    Row { cards, height, width: x - gap }
}

/// What is said of the vectors that are not drawn.
pub(super) fn more(dimension: usize, shown: usize) -> String {
    match dimension - shown.min(dimension) {
        0 => String::new(),
        left if shown == 0 => text::count(left, "vector"),
        left => format!("+ {left} more"),
    }
}

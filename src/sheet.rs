//! Pictures of many small images under headings, each with its caption, as PNG.

use crate::font;

/// Images in a row.
const COLUMNS: usize = 8;
/// Pixels on each side of an image's pixel.
const ZOOM: usize = 5;
/// The same for captions.
const TEXT: usize = 2;
/// Blank pixels around everything.
const MARGIN: usize = 24;
/// Pixels from one image to the next: room for a caption of 13 letters.
const PITCH: usize = 13 * (font::WIDTH + 1) * TEXT + 8;
/// Rows and columns of an image.
const SIDE: usize = invar_tasks::SIDE;

const PAPER: [u8; 3] = [255, 255, 255];
const INK: [u8; 3] = [32, 32, 32];

/// A picture that grows downwards.
pub(crate) struct Sheet {
    width: usize,
    pixels: Vec<[u8; 3]>,
    /// Where the next thing goes.
    top: usize,
}

impl Sheet {
    /// An empty picture for groups of `count` images.
    pub(crate) fn new(count: usize) -> Self {
        // Even a single image comes under headings, which need room.
        let width = 2 * MARGIN + count.clamp(6, COLUMNS) * PITCH;
        Self { width, pixels: vec![PAPER; width * MARGIN], top: MARGIN }
    }

    /// A line of text across the picture.
    pub(crate) fn heading(&mut self, text: &str, zoom: usize) {
        let height = font::HEIGHT * zoom + 6 * zoom;
        self.grow(height);
        self.text(MARGIN, self.top, text, zoom);
        self.top += height;
    }

    /// Images of three channels in rows, each above its caption.
    pub(crate) fn images(&mut self, images: &[(&[f32], Vec<String>)]) {
        let line = (font::HEIGHT + 1) * TEXT;
        for row in images.chunks(COLUMNS) {
            let lines = row.iter().map(|(_, caption)| caption.len()).max().unwrap_or(0);
            let height = SIDE * ZOOM + 8 + lines * line + 12;
            self.grow(height);
            for (column, (image, caption)) in row.iter().enumerate() {
                let left = MARGIN + column * PITCH;
                self.image(left, self.top, image);
                for (k, text) in caption.iter().enumerate() {
                    self.text(left, self.top + SIDE * ZOOM + 8 + k * line, text, TEXT);
                }
            }
            self.top += height;
        }
        self.grow(MARGIN / 2);
        self.top += MARGIN / 2;
    }

    /// The picture as a PNG file.
    pub(crate) fn png(&self) -> Result<Vec<u8>, png::EncodingError> {
        let mut file = Vec::new();
        let height = self.pixels.len() / self.width;
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, height as u32);
        encoder.set_color(png::ColorType::Rgb);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(file)
    }

    /// Makes room for so many more rows of pixels below `top`.
    fn grow(&mut self, rows: usize) {
        self.pixels.resize(self.width * (self.top + rows), PAPER);
    }

    /// Paints a square; what lies beyond the right edge is cut off.
    fn square(&mut self, left: usize, top: usize, side: usize, colour: [u8; 3]) {
        for row in top..top + side {
            for column in left..(left + side).min(self.width) {
                self.pixels[row * self.width + column] = colour;
            }
        }
    }

    fn image(&mut self, left: usize, top: usize, image: &[f32]) {
        for (row, column) in (0..SIDE * SIDE).map(|place| (place / SIDE, place % SIDE)) {
            let channel = |k: usize| (image[(k * SIDE + row) * SIDE + column].clamp(0.0, 1.0) * 255.0) as u8;
            self.square(left + column * ZOOM, top + row * ZOOM, ZOOM, [channel(0), channel(1), channel(2)]);
        }
    }

    fn text(&mut self, left: usize, top: usize, text: &str, zoom: usize) {
        for (k, letter) in text.chars().enumerate() {
            for (row, column) in (0..font::HEIGHT * font::WIDTH).map(|place| (place / font::WIDTH, place % font::WIDTH)) {
                if font::ink(letter, row, column) {
                    let at = k * (font::WIDTH + 1) + column;
                    self.square(left + at * zoom, top + row * zoom, zoom, INK);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn images_keep_their_colours_and_text_stays_inside() {
        let mut blue = vec![0.0; 3 * SIDE * SIDE];
        blue[2 * SIDE * SIDE] = 1.0;
        let mut sheet = Sheet::new(1);
        sheet.heading(&"a very long heading ".repeat(20), 3);
        let top = sheet.top;
        sheet.images(&[(&blue, vec!["3".into(), "blue".into()])]);
        let at = |row: usize, column: usize| sheet.pixels[(top + row) * sheet.width + MARGIN + column];
        assert_eq!((at(0, 0), at(ZOOM - 1, ZOOM - 1)), ([0, 0, 255], [0, 0, 255]));
        assert_eq!((at(0, ZOOM), at(SIDE * ZOOM, 0)), ([0, 0, 0], PAPER));
        assert_eq!(sheet.pixels.len() % sheet.width, 0);
        let file = sheet.png().unwrap();
        let reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
        assert_eq!(reader.info().width as usize, sheet.width);
    }
}

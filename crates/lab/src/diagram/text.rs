//! Text in pictures: escaping, estimated widths, line breaks.

/// Replaces what XML and HTML would read as markup, and characters that no XML document may contain.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(' '),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// A generous estimate of the width of a line in a sans-serif font: pictures are laid out without knowing the font.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ';' | ':' | '|' | '\'' | '!' | ' ' => 0.33,
        '(' | ')' | '[' | ']' | '{' | '}' | 'f' | 'r' | 't' | '-' | '/' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 0.95,
        'A'..='Z' | '+' | '=' | '<' | '>' | '—' => 0.72,
        c if c.is_ascii() || ('\u{a0}'..'\u{1100}').contains(&c) => 0.61,
        '\u{2010}'..='\u{2027}' => 0.6,
        _ => 1.05,
    };
    text.chars().map(em).sum::<f64>() * size
}

/// Breaks a text into at most `lines` lines of some width, at spaces where possible; what does not fit ends in "…".
pub(super) fn wrap(text: &str, size: f64, limit: f64, lines: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut line = String::new();
    let mut words = text.split_whitespace().peekable();
    while let Some(word) = words.next() {
        let longer = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
        if width(&longer, size) <= limit || (line.is_empty() && out.len() + 1 < lines && width(word, size) <= limit) {
            line = longer;
        } else if out.len() + 1 == lines || line.is_empty() {
            let rest = std::iter::once(longer.as_str()).chain(words.by_ref()).collect::<Vec<_>>().join(" ");
            out.push(clip(&rest, size, limit));
            return out;
        } else {
            out.push(std::mem::replace(&mut line, word.to_string()));
            if width(&line, size) > limit {
                line = clip(&line, size, limit);
                if words.peek().is_some() || out.len() + 1 == lines {
                    out.push(line);
                    return out;
                }
            }
        }
    }
    if !line.is_empty() {
        out.push(line);
    }
    out
}

/// Like [`wrap`], with lines about equally long.
pub(super) fn wrap_evenly(text: &str, size: f64, limit: f64, lines: usize) -> Vec<String> {
    let widest = wrap(text, size, limit, lines);
    let whole =
        |lines: &[String]| lines.concat().chars().filter(|c| !c.is_whitespace()).eq(text.chars().filter(|c| !c.is_whitespace()));
    let narrower = (1..10).rev().map(|tenth| limit * f64::from(tenth) / 10.0).map(|limit| wrap(text, size, limit, lines));
    narrower.take_while(|lines| lines.len() == widest.len() && whole(lines)).last().unwrap_or(widest)
}

/// Cuts a text to a width.
fn clip(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_string();
    }
    let mut kept = String::new();
    for c in text.chars() {
        kept.push(c);
        if width(&kept, size) + width("…", size) > limit {
            kept.pop();
            break;
        }
    }
    kept.truncate(kept.trim_end_matches([' ', ',']).len());
    kept.push('…');
    kept
}

/// A coordinate, to a tenth of a pixel.
pub(super) fn px(x: f64) -> String {
    let tenths = (x * 10.0).round() as i64;
    let sign = if tenths < 0 { "-" } else { "" };
    match (tenths.abs() / 10, tenths.abs() % 10) {
        (whole, 0) => format!("{sign}{whole}"),
        (whole, part) => format!("{sign}{whole}.{part}"),
    }
}

/// "1 group", "2 groups".
pub(super) fn count(n: usize, noun: &str) -> String {
    if n == 1 { format!("1 {noun}") } else { format!("{n} {noun}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped() {
        assert_eq!(escape("a<b&\"c\" 'd'>\u{1}"), "a&lt;b&amp;&quot;c&quot; &#39;d&#39;&gt;\u{fffd}");
    }

    #[test]
    fn lines_break_at_spaces_and_end_in_an_ellipsis() {
        assert_eq!(wrap("all but position 1", 10.0, 60.0, 2), ["all but", "position 1"]);
        assert_eq!(wrap("short", 10.0, 60.0, 2), ["short"]);
        assert_eq!(wrap_evenly("all but position 12", 10.0, 85.0, 3), ["all but", "position 12"]);
        let long = wrap("aaaaaaaaaaaaaaaaaaaa bbbb", 10.0, 60.0, 2);
        assert_eq!(long, ["aaaaaaaa…"]);
        for text in ["one two three four five six seven", "x yyyyyyyyyyyyyyyyyyyyyyyyyyyyy z", ""] {
            let lines = wrap(text, 10.0, 60.0, 2);
            assert!(lines.len() <= 2 && lines.iter().all(|line| width(line, 10.0) <= 66.0), "{lines:?}");
        }
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!([px(1.0), px(-0.04), px(-2.25), px(3.12)], ["1", "0", "-2.3", "3.1"]);
    }
}

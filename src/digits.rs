//! Numbers for people.

/// Six significant digits, without zeros that say nothing.
pub(crate) fn six(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{}", value + 0.0);
    }
    let exact = format!("{value:.5e}");
    let (digits, exponent) = exact.split_once('e').unwrap_or((&exact, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let short = |text: &str| {
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text.to_owned() }
    };
    match exponent {
        -4..=5 => short(&format!("{value:.*}", (5 - exponent) as usize)),
        _ => format!("{}e{exponent}", short(digits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits_are_shown() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (0.1 + 0.2, "0.3"),
            (f64::from(0.1f32), "0.1"),
            (123_456.7, "123457"),
            (999_999.9, "1e6"),
            (1_234_567.0, "1.23457e6"),
            (-0.000_123_456_7, "-0.000123457"),
            (0.000_012_345_67, "1.23457e-5"),
            (f64::NAN, "NaN"),
        ] {
            assert_eq!(six(value), text);
        }
    }
}

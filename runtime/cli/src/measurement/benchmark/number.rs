//! Numbers as C++ prints them.

/// Six significant digits, without zeros at the end: `%g`.
pub(super) fn general(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return special(value).to_owned();
    }
    let (digits, exponent) = parts(value, 5);
    if !(-4..6).contains(&exponent) {
        return format!("{}e{}", without_zeros(&digits), sign_and_two_digits(exponent));
    }
    let places = usize::try_from(5 - exponent).unwrap_or(0);
    without_zeros(&format!("{value:.places$}")).to_owned()
}

/// `9.1210270615382772e-04`: all digits, as in Google Benchmark's JSON. JSON has no infinity; a
/// text stands for it.
pub(super) fn scientific(value: f64) -> String {
    if !value.is_finite() {
        return format!("\"{}\"", special(value));
    }
    let (digits, exponent) = parts(value, 16);
    format!("{digits}e{}", sign_and_two_digits(exponent))
}

/// `1.23457M`, `8.04491k`, `12.5m`: with the prefix of a unit.
pub(super) fn with_prefix(value: f64) -> String {
    const LARGE: [&str; 8] = ["k", "M", "G", "T", "P", "E", "Z", "Y"];
    const SMALL: [&str; 8] = ["m", "u", "n", "p", "f", "a", "z", "y"];
    let (sign, magnitude) = if value < 0.0 { ("-", -value) } else { ("", value) };
    let mut scaled = magnitude;
    if magnitude > 999.0 {
        for prefix in LARGE {
            scaled /= 1000.0;
            if scaled <= 999.0 {
                return format!("{sign}{}{prefix}", general(scaled));
            }
        }
    } else if magnitude < 0.01 {
        for prefix in SMALL {
            scaled *= 1000.0;
            if scaled >= 1.0 {
                return format!("{sign}{}{prefix}", general(scaled));
            }
        }
    }
    format!("{sign}{}", general(magnitude))
}

fn special(value: f64) -> &'static str {
    match value {
        value if value.is_nan() => "nan",
        value if value > 0.0 => "inf",
        _ => "-inf",
    }
}

/// Digits with so many after the point, and the exponent.
fn parts(value: f64, places: usize) -> (String, i32) {
    let text = format!("{value:.places$e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    (digits.to_owned(), exponent.parse().unwrap_or(0))
}

fn sign_and_two_digits(exponent: i32) -> String {
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{sign}{:02}", exponent.unsigned_abs())
}

fn without_zeros(text: &str) -> &str {
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_look_as_in_cpp() {
        for (value, expected) in [
            (961.465, "961.465"),
            (1_510_580.0, "1.51058e+06"),
            (5.0, "5"),
            (0.000_094_833_3, "9.48333e-05"),
            (0.170_363, "0.170363"),
            (999_999.9, "1e+06"),
            (100_000.0, "100000"),
        ] {
            assert_eq!(general(value), expected);
        }
        assert_eq!(scientific(9.121_027_061_538_277e-4), "9.1210270615382772e-04");
        assert_eq!(scientific(100.0), "1.0000000000000000e+02");
        assert_eq!(scientific(f64::NAN), "\"nan\"");
        assert_eq!(with_prefix(961_465.0), "961.465k");
        assert_eq!(with_prefix(8.5), "8.5");
        assert_eq!(with_prefix(0.0025), "2.5m");
        assert_eq!(with_prefix(1.24106e6), "1.24106M");
    }
}

//! Floats as C's `printf` writes them: `%g` with a precision, in lower or upper case.
//!
//! IREE's tools print floats with `%g` (values), `%G` (tensors), `%.9g` and `%.17g` (disassembly),
//! and texts are compared byte for byte. Rust's `{:e}` with a precision rounds exactly, as glibc
//! does; the rest is layout.

/// Formats like `%.{precision}g`: in the shorter of fixed and exponent notation, without trailing
/// zeros. A precision of 0 counts as 1.
#[must_use]
pub fn format_g(value: f64, precision: usize) -> String {
    if value.is_nan() {
        return if value.is_sign_negative() { "-nan" } else { "nan" }.to_owned();
    }
    if value.is_infinite() {
        return if value < 0.0 { "-inf" } else { "inf" }.to_owned();
    }
    let precision = precision.max(1);
    let scientific = format!("{value:.*e}", precision - 1);
    let Some((digits, exponent)) = scientific.split_once('e') else { return scientific };
    let Ok(exponent) = exponent.parse::<i32>() else { return scientific };
    let precision_limit = i32::try_from(precision).unwrap_or(i32::MAX);
    if (-4..precision_limit).contains(&exponent) {
        let decimals = usize::try_from(precision_limit - 1 - exponent).unwrap_or(0);
        without_trailing_zeros(&format!("{value:.decimals$}")).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_trailing_zeros(digits), exponent.unsigned_abs())
    }
}

/// `%G`: [`format_g`] with precision 6 in upper case.
#[must_use]
pub fn format_g_upper(value: f64) -> String {
    format_g(value, 6).to_ascii_uppercase()
}

/// `%.{precision}e`: one digit before the point, an exponent of two digits or more.
#[must_use]
pub fn format_e(value: f64, precision: usize) -> String {
    if !value.is_finite() {
        return format_g(value, precision);
    }
    let scientific = format!("{value:.precision$e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let (sign, exponent) = match exponent.strip_prefix('-') {
        Some(exponent) => ('-', exponent),
        None => ('+', exponent),
    };
    format!("{digits}e{sign}{exponent:0>2}")
}

fn without_trailing_zeros(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::{format_e, format_g, format_g_upper};

    #[test]
    fn as_printf_does() {
        // The expected texts are glibc's.
        for (value, precision, expected) in [
            (0.0, 6, "0"),
            (-0.0, 6, "-0"),
            (1.0, 6, "1"),
            (-1.5, 6, "-1.5"),
            (100_000.0, 6, "100000"),
            (999_999.5, 6, "1e+06"),
            (1_000_000.0, 6, "1e+06"),
            (123_456_789.0, 6, "1.23457e+08"),
            (0.0001, 6, "0.0001"),
            (0.000_099_999_99, 6, "0.0001"),
            (0.000_01, 6, "1e-05"),
            (1e-7, 6, "1e-07"),
            (1e100, 6, "1e+100"),
            (f64::from(0.1_f32), 9, "0.100000001"),
            (f64::from(f32::MAX), 9, "3.40282347e+38"),
            (0.1, 17, "0.10000000000000001"),
            (f64::MIN_POSITIVE / 4.0, 17, "5.5626846462680035e-309"),
            (f64::MAX, 17, "1.7976931348623157e+308"),
            (2.5, 1, "2"),
            (3.5, 0, "4"),
            (f64::INFINITY, 6, "inf"),
            (f64::NEG_INFINITY, 6, "-inf"),
            (f64::NAN, 6, "nan"),
            (-f64::NAN, 6, "-nan"),
        ] {
            assert_eq!(format_g(value, precision), expected, "{value:e} with {precision}");
        }
        assert_eq!(format_e(-0.000_123_456, 3), "-1.235e-04");
        assert_eq!(format_e(f64::NAN, 3), "nan");
        assert_eq!(format_g_upper(1e-7), "1E-07");
        assert_eq!(format_g_upper(f64::NAN), "NAN");
    }
}

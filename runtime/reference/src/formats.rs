//! Float formats as numbers: how exact, how large, how small, and rounding to them.

use mlir::Format;

/// The parameters of a format.
#[derive(Clone, Copy)]
struct Parameters {
    /// The bits of the significand, with the one that is not stored.
    precision: i32,
    /// The exponent of the least normal number.
    least: i32,
    /// The greatest number.
    greatest: f64,
    has_infinity: bool,
}

const fn parameters(format: Format) -> Parameters {
    let (precision, least, greatest, has_infinity) = match format {
        Format::E8M0Fnu => (1, -127, 1.701_411_834_604_692_3e38, false),
        Format::E5M2 => (3, -14, 57344.0, true),
        Format::E4M3Fn => (4, -6, 448.0, false),
        Format::E5M2Fnuz => (3, -15, 57344.0, false),
        Format::E4M3Fnuz => (4, -7, 240.0, false),
        Format::F16 => (11, -14, 65504.0, true),
        Format::Bf16 => (8, -126, 3.389_531_389_251_535_5e38, true),
        Format::F32 => (24, -126, f32::MAX as f64, true),
        Format::F64 => (53, -1022, f64::MAX, true),
    };
    Parameters { precision, least, greatest, has_infinity }
}

/// Two to a power, without the loop of `powi`: bounds ask for it at each element.
const fn power_of_two(exponent: i32) -> f64 {
    const LEAST: i32 = -1022;
    match exponent {
        1024.. => f64::INFINITY,
        LEAST.. => f64::from_bits(((exponent + 1023) as u64) << 52),
        -1074.. => f64::from_bits(1 << (exponent + 1074)),
        _ => 0.0,
    }
}

/// The greatest relative error of one rounding to nearest. For f64 it is twice that: the evaluator
/// computes in f64 itself, so that its own value has the same error.
pub(crate) fn epsilon(format: Format) -> f64 {
    match format {
        Format::F64 => f64::EPSILON,
        _ => power_of_two(-parameters(format).precision),
    }
}

/// The greatest absolute error where results are too small for a full significand. IREE's workers
/// flush such results of f32 and f64 to zero; narrower formats keep them, within two steps.
pub(crate) fn tiny(format: Format) -> f64 {
    let it = parameters(format);
    match format {
        Format::F32 | Format::F64 | Format::Bf16 => power_of_two(it.least),
        _ => power_of_two(it.least - it.precision + 2),
    }
}

/// The least normal number: below it, IREE's functions of narrow floats give zero.
pub(crate) fn least_normal(format: Format) -> f64 {
    power_of_two(parameters(format).least)
}

/// The greatest number.
pub(crate) fn greatest(format: Format) -> f64 {
    parameters(format).greatest
}

/// The nearest number of the format; of two, the one with an even significand. What is beyond the
/// greatest number becomes infinity, or NaN if there is none.
pub(crate) fn round_to(format: Format, value: f64) -> f64 {
    match format {
        Format::F64 => return value,
        Format::F32 => return f64::from(value as f32),
        _ => {}
    }
    let it = parameters(format);
    if value == 0.0 || value.is_nan() {
        return value;
    }
    let beyond = if it.has_infinity { f64::INFINITY.copysign(value) } else { f64::NAN };
    if value.is_infinite() {
        return beyond;
    }
    let exponent = exponent_of(value).max(it.least);
    // The distance of neighbours: a power of two, so that the division is exact.
    let step = power_of_two(exponent - it.precision + 1);
    let rounded = (value / step).round_ties_even() * step;
    if rounded.abs() > it.greatest { beyond } else { rounded }
}

/// The exponent of a finite number other than zero: it is at least two to this power.
fn exponent_of(value: f64) -> i32 {
    let stored = (value.to_bits() >> 52 & 0x7FF) as i32;
    if stored == 0 {
        -1074 + 63 - (value.abs().to_bits().leading_zeros() as i32)
    } else {
        stored - 1023
    }
}

#[cfg(test)]
mod tests {
    use abi::element_type::ElementType;

    use super::{Format, power_of_two, round_to};

    #[test]
    fn powers_of_two_are_exact() {
        for exponent in -1074..1024 {
            let power = power_of_two(exponent);
            assert_eq!(power.log2(), f64::from(exponent));
            assert_eq!(power_of_two(exponent + 1), power * 2.0, "{exponent}");
        }
        assert_eq!((power_of_two(-1075), power_of_two(1024)), (0.0, f64::INFINITY));
    }

    /// Every number of a format is its own rounding, and what is between two goes to the nearer.
    #[test]
    fn rounding_finds_the_numbers_that_abi_decodes() {
        for (name, format, codes) in [
            ("f16", Format::F16, 0x7C00_u32),
            ("bf16", Format::Bf16, 0x7F80),
            ("f8E5M2", Format::E5M2, 0x7C),
            ("f8E4M3FN", Format::E4M3Fn, 0x7F),
            ("f8E5M2FNUZ", Format::E5M2Fnuz, 0x80),
            ("f8E4M3FNUZ", Format::E4M3Fnuz, 0x80),
        ] {
            let element: ElementType = name.parse().unwrap();
            let decode = |code: u32| element.float_value(&code.to_le_bytes()).unwrap();
            for code in 0..codes {
                let value = decode(code);
                assert_eq!(round_to(format, value), value, "{name} {code:#x}");
                assert_eq!(round_to(format, -value), -value, "{name} {code:#x}");
                if code + 1 == codes {
                    continue;
                }
                let next = decode(code + 1);
                let even = if code % 2 == 0 { value } else { next };
                assert_eq!(round_to(format, f64::midpoint(value, next)), even, "{name} {code:#x}");
                let nearer = value + (next - value) * 0.49;
                assert_eq!(round_to(format, nearer), value, "{name} {code:#x}");
            }
        }
    }

    #[test]
    fn what_is_too_large_is_infinite_or_nan() {
        assert_eq!(round_to(Format::F16, 65519.0), 65504.0);
        assert_eq!(round_to(Format::F16, 65520.0), f64::INFINITY);
        assert_eq!(round_to(Format::F16, -1e9), f64::NEG_INFINITY);
        assert!(round_to(Format::E4M3Fn, 1e9).is_nan());
        assert_eq!(round_to(Format::F32, 1e39), f64::INFINITY);
    }
}

//! Conversions between number types.
//!
//! Float to integer rounds half away from zero. C leaves values that do not fit undefined. IREE's
//! x86-64 builds give the hardware's result, and so do these functions everywhere: a 64-bit result
//! is `i64::MIN` for NaN and values that do not fit, a narrower result is the low half of that, and
//! `f64` to 32 bits goes through `f32` (as in IREE: 16777217.0 becomes 16777216).

/// Converts a value without a fraction to a signed 64-bit integer, as the hardware does.
#[inline]
fn hardware_i64(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if (-LIMIT..LIMIT).contains(&value) { value as i64 } else { i64::MIN }
}

/// Converts to an unsigned 64-bit integer, as compilers build it from signed conversions.
#[inline]
fn hardware_u64(value: f64) -> i64 {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    let low = hardware_i64(value);
    if low < 0 { low | hardware_i64(value - LIMIT) & (low >> 63) } else { low }
}

pub(crate) fn f32_to_si32(value: f32) -> i32 {
    hardware_i64(f64::from(value.round())) as i32
}

pub(crate) fn f32_to_ui32(value: f32) -> i32 {
    hardware_i64(f64::from(value.round())) as i32
}

pub(crate) fn f32_to_si64(value: f32) -> i64 {
    hardware_i64(f64::from(value.round()))
}

pub(crate) fn f32_to_ui64(value: f32) -> i64 {
    hardware_u64(f64::from(value.round()))
}

pub(crate) fn f64_to_si32(value: f64) -> i32 {
    f32_to_si32(value as f32)
}

pub(crate) fn f64_to_ui32(value: f64) -> i32 {
    f32_to_ui32(value as f32)
}

pub(crate) fn f64_to_si64(value: f64) -> i64 {
    hardware_i64(value.round())
}

pub(crate) fn f64_to_ui64(value: f64) -> i64 {
    hardware_i64(value.round())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values were printed by iree-run-module 3.13 on x86-64.
    #[test]
    fn as_the_reference_on_x86_64() {
        for (value, expected) in
            [(2.5, 3), (-2.5, -3), (1e30, 0), (f64::NAN, 0), (3e9, -1_294_967_296)]
        {
            assert_eq!(f64_to_si32(value), expected, "{value}");
            assert_eq!(f32_to_si32(value as f32), expected, "{value}");
            assert_eq!(f32_to_ui32(value as f32), expected, "{value}");
        }
        assert_eq!(f64_to_si32(16_777_217.0), 16_777_216);
        assert_eq!(f64_to_ui32(4_294_967_295.0), 0);
        for (value, expected) in [
            (0.5, 1),
            (2.5, 3),
            (-2.5, -3),
            (1e30, i64::MIN),
            (f64::NAN, i64::MIN),
            (-1e30, i64::MIN),
        ] {
            assert_eq!(f64_to_si64(value), expected, "{value}");
        }
        assert_eq!(f64_to_ui64(1e19), i64::MIN);
        assert_eq!(f64_to_ui64(-1.0), -1);
        assert_eq!(f32_to_ui64(1e19), -8_446_744_093_203_103_744);
        assert_eq!(f32_to_ui64(-1.5), -2);
        assert_eq!(f32_to_ui64(1e30), i64::MIN);
        assert_eq!(f32_to_ui64(f32::NAN), i64::MIN);
    }
}

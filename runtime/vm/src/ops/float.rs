//! Float instructions, for f32 and f64 alike.
//!
//! As in IREE: `fma` rounds twice (its builds do not fuse), `rem` is IEEE's remainder (the quotient
//! rounded to nearest), `min` and `max` give the left operand unless the right one compares lower
//! or higher (so a NaN on the left stays, and a NaN on the right is ignored), and ordered
//! comparisons are false on NaN except `ne`, which is C's `!=`.
//!
//! The bits of a NaN are visible: its sign is printed, and programs may read the rest. They too are
//! those of IREE's x86-64 builds: arithmetic makes a signalling NaN quiet.

macro_rules! floats {
    ($module:ident $float:ty, $remainder:path, $erf:path) => {
        /// Instructions of this width.
        pub(crate) mod $module {
            #[inline(always)]
            pub(crate) fn fma(a: $float, b: $float, c: $float) -> $float {
                a * b + c
            }

            /// Quiets a NaN, as arithmetic does; applies the function to any other value.
            #[inline(always)]
            fn unless_nan(a: $float, function: fn($float) -> $float) -> $float {
                if a.is_nan() { a + a } else { function(a) }
            }

            pub(crate) fn rem(a: $float, b: $float) -> $float {
                $remainder(a, b)
            }

            #[inline(always)]
            pub(crate) fn ceil(a: $float) -> $float {
                unless_nan(a, <$float>::ceil)
            }

            #[inline(always)]
            pub(crate) fn floor(a: $float) -> $float {
                unless_nan(a, <$float>::floor)
            }

            #[inline(always)]
            pub(crate) fn min(a: $float, b: $float) -> $float {
                if b < a { b } else { a }
            }

            #[inline(always)]
            pub(crate) fn max(a: $float, b: $float) -> $float {
                if a < b { b } else { a }
            }

            /// IEEE's round to even, except for -0.5, which gives +0: the reference corrects a tie
            /// by adding one to the -1 that C's rounding gives.
            #[inline(always)]
            pub(crate) fn round_even(a: $float) -> $float {
                if a == -0.5 { 0.0 } else { unless_nan(a, <$float>::round_ties_even) }
            }

            #[inline(always)]
            pub(crate) fn rsqrt(a: $float) -> $float {
                1.0 / a.sqrt()
            }

            pub(crate) fn erf(a: $float) -> $float {
                $erf(a)
            }

            /// A power by squaring, as the C compiler's function for it: of the exponent, the low
            /// 32 bits count, and a negative one makes the reciprocal of the positive power.
            pub(crate) fn powi(base: $float, exponent: i64) -> $float {
                let exponent = exponent as i32;
                let (mut square, mut rest) = (base, exponent.unsigned_abs());
                let mut power = if rest & 1 == 1 { base } else { 1.0 };
                while rest > 1 {
                    rest >>= 1;
                    square *= square;
                    if rest & 1 == 1 {
                        power *= square;
                    }
                }
                if exponent < 0 { 1.0 / power } else { power }
            }

            #[inline(always)]
            pub(crate) fn unordered(a: $float, b: $float) -> bool {
                a.is_nan() | b.is_nan()
            }
        }
    };
}

floats!(f32s f32, crate::ops::system::remainderf, crate::ops::system::erff);
floats!(f64s f64, crate::ops::system::remainder, crate::ops::system::erf);

/// The natural logarithm. For a negative number it is a positive NaN: IREE's builds use an old
/// version of the C library's function.
pub(crate) fn ln(a: f64) -> f64 {
    if a < 0.0 { f64::NAN } else { a.ln() }
}

/// The logarithm to base 2; see [`ln`].
pub(crate) fn log2(a: f64) -> f64 {
    if a < 0.0 { f64::NAN } else { a.log2() }
}

#[cfg(test)]
mod tests {
    use super::{f32s, f64s};

    #[test]
    #[cfg_attr(miri, ignore = "it calls the C library")]
    fn remainder_rounds_the_quotient_to_nearest() {
        assert_eq!(f32s::rem(5.0, 3.0), -1.0);
        assert_eq!(f64s::rem(-5.0, 3.0), 1.0);
        assert_eq!(f64s::rem(3.0, 2.0), -1.0);
        assert!(f64s::rem(1.0, 0.0).is_nan());
    }

    #[test]
    fn ties_round_to_even() {
        for (value, bits) in
            [(0.5, 0.0_f64), (1.5, 2.0), (2.5, 2.0), (-0.5, 0.0), (-0.4, -0.0), (-0.0, -0.0)]
        {
            assert_eq!(f64s::round_even(value).to_bits(), bits.to_bits(), "{value}");
            assert_eq!(
                f32s::round_even(value as f32).to_bits(),
                (bits as f32).to_bits(),
                "{value}"
            );
        }
    }

    #[test]
    fn powers_take_32_bits_of_the_exponent() {
        assert_eq!(f32s::powi(-1.5, 3), -3.375);
        assert_eq!(f64s::powi(2.0, -2), 0.25);
        assert_eq!(f32s::powi(f32::NAN, 0), 1.0);
        assert_eq!(f64s::powi(-0.0, -1), f64::NEG_INFINITY);
        assert_eq!(f32s::powi(3.0, 1 << 32), 1.0);
        assert_eq!(f64s::powi(0.0, 1 << 31), f64::INFINITY, "that is -2147483648");
    }

    #[test]
    fn nan_in_min_and_max() {
        assert!(f32s::min(f32::NAN, 1.0).is_nan());
        assert_eq!(f32s::min(1.0, f32::NAN), 1.0);
        assert!(f32s::max(f32::NAN, 1.0).is_nan());
        assert_eq!(f64s::max(-0.0, 0.0).to_bits(), (-0.0_f64).to_bits());
    }

    #[test]
    fn fma_is_not_fused() {
        let a = 1.000_000_000_1_f64;
        assert_eq!(f64s::fma(a, a, -(a * a)), 0.0);
    }
}

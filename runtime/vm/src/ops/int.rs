//! Integer instructions. Arithmetic wraps. Shift amounts count modulo the width.
//!
//! Division by zero, and the one quotient that does not fit (minimum / -1), are undefined in IREE:
//! its release tools crash with a hardware trap. Here they are `INVALID_ARGUMENT` errors.

use crate::errors::Status;

macro_rules! integers {
    ($module:ident $signed:ty, $unsigned:ty) => {
        /// Instructions of this width.
        pub(crate) mod $module {
            use super::{Status, division_by_zero, division_overflow};

            #[inline(always)]
            pub(crate) fn add(a: $signed, b: $signed) -> $signed {
                a.wrapping_add(b)
            }

            #[inline(always)]
            pub(crate) fn sub(a: $signed, b: $signed) -> $signed {
                a.wrapping_sub(b)
            }

            #[inline(always)]
            pub(crate) fn mul(a: $signed, b: $signed) -> $signed {
                a.wrapping_mul(b)
            }

            #[inline(always)]
            pub(crate) fn fma(a: $signed, b: $signed, c: $signed) -> $signed {
                a.wrapping_mul(b).wrapping_add(c)
            }

            #[inline(always)]
            pub(crate) fn checked_div_s(a: $signed, b: $signed) -> Option<$signed> {
                a.checked_div(b)
            }

            #[inline(always)]
            pub(crate) fn checked_div_u(a: $signed, b: $signed) -> Option<$signed> {
                (a as $unsigned).checked_div(b as $unsigned).map(|quotient| quotient as $signed)
            }

            #[inline(always)]
            pub(crate) fn checked_rem_s(a: $signed, b: $signed) -> Option<$signed> {
                a.checked_rem(b)
            }

            #[inline(always)]
            pub(crate) fn checked_rem_u(a: $signed, b: $signed) -> Option<$signed> {
                (a as $unsigned).checked_rem(b as $unsigned).map(|remainder| remainder as $signed)
            }

            #[inline(always)]
            pub(crate) fn div_s(a: $signed, b: $signed) -> Result<$signed, Status> {
                match a.checked_div(b) {
                    Some(quotient) => Ok(quotient),
                    None if b == 0 => Err(division_by_zero()),
                    None => Err(division_overflow()),
                }
            }

            #[inline(always)]
            pub(crate) fn div_u(a: $signed, b: $signed) -> Result<$signed, Status> {
                match (a as $unsigned).checked_div(b as $unsigned) {
                    Some(quotient) => Ok(quotient as $signed),
                    None => Err(division_by_zero()),
                }
            }

            #[inline(always)]
            pub(crate) fn rem_s(a: $signed, b: $signed) -> Result<$signed, Status> {
                match a.checked_rem(b) {
                    Some(remainder) => Ok(remainder),
                    None if b == 0 => Err(division_by_zero()),
                    None => Err(division_overflow()),
                }
            }

            #[inline(always)]
            pub(crate) fn rem_u(a: $signed, b: $signed) -> Result<$signed, Status> {
                match (a as $unsigned).checked_rem(b as $unsigned) {
                    Some(remainder) => Ok(remainder as $signed),
                    None => Err(division_by_zero()),
                }
            }

            #[inline(always)]
            pub(crate) fn abs(a: $signed) -> $signed {
                a.wrapping_abs()
            }

            #[inline(always)]
            pub(crate) fn min_s(a: $signed, b: $signed) -> $signed {
                a.min(b)
            }

            #[inline(always)]
            pub(crate) fn min_u(a: $signed, b: $signed) -> $signed {
                (a as $unsigned).min(b as $unsigned) as $signed
            }

            #[inline(always)]
            pub(crate) fn max_s(a: $signed, b: $signed) -> $signed {
                a.max(b)
            }

            #[inline(always)]
            pub(crate) fn max_u(a: $signed, b: $signed) -> $signed {
                (a as $unsigned).max(b as $unsigned) as $signed
            }

            #[inline(always)]
            pub(crate) fn shl(a: $signed, amount: i32) -> $signed {
                a.wrapping_shl(amount as u32)
            }

            #[inline(always)]
            pub(crate) fn shr_s(a: $signed, amount: i32) -> $signed {
                a.wrapping_shr(amount as u32)
            }

            #[inline(always)]
            pub(crate) fn shr_u(a: $signed, amount: i32) -> $signed {
                (a as $unsigned).wrapping_shr(amount as u32) as $signed
            }

            #[inline(always)]
            pub(crate) fn lt_s(a: $signed, b: $signed) -> bool {
                a < b
            }

            #[inline(always)]
            pub(crate) fn lt_u(a: $signed, b: $signed) -> bool {
                (a as $unsigned) < (b as $unsigned)
            }

            #[inline(always)]
            pub(crate) fn ctlz(a: $signed) -> $signed {
                a.leading_zeros() as $signed
            }
        }
    };
}

integers!(i32s i32, u32);
integers!(i64s i64, u64);

#[cold]
fn division_by_zero() -> Status {
    Status::invalid_argument("integer division by zero")
}

#[cold]
fn division_overflow() -> Status {
    Status::invalid_argument("integer division overflow: the smallest value divided by -1")
}

#[cfg(test)]
mod tests {
    use super::{i32s, i64s};

    #[test]
    fn wrapping_and_undefined_cases() {
        assert_eq!(i32s::add(i32::MAX, 1), i32::MIN);
        assert_eq!(i32s::fma(i32::MIN, -1, 1), i32::MIN + 1);
        assert_eq!(i32s::abs(i32::MIN), i32::MIN);
        assert_eq!(i32s::div_u(-1, 2), Ok(i32::MAX));
        assert!(i32s::div_s(1, 0).is_err());
        assert!(i32s::div_s(i32::MIN, -1).is_err());
        assert!(i64s::rem_s(i64::MIN, -1).is_err());
        assert!(i64s::rem_u(1, 0).is_err());
        assert_eq!(i32s::rem_s(-7, 3), Ok(-1));
        assert_eq!(i32s::rem_u(-7, 3), Ok(0));
    }

    #[test]
    fn shifts_count_modulo_the_width() {
        assert_eq!(i32s::shl(1, 33), 2);
        assert_eq!(i32s::shr_s(-8, 33), -4);
        assert_eq!(i64s::shr_u(-1, -1), 1);
        assert_eq!(i64s::shl(1, 64), 1);
    }

    #[test]
    fn leading_zeros() {
        assert_eq!((i32s::ctlz(0), i32s::ctlz(1), i64s::ctlz(-1)), (32, 31, 0));
    }
}

//! Functions of the system's C library that `std` does not offer: the error function, IEEE's
//! remainder, and a comparison of memory that makes no references to it.
//!
//! `std` calls the same library for sines and logarithms, and so does IREE: the results agree to
//! the last bit only if the library is the same.

// SAFETY: these are the declarations of the C standard. The safe functions take and return numbers
// by value and touch no memory but `errno`; `std` links the library that has them.
unsafe extern "C" {
    /// The error function.
    pub(super) safe fn erf(value: f64) -> f64;
    /// The error function, of f32.
    pub(super) safe fn erff(value: f32) -> f32;
    /// The remainder of the quotient rounded to nearest.
    pub(super) safe fn remainder(left: f64, right: f64) -> f64;
    /// The same, of f32.
    pub(super) safe fn remainderf(left: f32, right: f32) -> f32;
    /// Compares bytes; 0 if all are equal. The bytes must exist.
    #[cfg(not(miri))]
    pub(crate) fn memcmp(left: *const u8, right: *const u8, length: usize) -> i32;
}

#[cfg(test)]
mod tests {
    #[test]
    fn error_function() {
        assert_eq!(super::erf(0.0), 0.0);
        assert_eq!(super::erf(f64::INFINITY), 1.0);
        assert!((super::erff(1.0) - 0.842_700_8).abs() < 1e-6);
    }
}

//! How exact a correct implementation of a function is: a table of promises, each with its reason.
//!
//! Basic operations are rounded once, as IEEE 754 defines them. For other functions IREE has
//! polynomials or calls a C library. A unit is the error of one rounding to the element type, half
//! an ulp, so that 8 units are 4 ulps. `tests/suite/oracle/sweeps.rs` compares IREE's code with the
//! table.

use mlir::FloatUnary;
use mlir::Format;

/// The error of a function.
pub(crate) struct Accuracy {
    /// Units of the result's magnitude.
    pub(crate) relative: f64,
    /// Units of 1.
    pub(crate) absolute: f64,
    /// Units of the operand's magnitude, for functions that reduce their range first.
    pub(crate) of_operand: f64,
}

const fn units(relative: f64) -> Accuracy {
    Accuracy { relative, absolute: 0.0, of_operand: 0.0 }
}

/// The accuracy of a function of one float.
pub(crate) fn of(function: FloatUnary, format: Format) -> Accuracy {
    use FloatUnary as U;
    match function {
        // Exact.
        U::Negate | U::Absolute | U::Ceil | U::Floor | U::Round | U::RoundEven | U::Truncate => {
            units(0.0)
        }
        U::Sqrt => units(1.0),
        // A square root and a division, or an estimate with one step of Newton's method.
        U::Rsqrt => units(8.0),
        // Polynomials after the exponent is split off. The product of the operand and 1/ln 2 is
        // rounded, so the error is greatest near the ends of the range: 7 units of f32.
        U::Exp | U::Exp2 => units(16.0),
        U::Log | U::Log2 | U::Log10 => Accuracy { relative: 8.0, absolute: 1.0, of_operand: 0.0 },
        // From exp and log. Those of f64 cancel near zero.
        U::ExpM1 | U::Log1p => {
            let absolute = if format == Format::F64 { 2.0 } else { 0.0 };
            Accuracy { relative: 16.0, absolute, of_operand: 0.0 }
        }
        // A quotient of polynomials, clamped near ±1.
        U::Tanh => units(16.0),
        U::Erf | U::Erfc => Accuracy { relative: 16.0, absolute: 8.0, of_operand: 0.0 },
        // Multiples of π/2 are subtracted in the element type.
        U::Sin | U::Cos => Accuracy { relative: 8.0, absolute: 8.0, of_operand: 4.0 },
        U::Tan => Accuracy { relative: 32.0, absolute: 16.0, of_operand: 16.0 },
        U::Asin | U::Acos | U::Atan | U::Cbrt => {
            Accuracy { relative: 32.0, absolute: 32.0, of_operand: 0.0 }
        }
        // From exp or log.
        U::Sinh | U::Cosh | U::Asinh | U::Acosh | U::Atanh => {
            Accuracy { relative: 32.0, absolute: 16.0, of_operand: 0.0 }
        }
    }
}

/// Units of the result's magnitude for a power, which may be `exp(y * log(x))`: the product is
/// rounded, and its error is the result's relative error.
pub(crate) fn power(exponent_of_e: f64) -> f64 {
    16.0 + 4.0 * exponent_of_e.abs()
}

/// Units of the result's magnitude for two to a power, which may be `exp(x * ln 2)`: the product is
/// rounded, and its error is the result's relative error.
pub(crate) fn exp2(exponent: f64) -> f64 {
    exponent.abs()
}

/// Units for the angle of two sides.
pub(crate) const ATAN2: f64 = 32.0;

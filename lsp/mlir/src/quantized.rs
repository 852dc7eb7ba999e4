//! Between floats and integers of few bits: what `iree_linalg_ext.quantize_affine` and
//! `dequantize_affine` do with an element. As the compiler (3.13) writes it when it makes loops of
//! them:
//!
//! ```text
//! quantize:    x / scale, to the nearest integer (even if halfway), + zero point, into the bounds
//! dequantize:  (q - zero point) * scale
//! ```

use crate::element::Element;
use crate::scalar::{Cast, Scalar};
use crate::table::scalar;

/// What an operation says of itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Quantized {
    quantizes: bool,
    is_unsigned: bool,
    least: i64,
    most: i64,
}

/// How a reader of the operation makes steps of scalars.
pub trait Steps {
    /// A number.
    type Value: Copy;

    /// A function of numbers; the result is of a type.
    fn apply(&mut self, what: Scalar, operands: &[Self::Value], to: Element) -> Self::Value;

    /// A constant of a type.
    fn number(&mut self, number: i64, element: Element) -> Self::Value;

    /// The constant that a number is, if that is known.
    fn known(&self, number: Self::Value) -> Option<i64>;
}

impl Quantized {
    /// Reads `<indexing_maps = […], quant_min = -128, quant_max = 127, storage_unsigned> ins(…`.
    #[must_use]
    pub fn read(text: &str, quantizes: bool) -> Option<Self> {
        let (own, _) = text.split_once(" ins(")?;
        let bound = |name: &str| {
            let (_, rest) = own.split_once(name)?;
            let rest = rest.trim_start().strip_prefix('=')?.trim_start();
            let end = rest.find(|it: char| it != '-' && !it.is_ascii_digit());
            rest[..end.unwrap_or(rest.len())].parse().ok()
        };
        let is_unsigned = own.contains("storage_unsigned") || own.contains("input_unsigned");
        let (least, most) = (bound("quant_min")?, bound("quant_max")?);
        Some(Self { quantizes, is_unsigned, least, most })
    }

    /// The element of the result, of type `to`: of a number, its scale and its zero point if it has
    /// one. `None` if these are of types that the compiler does not take.
    pub fn element<S: Steps>(
        self,
        steps: &mut S,
        given: &[(S::Value, Element)],
        to: Element,
    ) -> Option<S::Value> {
        let ((number, from), (scale, of_scale), zero) = match given {
            [number, scale] => (*number, *scale, None),
            [number, scale, zero] => (*number, *scale, Some(*zero)),
            _ => return None,
        };
        let (float, integer) = if self.quantizes { (from, to) } else { (to, from) };
        if !float.is_float() || of_scale != float || integer.is_float() {
            return None;
        }
        match self.quantizes {
            true => self.quantize(steps, (number, float), scale, zero, integer),
            false => self.dequantize(steps, (number, integer), scale, zero, float),
        }
    }

    fn quantize<S: Steps>(
        self,
        steps: &mut S,
        (number, float): (S::Value, Element),
        scale: S::Value,
        zero: Option<(S::Value, Element)>,
        to: Element,
    ) -> Option<S::Value> {
        let function = |name: &str| scalar(name, float, float, "");
        let mut given = steps.apply(function("arith.divf")?, &[number, scale], float);
        given = steps.apply(function("math.roundeven")?, &[given], float);
        if let Some((zero, integer)) = zero {
            let zero = self.cast(steps, zero, integer, float);
            given = steps.apply(function("arith.addf")?, &[given, zero], float);
        }
        let least = steps.number(self.least, float);
        given = steps.apply(function("arith.maxnumf")?, &[given, least], float);
        let most = steps.number(self.most, float);
        given = steps.apply(function("arith.minnumf")?, &[given, most], float);
        Some(self.cast(steps, given, float, to))
    }

    fn dequantize<S: Steps>(
        self,
        steps: &mut S,
        (number, integer): (S::Value, Element),
        scale: S::Value,
        zero: Option<(S::Value, Element)>,
        float: Element,
    ) -> Option<S::Value> {
        let difference = match zero {
            None => self.cast(steps, number, integer, float),
            Some((zero, of_zero)) => {
                // One more bit would do; the compiler takes twice as many.
                let wide = Element::Integer((2 * integer.width()).min(64));
                let number = self.cast(steps, number, integer, wide);
                let zero = self.cast(steps, zero, of_zero, wide);
                let subtract = scalar("arith.subi", wide, wide, "")?;
                let difference = steps.apply(subtract, &[number, zero], wide);
                steps.apply(Cast::between(wide, float, true)?, &[difference], float)
            }
        };
        let times = scalar("arith.mulf", float, float, "")?;
        Some(steps.apply(times, &[difference, scale], float))
    }

    fn cast<S: Steps>(
        self,
        steps: &mut S,
        number: S::Value,
        from: Element,
        to: Element,
    ) -> S::Value {
        if let Some(known) = steps.known(number).filter(|_| !from.is_float()) {
            return steps.number(known, to);
        }
        match Cast::between(from, to, !self.is_unsigned) {
            Some(cast) => steps.apply(cast, &[number], to),
            None => number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_and_signs_are_read() {
        let text = "<indexing_maps = [#map, affine_map<(d0) -> ()>, #map], quant_min = -128, \
                    quant_max = 127> ins(%0, %cst : tensor<4xf32>, f32) outs(%1 : tensor<4xi8>)";
        let signed = Quantized { quantizes: true, is_unsigned: false, least: -128, most: 127 };
        assert_eq!(Quantized::read(text, true), Some(signed));
        let text = "<indexing_maps = [#map, #map1, #map], quant_min = 0, quant_max = 255, \
                    input_unsigned> ins(%0, %cst : tensor<4xi8>, f32) outs(%1 : tensor<4xf32>)";
        let unsigned = Quantized { quantizes: false, is_unsigned: true, least: 0, most: 255 };
        assert_eq!(Quantized::read(text, false), Some(unsigned));
        assert_eq!(Quantized::read("<quant_min = 0> ins(%0 : f32)", true), None);
    }
}

//! Eight-bit floats. Each format has only 256: decoding follows the format's parameters, and
//! encoding searches for the nearest value.

/// The parameters of an eight-bit float format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SmallFloat {
    fraction_bits: u32,
    bias: i32,
    specials: Specials,
}

/// Which codes are infinities and NaN.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Specials {
    /// As in IEEE 754: the highest exponent holds infinity and NaN.
    Ieee,
    /// No infinity; NaN is all ones.
    AllOnes,
    /// No infinity and no negative zero; NaN is the code that negative zero would have.
    NegativeZero,
    /// Exponent only: no sign, no zero; NaN is all ones.
    ExponentOnly,
}

impl SmallFloat {
    pub(crate) const E5M2: Self = Self { fraction_bits: 2, bias: 15, specials: Specials::Ieee };
    pub(crate) const E4M3_FN: Self =
        Self { fraction_bits: 3, bias: 7, specials: Specials::AllOnes };
    pub(crate) const E5M2_FNUZ: Self =
        Self { fraction_bits: 2, bias: 16, specials: Specials::NegativeZero };
    pub(crate) const E4M3_FNUZ: Self =
        Self { fraction_bits: 3, bias: 8, specials: Specials::NegativeZero };
    pub(crate) const E8M0_FNU: Self =
        Self { fraction_bits: 0, bias: 127, specials: Specials::ExponentOnly };

    /// The number with this code.
    pub(crate) fn decode(self, code: u8) -> f32 {
        let magnitude = if self.has_sign() { code & 0x7F } else { code };
        let sign = if self.has_sign() && code & 0x80 != 0 { -1.0 } else { 1.0 };
        let exponent = i32::from(magnitude >> self.fraction_bits);
        let fraction = u32::from(magnitude) & ((1 << self.fraction_bits) - 1);
        let highest = 0x7F >> self.fraction_bits;
        match self.specials {
            Specials::Ieee if exponent == highest => {
                return if fraction == 0 { sign * f32::INFINITY } else { f32::NAN };
            }
            Specials::AllOnes if magnitude == 0x7F => return f32::NAN,
            Specials::NegativeZero if code == 0x80 => return f32::NAN,
            Specials::ExponentOnly if code == 0xFF => return f32::NAN,
            Specials::ExponentOnly => return 2_f32.powi(exponent - self.bias),
            _ => {}
        }
        let scale = 2_f32.powi(-(self.fraction_bits.cast_signed()));
        let fraction = fraction as f32 * scale;
        if exponent == 0 {
            sign * fraction * 2_f32.powi(1 - self.bias)
        } else {
            sign * (1.0 + fraction) * 2_f32.powi(exponent - self.bias)
        }
    }

    /// The code of the number nearest to `value`; of two equally near ones, the even code. Values
    /// beyond the greatest number become infinity, or NaN if there is no infinity.
    pub(crate) fn encode(self, value: f32) -> u8 {
        let nan = match self.specials {
            Specials::Ieee => 0x7E,
            Specials::AllOnes => 0x7F,
            Specials::NegativeZero => 0x80,
            Specials::ExponentOnly => 0xFF,
        };
        if value.is_nan() {
            return nan;
        }
        if !self.has_sign() && value <= 0.0 {
            // The format's least number.
            return 0;
        }
        let codes = if self.has_sign() { 0..=0x7F_u8 } else { 0..=0xFF };
        let numbers = codes.filter(|code| self.decode(*code).is_finite());
        let magnitude = f64::from(value.abs());
        let distance = |code: u8| (f64::from(self.decode(code)) - magnitude).abs();
        let nearest = numbers.clone().min_by(|a, b| {
            distance(*a).total_cmp(&distance(*b)).then_with(|| self.rank_of_tie(*a, *b))
        });
        let Some(nearest) = nearest else { return nan };
        let sign = if self.has_sign() && value.is_sign_negative() { 0x80 } else { 0 };
        let greatest = numbers.max().unwrap_or(nearest);
        // Half a step beyond the greatest number rounds to the even one of the two codes.
        let step = f64::from(self.decode(greatest)) - f64::from(self.decode(greatest - 1));
        let limit = f64::from(self.decode(greatest)) + step / 2.0;
        let is_even = greatest & 1 == 0 && self.has_sign();
        if magnitude > limit || magnitude == limit && !is_even {
            return match self.specials {
                Specials::Ieee => sign | 0x7C,
                Specials::AllOnes => sign | nan,
                _ => nan,
            };
        }
        if nearest == 0 && self.specials == Specials::NegativeZero { 0 } else { sign | nearest }
    }

    /// Which of two equally near numbers is chosen: the even code, except that formats with only an
    /// exponent take the greater power of two.
    fn rank_of_tie(self, a: u8, b: u8) -> std::cmp::Ordering {
        match self.specials {
            Specials::ExponentOnly => b.cmp(&a),
            _ => (a & 1).cmp(&(b & 1)),
        }
    }

    fn has_sign(self) -> bool {
        self.specials != Specials::ExponentOnly
    }
}

#[cfg(test)]
mod tests {
    use super::SmallFloat;

    #[test]
    fn every_number_survives_a_round_trip() {
        for format in [
            SmallFloat::E5M2,
            SmallFloat::E4M3_FN,
            SmallFloat::E5M2_FNUZ,
            SmallFloat::E4M3_FNUZ,
            SmallFloat::E8M0_FNU,
        ] {
            for code in 0..=0xFF {
                let value = format.decode(code);
                if value.is_nan() {
                    assert!(format.decode(format.encode(value)).is_nan());
                } else {
                    assert_eq!(format.encode(value), code, "{format:?} {value}");
                }
            }
        }
    }

    #[test]
    fn known_values() {
        assert_eq!(SmallFloat::E4M3_FN.decode(0x7E), 448.0);
        assert_eq!(SmallFloat::E5M2.decode(0x7B), 57344.0);
        assert_eq!(SmallFloat::E4M3_FNUZ.decode(0x7F), 240.0);
        assert_eq!(SmallFloat::E5M2_FNUZ.decode(0x7F), 57344.0);
        assert_eq!(SmallFloat::E8M0_FNU.decode(127), 1.0);
        assert_eq!(SmallFloat::E5M2.encode(1e9), 0x7C);
        assert!(SmallFloat::E4M3_FN.decode(SmallFloat::E4M3_FN.encode(1e9)).is_nan());
        assert_eq!(SmallFloat::E4M3_FN.encode(1.0625), SmallFloat::E4M3_FN.encode(1.0));
    }
}

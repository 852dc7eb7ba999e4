//! Integer arithmetic of the VM, and its overflows.

use debuginfo::RegisterSlot;
use vmfb::Instruction;
use vmfb::isa::Bank;

use super::registers::registers_read;

/// The kinds of integer arithmetic that can overflow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Add,
    Subtract,
    Multiply,
    MultiplyAdd,
    Divide,
    Absolute,
    Shift,
}

/// An instruction of integer arithmetic.
#[derive(Clone, Debug)]
pub(crate) struct Integer {
    pub(crate) kind: Kind,
    /// The width of its result.
    pub(crate) bits: u32,
    pub(crate) result: RegisterSlot,
    pub(crate) operands: Vec<RegisterSlot>,
}

/// The kinds of errors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Wrong {
    Overflow,
    /// A shift by this many bits.
    Shift(u64),
}

impl Integer {
    /// The integer arithmetic of an instruction, if it can overflow.
    pub(crate) fn of(instruction: &Instruction<'_>) -> Option<Self> {
        let mut parts = instruction.op.mnemonic().split('.');
        let kind = match parts.next()? {
            "add" => Kind::Add,
            "sub" => Kind::Subtract,
            "mul" => Kind::Multiply,
            "fma" => Kind::MultiplyAdd,
            // Only signed division has a quotient that does not fit.
            "div" | "rem" if instruction.op.mnemonic().ends_with(".s") => Kind::Divide,
            "abs" => Kind::Absolute,
            "shl" | "shr" => Kind::Shift,
            _ => return None,
        };
        let result = instruction.register_uses().find(|it| it.is_write)?;
        let ordinal = result.register.ordinal();
        let (bits, result) = match result.bank {
            Bank::I32 => (32, RegisterSlot::I32(ordinal)),
            Bank::I64 => (64, RegisterSlot::I64(ordinal)),
            _ => return None,
        };
        Some(Self { kind, bits, result, operands: registers_read(instruction) })
    }
}

/// The error in a computation with `bits` bits, if there is one. Bits above them are ignored.
pub(crate) fn wrong(kind: Kind, bits: u32, operands: [i64; 3]) -> Option<Wrong> {
    let unused = 64 - bits;
    let narrow = |value: i64| value << unused >> unused;
    let [a, b, c] = operands.map(narrow);
    let result = match kind {
        Kind::Add => a.checked_add(b),
        Kind::Subtract => a.checked_sub(b),
        Kind::Multiply => a.checked_mul(b),
        Kind::MultiplyAdd => {
            let product = a.checked_mul(b).filter(|product| narrow(*product) == *product);
            product.and_then(|product| product.checked_add(c))
        }
        // A division by zero fails by itself.
        Kind::Divide if b == 0 => return None,
        Kind::Divide => a.checked_div(b),
        Kind::Absolute => a.checked_abs(),
        Kind::Shift => {
            let amount = operands[1].cast_unsigned() << unused >> unused;
            return (amount >= bits.into()).then_some(Wrong::Shift(amount));
        }
    };
    let fits = result.is_some_and(|result| narrow(result) == result);
    (!fits).then_some(Wrong::Overflow)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The exact result, in a wider type.
    fn exact(kind: Kind, [a, b, c]: [i128; 3]) -> Option<i128> {
        Some(match kind {
            Kind::Add => a + b,
            Kind::Subtract => a - b,
            Kind::Multiply => a * b,
            Kind::MultiplyAdd => a * b + c,
            Kind::Divide => a.checked_div(b)?,
            Kind::Absolute => a.abs(),
            Kind::Shift => return None,
        })
    }

    #[test]
    fn overflows_are_those_of_exact_arithmetic() {
        let kinds = [
            Kind::Add,
            Kind::Subtract,
            Kind::Multiply,
            Kind::MultiplyAdd,
            Kind::Divide,
            Kind::Absolute,
        ];
        let mut state = 1_u64;
        let mut counts = [0_u32; 2];
        for round in 0..200_000_u32 {
            let bits = [8, 16, 32, 64][round as usize % 4];
            let (low, high) = (-(1_i128 << (bits - 1)), (1_i128 << (bits - 1)) - 1);
            let mut operand = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let random = i128::from((state >> 3) as i64) % (high + 1);
                let small = random.rem_euclid(7) - 3;
                [
                    random,
                    small,
                    low,
                    high,
                    low + small.abs(),
                    high - small.abs(),
                    random >> (bits / 2),
                ][(state >> 40) as usize % 7]
            };
            let operands = [operand(), operand(), operand()];
            let words = operands.map(|it| it as i64);
            for kind in kinds {
                let Some(result) = exact(kind, operands) else {
                    assert_eq!(wrong(kind, bits, words), None);
                    continue;
                };
                let product = operands[0] * operands[1];
                let fits = |it: i128| (low..=high).contains(&it);
                let is_fine = fits(result) && (kind != Kind::MultiplyAdd || fits(product));
                let expected = (!is_fine).then_some(Wrong::Overflow);
                counts[usize::from(is_fine)] += 1;
                assert_eq!(wrong(kind, bits, words), expected, "{kind:?} {operands:?} in {bits}");
                // Bits above those that count change nothing.
                if bits < 64 {
                    let dirty = words.map(|it| it ^ (state as i64) << bits);
                    assert_eq!(wrong(kind, bits, dirty), expected, "{kind:?} {dirty:?} in {bits}");
                }
            }
            let amount = operands[1] as i64;
            let unsigned = operands[1].rem_euclid(1 << bits);
            let expected = (unsigned >= bits.into()).then_some(Wrong::Shift(unsigned as u64));
            assert_eq!(wrong(Kind::Shift, bits, [1, amount, 0]), expected, "{amount} in {bits}");
        }
        assert!(counts.iter().all(|count| *count > 100_000), "{counts:?}");
    }
}

//! One thread of a kernel: its registers, and what instructions do to them.

use half::f16;

use crate::memory::{self, IllegalAddress};
use crate::ptx::{Instruction, Kernel, Operand, size_of};

/// Where a thread is among all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Position {
    pub(crate) thread: [u32; 3],
    pub(crate) threads: [u32; 3],
    pub(crate) workgroup: [u32; 3],
    pub(crate) workgroups: [u32; 3],
    pub(crate) lane: u32,
}

/// A thread.
#[derive(Debug)]
pub(crate) struct Thread {
    pub(crate) position: Position,
    pub(crate) registers: Vec<u64>,
    pub(crate) counter: usize,
    pub(crate) has_ended: bool,
}

/// Why a thread stops running.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It has ended.
    End,
    /// It waits for its workgroup.
    Barrier,
    /// It waits for its warp: where the value goes and where it comes from.
    Shuffle,
}

/// How a thread fails.
#[derive(Clone, Debug)]
pub(crate) enum Fault {
    IllegalAddress,
    Unknown(String),
}

impl From<IllegalAddress> for Fault {
    fn from(_: IllegalAddress) -> Self {
        Self::IllegalAddress
    }
}

/// Where the memory that a workgroup shares seems to be.
const SHARED: u64 = 1 << 56;

/// What a thread runs in.
pub(crate) struct Surroundings<'a> {
    pub(crate) kernel: &'a Kernel,
    pub(crate) parameters: &'a [u64],
    pub(crate) shared: &'a mut [u8],
}

impl Thread {
    /// Runs until there is something to wait for.
    pub(crate) fn run(&mut self, around: &mut Surroundings<'_>) -> Result<Stop, Fault> {
        while let Some(instruction) = around.kernel.instructions.get(self.counter) {
            if let Some((register, is_negated)) = instruction.guard
                && (self.registers[register] != 0) == is_negated
            {
                self.counter += 1;
                continue;
            }
            match instruction.words[0].as_str() {
                "ret" | "exit" => break,
                "bra" => {
                    let Operand::Target(target) = instruction.operands[0] else {
                        return Err(unknown(instruction));
                    };
                    self.counter = target;
                    continue;
                }
                "bar" | "barrier" => {
                    self.counter += 1;
                    return Ok(Stop::Barrier);
                }
                "shfl" => return Ok(Stop::Shuffle),
                _ => self.step(instruction, around)?,
            }
            self.counter += 1;
        }
        self.has_ended = true;
        Ok(Stop::End)
    }

    fn special(&self, name: &str) -> Option<u64> {
        let Position { thread, threads, workgroup, workgroups, lane } = self.position;
        let (name, axis) = name.split_once('.').unwrap_or((name, "x"));
        let axis = ["x", "y", "z"].iter().position(|it| *it == axis)?;
        let value = match name {
            "%tid" => thread[axis],
            "%ntid" => threads[axis],
            "%ctaid" => workgroup[axis],
            "%nctaid" => workgroups[axis],
            "%laneid" => lane,
            _ => return None,
        };
        Some(value.into())
    }

    /// The bits of an operand.
    pub(crate) fn get(&self, operand: &Operand, around: &Surroundings<'_>) -> Option<u64> {
        Some(match operand {
            Operand::Register(register) => self.registers[*register],
            Operand::Number(number) => *number,
            Operand::Special(name) => self.special(name)?,
            Operand::Name(name) => {
                let shared = around.kernel.shared.get(name).map(|offset| SHARED + offset);
                shared.or_else(|| around.kernel.globals.get(name).copied())?
            }
            _ => return None,
        })
    }

    pub(crate) fn set(&mut self, operand: &Operand, value: u64) {
        if let Operand::Register(register) = operand {
            self.registers[*register] = value;
        }
    }

    fn step(
        &mut self,
        instruction: &Instruction,
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let words: Vec<&str> = instruction.words.iter().map(String::as_str).collect();
        let last = words[words.len() - 1];
        let [target, operands @ ..] = &instruction.operands[..] else {
            return Err(unknown(instruction));
        };
        if words[0] == "ld" || words[0] == "st" {
            return self.access(instruction, &words, around);
        }
        // Several registers in one, or one in several.
        if words[0] == "mov"
            && let (Operand::Vector(parts), whole) | (whole, Operand::Vector(parts)) =
                (target, &operands[0])
        {
            let bits = 8 * size_of(last).ok_or_else(|| unknown(instruction))? / parts.len();
            let mask = u64::MAX >> (64 - bits);
            if whole == target {
                let parts = parts.iter().map(|it| self.get(it, around));
                let parts = parts.collect::<Option<Vec<u64>>>();
                let parts = parts.ok_or_else(|| unknown(instruction))?;
                let joined = parts.iter().rev().fold(0, |all, part| {
                    if bits == 64 { *part } else { all << bits | part & mask }
                });
                self.set(target, joined);
            } else {
                let whole = self.get(whole, around).ok_or_else(|| unknown(instruction))?;
                for (index, part) in parts.iter().enumerate() {
                    self.set(part, whole >> (bits * index) & mask);
                }
            }
            return Ok(());
        }
        let values = operands.iter().map(|it| self.get(it, around));
        let values = values.collect::<Option<Vec<u64>>>().ok_or_else(|| unknown(instruction))?;
        let value = computed(&words, &values).ok_or_else(|| unknown(instruction))?;
        self.set(target, value);
        Ok(())
    }

    /// `ld` and `st`.
    fn access(
        &mut self,
        instruction: &Instruction,
        words: &[&str],
        around: &mut Surroundings<'_>,
    ) -> Result<(), Fault> {
        let kind = words[words.len() - 1];
        let size = size_of(kind).ok_or_else(|| unknown(instruction))?;
        let is_load = words[0] == "ld";
        let [first, second] = &instruction.operands[..] else { return Err(unknown(instruction)) };
        let (value, place) = if is_load { (first, second) } else { (second, first) };
        let Operand::Memory(base, offset) = place else { return Err(unknown(instruction)) };
        let parts = match value {
            Operand::Vector(parts) => parts.as_slice(),
            one => std::slice::from_ref(one),
        };
        if words.contains(&"param") {
            let Operand::Name(name) = &**base else { return Err(unknown(instruction)) };
            let index = around.kernel.parameters.iter().position(|(_, it)| it == name);
            let index = index.ok_or_else(|| unknown(instruction))?;
            self.set(value, around.parameters[index] >> (8 * offset));
            return Ok(());
        }
        let base = self.get(base, around).ok_or_else(|| unknown(instruction))?;
        for (index, part) in parts.iter().enumerate() {
            let address = base.wrapping_add_signed(*offset).wrapping_add((index * size) as u64);
            let in_shared = words.contains(&"shared") || address >= SHARED;
            let at = (address & (SHARED - 1)) as usize;
            if is_load {
                let bits = if in_shared {
                    let bytes = around.shared.get(at..at + size).ok_or(Fault::IllegalAddress)?;
                    bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte))
                } else {
                    memory::read(address, size)?
                };
                let signed = if kind.starts_with('s') { extended(bits, 8 * size) } else { bits };
                self.set(part, signed);
            } else {
                let bits = self.get(part, around).ok_or_else(|| unknown(instruction))?;
                if in_shared {
                    let bytes =
                        around.shared.get_mut(at..at + size).ok_or(Fault::IllegalAddress)?;
                    bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
                } else {
                    memory::write(address, size, bits)?;
                }
            }
        }
        Ok(())
    }
}

fn unknown(instruction: &Instruction) -> Fault {
    Fault::Unknown(instruction.words.join("."))
}

/// The low bits of a number as a signed one.
fn extended(bits: u64, count: usize) -> u64 {
    let shift = 64 - count;
    (((bits << shift).cast_signed()) >> shift).cast_unsigned()
}

fn f32_of(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// What an instruction makes of its operands.
fn computed(words: &[&str], values: &[u64]) -> Option<u64> {
    let kind = *words.last()?;
    let [a, b, c] = [0, 1, 2].map(|index| values.get(index).copied().unwrap_or_default());
    match words[0] {
        "cvt" => return converted(words, a),
        "cvta" | "mov" => return Some(a),
        "selp" => return Some(if c != 0 { a } else { b }),
        "setp" => return compared(words, a, b).map(u64::from),
        _ => {}
    }
    match kind {
        "f32" => {
            let [a, b, c] = [a, b, c].map(f32_of);
            float(words, [a, b, c].map(f64::from), || a.mul_add(b, c).into())
                .map(|value| (value as f32).to_bits().into())
        }
        "f64" => {
            let [a, b, c] = [a, b, c].map(f64::from_bits);
            float(words, [a, b, c], || a.mul_add(b, c)).map(f64::to_bits)
        }
        "f16" => {
            let [a, b, c] = [a, b, c].map(|it| f16::from_bits(it as u16).to_f64());
            // The product of two is exact in twice as many bits, so the sum is rounded once.
            float(words, [a, b, c], || a.mul_add(b, c))
                .map(|value| f16::from_f64(value).to_bits().into())
        }
        "pred" => logical(words[0], a, b).map(|it| it & 1),
        _ => integer(words, kind, [a, b, c]),
    }
}

/// Arithmetic of floats. In twice as many bits, results of one operation are rounded as they are in
/// the type itself.
fn float(words: &[&str], [a, b, _]: [f64; 3], fused: impl Fn() -> f64) -> Option<f64> {
    let keeps_nan = words.contains(&"NaN") && (a.is_nan() || b.is_nan());
    Some(match words[0] {
        "add" => a + b,
        "sub" => a - b,
        "mul" => a * b,
        "div" => a / b,
        "fma" | "mad" => fused(),
        "neg" => -a,
        "abs" => a.abs(),
        "sqrt" => a.sqrt(),
        "rsqrt" => 1.0 / a.sqrt(),
        "rcp" => 1.0 / a,
        "ex2" => a.exp2(),
        "lg2" => a.log2(),
        "sin" => a.sin(),
        "cos" => a.cos(),
        "tanh" => a.tanh(),
        "copysign" => b.copysign(a),
        "max" | "min" if keeps_nan => f64::NAN,
        "max" => a.max(b),
        "min" => a.min(b),
        _ => return None,
    })
}

fn logical(name: &str, a: u64, b: u64) -> Option<u64> {
    Some(match name {
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "not" => !a,
        _ => return None,
    })
}

fn integer(words: &[&str], kind: &str, [a, b, c]: [u64; 3]) -> Option<u64> {
    let bits = 8 * size_of(kind)?;
    let mask = u64::MAX >> (64 - bits);
    let is_signed = kind.starts_with('s');
    let wide = |it: u64| -> i128 {
        if is_signed { extended(it, bits).cast_signed().into() } else { (it & mask).into() }
    };
    let product = wide(a).wrapping_mul(wide(b));
    let amount = (b & 0xFFFF_FFFF) as usize;
    let value = match words[0] {
        "add" => wide(a) + wide(b),
        "sub" => wide(a) - wide(b),
        "mul" | "mad" => {
            let product = match words[1] {
                "hi" => product >> bits,
                // Twice as many bits.
                "wide" if words[0] == "mul" => return Some(product as u64),
                "wide" => return Some((product + i128::from(c)) as u64),
                _ => product,
            };
            if words[0] == "mad" { product + wide(c) } else { product }
        }
        "div" => wide(a).checked_div(wide(b))?,
        "rem" => wide(a).checked_rem(wide(b))?,
        "min" => wide(a).min(wide(b)),
        "max" => wide(a).max(wide(b)),
        "neg" => -wide(a),
        "abs" => wide(a).abs(),
        "shl" if amount >= bits => 0,
        "shl" => wide(a) << amount,
        "shr" => wide(a) >> amount.min(bits),
        // Some bits of a number, from a place on.
        "bfe" if is_signed => return None,
        "bfe" => {
            let (place, count) = (b as u32 & 0xFF, c as u32 & 0xFF);
            let field = (a & mask).checked_shr(place).unwrap_or_default();
            return Some(field & 1_u64.checked_shl(count).map_or(u64::MAX, |it| it - 1));
        }
        "popc" => return Some((a & mask).count_ones().into()),
        "clz" => return Some(((a & mask).leading_zeros() as usize + bits - 64) as u64),
        name => logical(name, a, b)?.into(),
    };
    Some(value as u64 & mask)
}

fn compared(words: &[&str], a: u64, b: u64) -> Option<bool> {
    let (name, kind) = (*words.get(1)?, *words.last()?);
    let order = match kind {
        "f32" => f32_of(a).partial_cmp(&f32_of(b)),
        "f64" => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        "f16" => f16::from_bits(a as u16).partial_cmp(&f16::from_bits(b as u16)),
        _ => {
            let bits = 8 * size_of(kind)?;
            let mask = u64::MAX >> (64 - bits);
            Some(if kind.starts_with('s') {
                extended(a, bits).cast_signed().cmp(&extended(b, bits).cast_signed())
            } else {
                (a & mask).cmp(&(b & mask))
            })
        }
    };
    // `ltu` and its like are true of NaN.
    let (name, of_nan) = match name {
        "nan" => return Some(order.is_none()),
        "num" => return Some(order.is_some()),
        "equ" | "neu" | "ltu" | "leu" | "gtu" | "geu" => (&name[..2], true),
        other => (other, false),
    };
    let Some(order) = order else { return Some(of_nan) };
    Some(match name {
        "eq" => order.is_eq(),
        "ne" => order.is_ne(),
        "lt" | "lo" => order.is_lt(),
        "le" | "ls" => order.is_le(),
        "gt" | "hi" => order.is_gt(),
        "ge" | "hs" => order.is_ge(),
        _ => return None,
    })
}

/// `cvt.rn.f32.s32`: rounding, the new type, the old one.
fn converted(words: &[&str], a: u64) -> Option<u64> {
    let [.., to, from] = words else { return None };
    let size = size_of(to)?;
    let mask = u64::MAX >> (64 - 8 * size);
    let float = match *from {
        "f16" => Some(f16::from_bits(a as u16).to_f64()),
        "f32" => Some(f32_of(a).into()),
        "f64" => Some(f64::from_bits(a)),
        _ => None,
    };
    let bits = 8 * size_of(from)?;
    let is_signed = from.starts_with('s');
    let whole: i128 = if is_signed {
        extended(a, bits).cast_signed().into()
    } else {
        (a & (u64::MAX >> (64 - bits))).into()
    };
    let rounded = float.map(|it| {
        let rounds = |name: &str| words.contains(&name);
        match () {
            () if rounds("rzi") => it.trunc(),
            () if rounds("rmi") => it.floor(),
            () if rounds("rpi") => it.ceil(),
            () if rounds("rni") => it.round_ties_even(),
            () => it,
        }
    });
    Some(match (*to, rounded) {
        ("f16", Some(value)) => f16::from_f64(value).to_bits().into(),
        ("f16", None) => f16::from_f64(whole as f64).to_bits().into(),
        ("f32", Some(value)) => (value as f32).to_bits().into(),
        ("f32", None) => (whole as f32).to_bits().into(),
        ("f64", Some(value)) => value.to_bits(),
        ("f64", None) => (whole as f64).to_bits(),
        // Out of range is the nearest number that there is.
        ("s8", Some(value)) => (value as i8).cast_unsigned().into(),
        ("s16", Some(value)) => (value as i16).cast_unsigned().into(),
        ("s32", Some(value)) => (value as i32).cast_unsigned().into(),
        ("s64", Some(value)) => (value as i64).cast_unsigned(),
        ("u8", Some(value)) => (value as u8).into(),
        ("u16", Some(value)) => (value as u16).into(),
        ("u32", Some(value)) => (value as u32).into(),
        ("u64", Some(value)) => value as u64,
        (_, Some(_)) => return None,
        (_, None) => whole as u64 & mask,
    })
}

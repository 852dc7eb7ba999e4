//! Samples of the values that nothing is known of.
//!
//! The first samples are of everyday size, so that comparisons go either way and results differ.
//! Then come the values at which guards act: NaN, infinities, zeros of both signs, the smallest and
//! the largest numbers, and each number that the programs compute with, with its neighbours. Each
//! leaf gets each of these once, while about half of the other leaves have everyday values.

use super::arithmetic::Scalar;
use super::equal::{Sample, mix};
use super::graph::{Graph, Kind};

/// How many samples are of everyday size.
const ORDINARY: usize = 48;
/// The most special values of a type. Programs with more constants have samples of only some of
/// them; what the others do, terms alone can tell.
const MOST_SPECIAL: usize = 128;

/// Draws samples.
#[derive(Debug, Default)]
pub(crate) struct Draw {
    /// The integers that the programs compute with.
    constants: Vec<u64>,
    integers: Vec<u64>,
    singles: Vec<f32>,
    doubles: Vec<f64>,
    /// The length of the longest list of special values.
    special: usize,
}

impl Draw {
    pub(crate) fn new(graphs: [&Graph; 2]) -> Self {
        let (mut constants, mut floats) = (Vec::new(), Vec::new());
        for graph in graphs {
            for node in &graph.nodes {
                // A number that is only passed on, as to a call, is no guard's.
                let Kind::Pure(_, operands) = &node.kind else { continue };
                for operand in operands {
                    let operand = &graph.nodes[graph.resolve(*operand)];
                    match (&operand.kind, operand.scalar) {
                        (Kind::Constant(bits), Some(Scalar::F32)) => {
                            floats.push(f64::from(f32::from_bits(*bits as u32)).to_bits());
                        }
                        (Kind::Constant(bits), Some(Scalar::F64)) => floats.push(*bits),
                        (Kind::Constant(bits), Some(Scalar::Int(_))) => constants.push(*bits),
                        _ => {}
                    }
                }
            }
        }
        for found in [&mut constants, &mut floats] {
            found.sort_unstable();
            found.dedup();
        }
        let mut draw = Self {
            integers: special_integers(&constants),
            singles: special_singles(&floats),
            doubles: special_doubles(&floats),
            constants,
            special: 0,
        };
        draw.special = draw.integers.len().max(draw.singles.len()).max(draw.doubles.len());
        draw
    }

    /// How many samples each value has.
    pub(crate) fn count(&self) -> usize {
        ORDINARY + 2 * self.special
    }

    /// The samples of a leaf, or of a value that a loop carries.
    pub(crate) fn sample(&self, seed: u64, scalar: Option<Scalar>) -> Box<Sample> {
        let sample = (0..self.count()).map(|index| {
            let random = mix(mix(seed) ^ index as u64);
            match scalar {
                Some(scalar @ Scalar::Int(_)) => {
                    let special = self.special(&self.integers, seed, index);
                    scalar.cut(special.unwrap_or_else(|| self.integer(index, random)))
                }
                Some(Scalar::F32) => {
                    let special = self.special(&self.singles, seed, index);
                    u64::from(special.unwrap_or_else(|| float(index, random) as f32).to_bits())
                }
                Some(Scalar::F64) => {
                    let special = self.special(&self.doubles, seed, index);
                    special.unwrap_or_else(|| float(index, random)).to_bits()
                }
                None => random,
            }
        });
        sample.collect()
    }

    /// The special value of a sample, if it has one. There are two rounds; each special value comes
    /// in one of them.
    fn special<T: Copy>(&self, special: &[T], seed: u64, index: usize) -> Option<T> {
        let at = index.checked_sub(ORDINARY)?;
        let (round, at) = (at / self.special, at % self.special);
        // Each leaf begins elsewhere, so that special values meet different ones.
        let from = (mix(seed ^ 5) % self.special as u64) as usize;
        let which = (at + from) % self.special;
        let is_second = mix(seed ^ 9 ^ (at as u64) << 20) & 1 == 1;
        special.get(which).copied().filter(|_| is_second == (round == 1))
    }

    fn integer(&self, index: usize, random: u64) -> u64 {
        let pick = mix(random);
        match index % 4 {
            0 => (pick % 9).wrapping_sub(2),
            1 if !self.constants.is_empty() => {
                let constant = self.constants[(pick % self.constants.len() as u64) as usize];
                constant.wrapping_add((pick >> 32) % 3).wrapping_sub(1)
            }
            2 => pick % 1000,
            _ => random,
        }
    }
}

/// A finite float of any magnitude; small integers are frequent, so that samples coincide.
pub(crate) fn float(index: usize, random: u64) -> f64 {
    let fraction = (random >> 12) as f64 / (1_u64 << 52) as f64;
    match index % 4 {
        0 => (random % 9) as f64 - 2.0,
        1 => fraction - 0.5,
        2 => (fraction - 0.5) * 1000.0,
        _ => (fraction - 0.5) * 2_f64.powi((random % 40) as i32 - 20),
    }
}

fn special_integers(constants: &[u64]) -> Vec<u64> {
    let mut found = vec![0, 1, u64::MAX];
    for bits in [8, 16, 32, 64] {
        found.extend([u64::MAX >> (65 - bits), 1 << (bits - 1)]);
    }
    found.extend(constants);
    found.extend(constants.iter().map(|constant| constant.wrapping_add(1)));
    found.extend(constants.iter().map(|constant| constant.wrapping_sub(1)));
    found.truncate(MOST_SPECIAL);
    found
}

/// The special values of a float type, given the bits of the constants as doubles.
macro_rules! special_floats {
    ($name:ident, $float:ty) => {
        fn $name(constants: &[u64]) -> Vec<$float> {
            let tiny = <$float>::from_bits(1);
            let mut found = vec![<$float>::NAN, <$float>::INFINITY, <$float>::NEG_INFINITY];
            found.extend([0.0, -0.0, <$float>::MAX, <$float>::MIN, <$float>::MIN_POSITIVE]);
            found.extend([tiny, -tiny]);
            let constants = || constants.iter().map(|bits| f64::from_bits(*bits) as $float);
            found.extend(constants());
            found.extend(
                constants().flat_map(|constant| [constant.next_up(), constant.next_down()]),
            );
            found.extend(constants().map(|constant| -constant));
            found.truncate(MOST_SPECIAL);
            found
        }
    };
}

special_floats!(special_singles, f32);
special_floats!(special_doubles, f64);

#[cfg(test)]
mod tests {
    use super::{Draw, Graph, Kind, Scalar};
    use mlir::{FloatBinary, IntegerBinary, Scalar as Function};

    /// Each constant that is computed with is a sample of each leaf, as are NaN and infinities.
    #[test]
    fn every_leaf_gets_every_special_value() {
        let mut graph = Graph::default();
        let block = graph.add_block();
        let mut uses = |bits: u64, scalar, function: Function| {
            let constant = graph.add(Kind::Constant(bits), Some(scalar), block);
            let operation = Kind::Pure(function.into(), vec![constant, constant]);
            graph.add(operation, Some(scalar), block);
        };
        for pad in 50_000..50_030 {
            uses(pad, Scalar::Int(32), Function::IntegerBinary(IntegerBinary::Xor, 32));
        }
        let least = Function::FloatBinary(FloatBinary::Minimum, Scalar::F32.element());
        uses(u64::from(1.0e6_f32.to_bits()), Scalar::F32, least);
        let draw = Draw::new([&graph, &Graph::default()]);
        for seed in 0..20 {
            let integers = draw.sample(seed, Some(Scalar::Int(32)));
            assert!((49_999..50_031).all(|pad| integers.contains(&pad)));
            let floats = draw.sample(seed, Some(Scalar::F32));
            let floats: Vec<f32> = floats.iter().map(|bits| f32::from_bits(*bits as u32)).collect();
            assert!(floats.iter().any(|it| it.is_nan()));
            assert!(floats.iter().any(|it| *it == 0.0 && it.is_sign_negative()));
            let clamp = 1.0e6_f32;
            let special = [f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN, f32::from_bits(1)];
            let special = special.into_iter().chain([clamp, clamp.next_up(), clamp.next_down()]);
            assert!(special.into_iter().all(|it| floats.contains(&it)));
        }
    }
}

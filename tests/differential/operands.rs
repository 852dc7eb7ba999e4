//! The operands: edges of each type, and random values.

use vmfb::isa::Bank;

/// Edges of 32-bit integers, including shift amounts past either width.
const I32: &[i32] = &[
    0,
    1,
    -1,
    2,
    -2,
    3,
    -3,
    7,
    8,
    10,
    15,
    16,
    31,
    32,
    33,
    63,
    64,
    65,
    127,
    128,
    -128,
    -129,
    255,
    256,
    0x7FFF,
    0x8000,
    -0x8000,
    0xFFFF,
    0x1_0000,
    0xFF_FFFF,
    0x100_0000,
    0x100_0001,
    0x5555_5555,
    i32::MAX - 1,
    i32::MAX,
    i32::MIN,
    i32::MIN + 1,
];

const I64: &[i64] = &[
    0,
    1,
    -1,
    2,
    -2,
    3,
    -7,
    8,
    31,
    32,
    33,
    63,
    64,
    127,
    128,
    255,
    0xFFFF,
    0x7FFF_FFFF,
    0x8000_0000,
    0xFFFF_FFFF,
    0x1_0000_0000,
    0x1_0000_0001,
    -0x8000_0000,
    -0x8000_0001,
    (1 << 24) + 1,
    1 << 53,
    (1 << 53) + 1,
    -(1 << 53) - 1,
    (1 << 62) + 1,
    0x7FFF_FF80_0000_0000,
    0x7FFF_FFC0_0000_0000,
    0x5555_5555_5555_5555,
    i64::MAX - 1,
    i64::MAX,
    i64::MIN,
    i64::MIN + 1,
];

/// Edges of f32, as bits: zeros, small and large, halves, powers of two around the integer types,
/// denormals, infinities, and NaNs quiet and signalling, with payloads and signs.
const F32: &[u32] = &[
    0x0000_0000,
    0x8000_0000,
    0x3F80_0000,
    0xBF80_0000,
    0x3F00_0000,
    0xBF00_0000,
    0x3EFF_FFFF,
    0x3F00_0001,
    0x3FC0_0000,
    0xBFC0_0000,
    0x4020_0000,
    0xC020_0000,
    0x4060_0000,
    0x0000_0001,
    0x8000_0001,
    0x007F_FFFF,
    0x0080_0000,
    0x8080_0000,
    0x7F7F_FFFF,
    0xFF7F_FFFF,
    0x7F80_0000,
    0xFF80_0000,
    0x7FC0_0000,
    0xFFC0_0000,
    0x7FC1_2345,
    0x7F80_0001,
    0xFFA5_5AA5,
    0x4AFF_FFFF,
    0x4B00_0001,
    0x4B80_0000,
    0x4EFF_FFFF,
    0x4F00_0000,
    0xCF00_0000,
    0xCF00_0001,
    0x4F7F_FFFF,
    0x4F80_0000,
    0x5EFF_FFFF,
    0x5F00_0000,
    0xDF00_0000,
    0x5F7F_FFFF,
    0x5F80_0000,
    0xDF80_0000,
    0x4049_0FDB,
    0x402D_F854,
    0x3DCC_CCCD,
    0x2EDB_E6FF,
    0x42C8_0000,
    0xC2C8_0000,
    0x4B18_967F,
];

/// The same for f64.
const F64: &[u64] = &[
    0x0000_0000_0000_0000,
    0x8000_0000_0000_0000,
    0x3FF0_0000_0000_0000,
    0xBFF0_0000_0000_0000,
    0x3FE0_0000_0000_0000,
    0xBFE0_0000_0000_0000,
    0x3FDF_FFFF_FFFF_FFFF,
    0x3FF8_0000_0000_0000,
    0xBFF8_0000_0000_0000,
    0x4004_0000_0000_0000,
    0xC004_0000_0000_0000,
    0x0000_0000_0000_0001,
    0x8000_0000_0000_0001,
    0x000F_FFFF_FFFF_FFFF,
    0x0010_0000_0000_0000,
    0x7FEF_FFFF_FFFF_FFFF,
    0xFFEF_FFFF_FFFF_FFFF,
    0x7FF0_0000_0000_0000,
    0xFFF0_0000_0000_0000,
    0x7FF8_0000_0000_0000,
    0xFFF8_0000_0000_0000,
    0x7FF8_0000_1234_5678,
    0x7FF0_0000_0000_0001,
    0xFFF4_0000_0000_0000,
    0x41DF_FFFF_FFC0_0000,
    0x41DF_FFFF_FFE0_0000,
    0x41E0_0000_0000_0000,
    0xC1E0_0000_0000_0000,
    0xC1E0_0000_0020_0000,
    0x41EF_FFFF_FFE0_0000,
    0x41F0_0000_0000_0000,
    0x432F_FFFF_FFFF_FFFF,
    0x4330_0000_0000_0001,
    0x4340_0000_0000_0000,
    0x43DF_FFFF_FFFF_FFFF,
    0x43E0_0000_0000_0000,
    0xC3E0_0000_0000_0000,
    0xC3E0_0000_0000_0001,
    0x43EF_FFFF_FFFF_FFFF,
    0x43F0_0000_0000_0000,
    0x36A0_0000_0000_0000,
    0x47EF_FFFF_EFFF_FFFF,
    0x47EF_FFFF_F000_0000,
    0x3690_0000_0000_0000,
    0x4009_21FB_5444_2D18,
    0x4005_BF0A_8B14_5769,
    0x3FB9_9999_9999_999A,
    0x4059_0000_0000_0000,
    0xC086_0000_0000_0000,
    0x4170_0000_1000_0000,
];

/// How many edges are combined where an instruction has three operands.
const FEW: usize = 14;

/// How many random tuples are added to the combinations of edges.
const RANDOM_TUPLES: usize = 400;

/// The size of a value, in bytes.
pub(crate) fn width(bank: Bank) -> usize {
    if matches!(bank, Bank::I64 | Bank::F64) { 8 } else { 4 }
}

/// The bits of the edges of a type.
pub(crate) fn edges(bank: Bank) -> Vec<u64> {
    match bank {
        Bank::I64 => I64.iter().map(|value| value.cast_unsigned()).collect(),
        Bank::F32 => F32.iter().map(|bits| u64::from(*bits)).collect(),
        Bank::F64 => F64.to_vec(),
        _ => I32.iter().map(|value| u64::from(value.cast_unsigned())).collect(),
    }
}

/// Tuples of operands: edges in all combinations, then random ones.
pub(crate) fn tuples(banks: &[Bank], seed: u64) -> Vec<Vec<u64>> {
    let mut tuples = vec![Vec::new()];
    for bank in banks {
        let mut edges = edges(*bank);
        if banks.len() > 2 {
            // About every third edge, so that all kinds are included.
            let step = edges.len().div_ceil(FEW);
            edges = edges.into_iter().step_by(step).collect();
        }
        let longer = tuples.iter().flat_map(|tuple| {
            edges.iter().map(move |edge| tuple.iter().copied().chain([*edge]).collect())
        });
        tuples = longer.collect();
    }
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let drawn = (0..RANDOM_TUPLES).map(|_| banks.iter().map(|bank| random.value(*bank)).collect());
    tuples.extend(drawn);
    tuples
}

/// The generator xorshift64*.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Random bits, or a number of moderate size, which random float bits seldom are.
    fn value(&mut self, bank: Bank) -> u64 {
        let (bits, kind) = (self.bits(), self.bits() >> 62);
        let moderate = (bits.cast_signed() >> (20 + (self.bits() >> 59))) as f64 / 4096.0;
        match bank {
            Bank::F32 if kind > 0 => u64::from((moderate as f32).to_bits()),
            Bank::F64 if kind > 0 => moderate.to_bits(),
            Bank::I64 if kind == 0 => (bits.cast_signed() >> 40).cast_unsigned(),
            Bank::I64 | Bank::F64 => bits,
            Bank::I32 if kind == 0 => u64::from((bits.cast_signed() >> 52) as u32),
            _ => bits & 0xFFFF_FFFF,
        }
    }
}

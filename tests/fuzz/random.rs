//! Random choices from a seed, the same on every machine.

/// The generator xorshift64*.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        // Small seeds differ in few bits, and a state of zero would stay zero.
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0xD1B5_4A32_D192_ED03 | 1)
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `bound`; 0 if `bound` is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((self.bits() >> 11) % (bound.max(1) as u64)) as usize
    }

    pub(crate) fn chance(&mut self, one_in: usize) -> bool {
        self.below(one_in) == 0
    }

    pub(crate) fn choose<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// A number as programs use them: mostly small, else an edge, else any.
    pub(crate) fn number(&mut self) -> i64 {
        const EDGES: [i64; 10] = [
            -1,
            i64::MIN,
            i64::MAX,
            i32::MAX as i64,
            i32::MIN as i64,
            u32::MAX as i64,
            1 << 31,
            1 << 32,
            1 << 61,
            255,
        ];
        match self.below(8) {
            0..=4 => self.below(20) as i64,
            5 | 6 => *self.choose(&EDGES),
            _ => self.bits().cast_signed(),
        }
    }
}

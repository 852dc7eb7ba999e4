//! SipHash-2-4 as `vm.buffer.hash` uses it: key 00 01 … 0F, each half read as a little-endian word.

/// A hash in the making. All updates but the last must be of a multiple of 8 bytes.
pub(crate) struct SipHash {
    state: [u64; 4],
    length: u64,
    tail: u64,
}

const KEY: [u64; 2] = [0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908];

impl SipHash {
    pub(crate) fn new() -> Self {
        // The words spell "somepseudorandomlygeneratedbytes", as the algorithm defines.
        let state = [
            0x736F_6D65_7073_6575 ^ KEY[0],
            0x646F_7261_6E64_6F6D ^ KEY[1],
            0x6C79_6765_6E65_7261 ^ KEY[0],
            0x7465_6462_7974_6573 ^ KEY[1],
        ];
        Self { state, length: 0, tail: 0 }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.absorb(u64::from_le_bytes(*word));
        }
        let mut tail = [0; 8];
        tail[..rest.len()].copy_from_slice(rest);
        self.tail = u64::from_le_bytes(tail);
    }

    pub(crate) fn finish(mut self) -> u64 {
        self.absorb(self.tail | self.length << 56);
        self.state[2] ^= 0xFF;
        for _ in 0..4 {
            self.round();
        }
        self.state.iter().fold(0, |hash, word| hash ^ word)
    }

    fn absorb(&mut self, word: u64) {
        self.state[3] ^= word;
        self.round();
        self.round();
        self.state[0] ^= word;
    }

    fn round(&mut self) {
        let [mut a, mut b, mut c, mut d] = self.state;
        a = a.wrapping_add(b);
        b = b.rotate_left(13) ^ a;
        a = a.rotate_left(32);
        c = c.wrapping_add(d);
        d = d.rotate_left(16) ^ c;
        a = a.wrapping_add(d);
        d = d.rotate_left(21) ^ a;
        c = c.wrapping_add(b);
        b = b.rotate_left(17) ^ c;
        c = c.rotate_left(32);
        self.state = [a, b, c, d];
    }
}

#[cfg(test)]
mod tests {
    use super::SipHash;

    /// The first of the vectors in the algorithm's paper and reference: input 00 01 02 …
    #[test]
    fn reference_vectors() {
        for (length, expected) in [
            (0, 0x726F_DB47_DD0E_0E31),
            (1, 0x74F8_39C5_93DC_67FD),
            (8, 0x93F5_F579_9A93_2462),
            (15, 0xA129_CA61_49BE_45E5_u64),
        ] {
            let mut hash = SipHash::new();
            hash.update(&(0..length).collect::<Vec<u8>>());
            assert_eq!(hash.finish(), expected, "{length} bytes");
        }
    }
}

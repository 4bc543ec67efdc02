//! An adaptive arithmetic coder for bits, small enough to read: what the embedded digits are packed with.
//!
//! Encoder and decoder hold the same interval of 32-bit numbers. A bit cuts it in proportion to how probable a 1 was in
//! the same context so far, and leading bytes that both ends share are written out. On black and white digits this needs
//! about half of what deflate needs, and no dependency.

/// How likely a 1 is in each context, learned on the way, in units of 2^-16.
pub(crate) struct Model {
    ones: Vec<u16>,
}

/// The share of every new bit in a probability is 2^-this.
const RATE: u32 = 6;

impl Model {
    /// No opinion yet about any of `contexts`.
    pub(crate) fn new(contexts: usize) -> Self {
        Self { ones: vec![1 << 15; contexts] }
    }

    /// Where an interval is cut: numbers up to here mean a 1. At least one number is left on both sides.
    fn cut(&self, context: usize, low: u32, high: u32) -> u32 {
        low + ((u64::from(high - low) * u64::from(self.ones[context])) >> 16) as u32
    }

    /// Moves a probability towards what was seen; it stays away from 0 and 1 because the step rounds down.
    fn learn(&mut self, context: usize, bit: bool) {
        let ones = &mut self.ones[context];
        if bit {
            *ones += (u16::MAX - *ones) >> RATE;
        } else {
            *ones -= *ones >> RATE;
        }
    }
}

/// Turns bits into bytes.
pub(crate) struct Encoder {
    low: u32,
    high: u32,
    out: Vec<u8>,
}

impl Encoder {
    pub(crate) fn new() -> Self {
        Self { low: 0, high: u32::MAX, out: Vec::new() }
    }

    pub(crate) fn push(&mut self, model: &mut Model, context: usize, bit: bool) {
        let cut = model.cut(context, self.low, self.high);
        if bit {
            self.high = cut;
        } else {
            self.low = cut + 1;
        }
        model.learn(context, bit);
        while (self.low ^ self.high) >> 24 == 0 {
            self.out.push((self.high >> 24) as u8);
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
        }
    }

    /// The bytes, with enough of them to pin the last interval down.
    pub(crate) fn finish(mut self) -> Vec<u8> {
        self.out.extend(self.low.to_be_bytes());
        self.out
    }
}

/// Turns the bytes back into bits.
pub(crate) struct Decoder<'a> {
    low: u32,
    high: u32,
    number: u32,
    rest: std::slice::Iter<'a, u8>,
    missing: usize,
}

impl<'a> Decoder<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let mut decoder = Self { low: 0, high: u32::MAX, number: 0, rest: bytes.iter(), missing: 0 };
        (0..4).for_each(|_| decoder.shift());
        decoder
    }

    fn shift(&mut self) {
        let byte = self.rest.next();
        self.missing += usize::from(byte.is_none());
        self.number = self.number << 8 | u32::from(byte.copied().unwrap_or(0));
    }

    pub(crate) fn next(&mut self, model: &mut Model, context: usize) -> bool {
        let cut = model.cut(context, self.low, self.high);
        let bit = self.number <= cut;
        if bit {
            self.high = cut;
        } else {
            self.low = cut + 1;
        }
        model.learn(context, bit);
        while (self.low ^ self.high) >> 24 == 0 {
            self.low <<= 8;
            self.high = self.high << 8 | 0xff;
            self.shift();
        }
        bit
    }

    /// Whether the bits decoded so far are what these bytes hold, no more and no less.
    pub(crate) fn is_complete(&self) -> bool {
        self.missing == 0 && self.rest.len() == 0
    }

    /// Whether bits were asked for that the bytes do not hold.
    pub(crate) fn is_exhausted(&self) -> bool {
        self.missing > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encode(bits: &[(usize, bool)]) -> Vec<u8> {
        let (mut model, mut encoder) = (Model::new(4), Encoder::new());
        for &(context, bit) in bits {
            encoder.push(&mut model, context, bit);
        }
        encoder.finish()
    }

    proptest! {
        #[test]
        fn what_goes_in_comes_out(
            bits in proptest::collection::vec((0usize..4, any::<bool>()), 0..2000),
            constant in 0usize..3000,
        ) {
            // A long run of one value drives a probability to its limit before the random bits come.
            let bits: Vec<(usize, bool)> = std::iter::repeat_n((0, true), constant).chain(bits).collect();
            let bytes = encode(&bits);
            let (mut model, mut decoder) = (Model::new(4), Decoder::new(&bytes));
            for &(context, bit) in &bits {
                prop_assert_eq!(decoder.next(&mut model, context), bit);
            }
            prop_assert!(decoder.is_complete());
        }

        #[test]
        fn any_bytes_decode_to_something(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let (mut model, mut decoder) = (Model::new(4), Decoder::new(&bytes));
            for k in 0..2000 {
                decoder.next(&mut model, k % 4);
            }
        }
    }

    #[test]
    fn predictable_bits_cost_little() {
        let bits: Vec<(usize, bool)> = (0..80_000).map(|k| (k % 2, k % 2 == 0)).collect();
        assert!(encode(&bits).len() < 100);
    }
}

//! Streams of random numbers: one seed, one independent stream per purpose.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// What a stream of random numbers decides. Parts are independent: the size of one never changes another.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Stream {
    TrainBase,
    TestBase,
    PairBase,
    TrainDepends,
    TestDepends,
    TrainIrrelevant,
    TestIrrelevant,
    PairIrrelevant,
    TrainNoise,
    TestNoise,
    Shuffle,
    TrainLabels,
    TestLabels,
    FreshBase,
    FreshIrrelevant,
    FreshNoise,
}

/// The generator for one purpose.
pub(crate) fn stream(seed: u64, purpose: Stream) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    rng.set_stream(purpose as u64);
    rng
}

/// A uniform number below `k`, in the form the algebra asks for.
pub(crate) fn below(rng: &mut ChaCha8Rng) -> impl FnMut(usize) -> usize {
    |k| rng.random_range(0..k)
}

/// A uniformly random order of 0..n.
pub(crate) fn shuffled(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    for k in (1..n).rev() {
        order.swap(k, rng.random_range(0..=k));
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |seed, purpose| stream(seed, purpose).random::<u64>();
        assert_eq!(draw(7, Stream::TrainBase), draw(7, Stream::TrainBase));
        assert_ne!(draw(7, Stream::TrainBase), draw(7, Stream::TestBase));
        assert_ne!(draw(7, Stream::TrainBase), draw(8, Stream::TrainBase));
    }

    #[test]
    fn a_shuffle_loses_nothing_and_is_uniform() {
        let mut rng = stream(1, Stream::Shuffle);
        let mut counts = std::collections::BTreeMap::new();
        for _ in 0..6000 {
            *counts.entry(shuffled(3, &mut rng)).or_insert(0) += 1;
        }
        assert_eq!(counts.len(), 6);
        assert!(counts.values().all(|&count| (850..1150).contains(&count)), "{counts:?}");
    }
}

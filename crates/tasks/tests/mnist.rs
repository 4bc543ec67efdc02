//! The embedded digits are the published ones; bright pixels become ink, and damage is refused.

use invar_tasks::{Digits, Mnist};

#[test]
fn embedded_digits_have_the_published_numbers() {
    let mnist = Mnist::embedded().unwrap();
    let count = |labels: &[u8]| {
        let mut counts = [0; 10];
        for &label in labels {
            counts[usize::from(label)] += 1;
        }
        counts
    };
    assert_eq!(count(mnist.train.labels()), [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]);
    assert_eq!(count(mnist.test.labels()), [980, 1135, 1032, 1010, 982, 892, 958, 1028, 974, 1009]);
    assert!(std::ptr::eq(mnist, Mnist::embedded().unwrap()), "decoded once");
}

#[test]
fn the_first_test_image_is_the_well_known_seven() {
    let mnist = Mnist::embedded().unwrap();
    assert_eq!(mnist.test.labels()[0], 7);
    let pixels: Vec<u8> = mnist.test.pixels(0).collect();
    let row = |k: usize| pixels[28 * k..28 * (k + 1)].iter().map(|&ink| if ink == 1 { '#' } else { '.' }).collect::<String>();
    let shown: Vec<String> = (7..12).map(row).collect();
    assert_eq!(
        shown,
        [
            "......#####.................",
            "......################......",
            "......################......",
            "............#.####.###......",
            "..................###.......",
        ]
    );
}

#[test]
fn a_damaged_asset_is_refused() {
    let asset = Mnist::embedded().unwrap().pack();
    assert!(asset.len() < 2_000_000, "{}", asset.len());
    assert!(Mnist::unpack(&asset).unwrap() == *Mnist::embedded().unwrap(), "what is packed comes out again");
    let mut damaged = asset.clone();
    damaged[500_000] ^= 4;
    for bytes in [&damaged[..], &asset[..asset.len() / 2]] {
        let error = Mnist::unpack(bytes).unwrap_err().to_string();
        assert!(error.starts_with("packed digits: the checksum is ") && error.ends_with("damaged or truncated"), "{error}");
    }
}

#[test]
fn bright_pixels_are_ink_and_images_match_their_labels() {
    let pixels: Vec<u8> = (0..2 * 784).map(|k| (k % 256) as u8).collect();
    let digits = Digits::new(&pixels, vec![3, 4]).unwrap();
    let expected: Vec<u8> = (784..2 * 784).map(|k| u8::from(k % 256 > 50)).collect();
    assert_eq!((digits.labels(), digits.pixels(1).collect::<Vec<_>>()), (&[3, 4][..], expected));
    let error = |labels: Vec<u8>| Digits::new(&pixels[..784], labels).unwrap_err().to_string();
    assert_eq!(error(vec![1, 1]), "pixels of digits: expected 1568 for 2 labels, got 784");
    assert!(error(vec![10]).starts_with("labels of digits: "), "{}", error(vec![10]));
}

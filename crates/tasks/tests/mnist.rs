//! The embedded digits are the published ones, and the original files read the same.

use invar_tasks::Mnist;

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

/// Two training digits and one test digit, as the original files would hold them.
fn originals(folder: &std::path::Path) {
    for (name, labels) in [("train", &[3u8, 4][..]), ("t10k", &[9])] {
        let count = [0, 0, 0, labels.len() as u8];
        let sides = [[0, 0, 0, 28], [0, 0, 0, 28]].concat();
        let pixels: Vec<u8> = (0..labels.len() * 784).map(|k| (k % 256) as u8).collect();
        let images = [&[0, 0, 8, 3], &count[..], &sides, &pixels].concat();
        std::fs::write(folder.join(format!("{name}-images-idx3-ubyte")), images).unwrap();
        std::fs::write(folder.join(format!("{name}-labels-idx1-ubyte")), [&[0, 0, 8, 1], &count[..], labels].concat()).unwrap();
    }
}

#[test]
fn original_files_are_read_from_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    originals(folder.path());
    let mnist = Mnist::from_idx(folder.path()).unwrap();
    assert_eq!((mnist.train.labels(), mnist.test.labels()), (&[3, 4][..], &[9][..]));
    let expected: Vec<u8> = (784..2 * 784).map(|k| u8::from(k % 256 > 50)).collect();
    assert_eq!(mnist.train.pixels(1).collect::<Vec<_>>(), expected);

    let path = folder.path().join("t10k-labels-idx1-ubyte");
    std::fs::write(&path, [0, 0, 8, 1, 0, 0, 0, 2, 1, 1]).unwrap();
    let error = Mnist::from_idx(folder.path()).unwrap_err().to_string();
    assert_eq!(error, "pixels of digits: expected 1568 for 2 labels, got 784");
    std::fs::write(&path, [0x1f, 0x8b, 8, 0]).unwrap();
    let error = Mnist::from_idx(folder.path()).unwrap_err().to_string();
    assert!(error.ends_with("t10k-labels-idx1-ubyte: this is a gzip file; unpack it first"), "{error}");
    std::fs::remove_file(&path).unwrap();
    let error = Mnist::from_idx(folder.path()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read ") && error.contains("t10k-labels-idx1-ubyte: "), "{error}");
    let wide = [&[0, 0, 8, 3, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2][..], &[7, 7]].concat();
    std::fs::write(folder.path().join("train-images-idx3-ubyte"), wide).unwrap();
    let error = Mnist::from_idx(folder.path()).unwrap_err().to_string();
    assert_eq!(error, "train-images-idx3-ubyte: expected images of 28x28, got 1x2");
}

//! Every file of the corpus, and short ends of it, through its target: what was found once is found again.

use std::fs;
use std::path::{Path, PathBuf};

use invar_fuzz::{Desk, TARGETS};

fn files(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    let mut files: Vec<PathBuf> = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// One test in this file: others beside it would be counted as its memory.
#[test]
fn the_corpus_keeps_every_promise() {
    let desk = Desk::new().unwrap();
    for target in TARGETS {
        let mut accepted = 0;
        for file in files(target.name) {
            println!("{}", file.display());
            let bytes = fs::read(&file).unwrap();
            accepted += usize::from(target.check(&desk, &bytes));
            target.check(&desk, &bytes[..bytes.len() / 2]);
        }
        // Else it would say nothing about what is accepted.
        assert!(accepted >= 3, "{}: {accepted} files were accepted", target.name);
    }
    let folders = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")).unwrap().count();
    assert_eq!(folders, TARGETS.len(), "a folder of the corpus that no target reads");
}

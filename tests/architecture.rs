//! The picture of the crates in the documentation, against the manifests.

use std::collections::BTreeMap;
use std::path::Path;

/// For each crate the crates of the workspace that it depends on.
type Picture = BTreeMap<String, Vec<String>>;

/// What a manifest says below `[dependencies]`.
fn dependencies(manifest: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(manifest).unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let table: toml::Table = text.parse().unwrap_or_else(|error| panic!("{}: {error}", manifest.display()));
    let section = table["dependencies"].as_table().unwrap();
    let mut found: Vec<String> = section.keys().filter_map(|name| Some(name.strip_prefix("invar-")?.to_owned())).collect();
    found.sort();
    found
}

fn of_manifests(root: &Path) -> Picture {
    let crates = std::fs::read_dir(root.join("crates")).unwrap().map(|entry| entry.unwrap().path());
    // Bindings for other languages stand apart: nothing depends on them.
    let members = crates.filter(|path| path.join("Cargo.toml").exists() && !path.ends_with("python"));
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let mut picture: Picture = members.map(|path| (name(&path), dependencies(&path.join("Cargo.toml")))).collect();
    picture.insert("invar".into(), dependencies(&root.join("Cargo.toml")));
    picture
}

fn of_the_page(text: &str) -> Picture {
    let after = text.split("Who may see whom").nth(1).expect("the picture is announced");
    let block = after.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of text");
    let line = |line: &str| {
        let (one, seen) = line.split_once(" ->").expect("crate -> crates");
        let seen = seen.split(',').map(str::trim).filter(|name| !name.is_empty()).map(Into::into).collect();
        (one.trim().to_owned(), seen)
    };
    block.lines().map(line).collect()
}

#[test]
fn the_picture_of_the_crates_is_that_of_the_manifests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/architecture.md")).unwrap();
    assert_eq!(of_the_page(&page), of_manifests(root));
}

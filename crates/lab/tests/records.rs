//! Records that were written before stay readable.

use std::path::Path;

use invar_lab::record::{Record, Records};
use invar_lab::screen::{Role, ScreenRecord};

#[test]
fn every_record_in_the_repository_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results");
    let mut count = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "jsonl") {
            continue;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name.starts_with("screen") {
            let records = Records::<ScreenRecord>::read(&path).unwrap();
            assert!(records.iter().all(|record| record.truth.is_some() && record.model(Role::Oracle).is_some()), "{name}");
            count += records.len();
        } else {
            let records = Records::<Record>::read(&path).unwrap();
            assert!(records.iter().all(|record| record.extrapolation.is_some()), "{name}");
            count += records.len();
        }
    }
    assert!(count > 100, "{count}");
}

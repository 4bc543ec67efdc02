//! The fuzzer: `INVAR_FUZZ_TARGET=npz fuzz [options of libFuzzer] [folders]`; `.ci/fuzz` builds and starts it.

#![no_main]

use std::sync::LazyLock;

use invar_fuzz::{Desk, TARGETS, Target};
use libfuzzer_sys::fuzz_target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = std::env::var("INVAR_FUZZ_TARGET").unwrap_or_default();
    let names = TARGETS.map(|target| target.name).join(", ");
    Target::by_name(&name).unwrap_or_else(|| panic!("INVAR_FUZZ_TARGET is `{name}`; expected one of {names}"))
});

static DESK: LazyLock<Desk> = LazyLock::new(|| Desk::new().expect("a folder for temporary files"));

fuzz_target!(
    init: {
        LazyLock::force(&TARGET);
        LazyLock::force(&DESK);
    },
    |bytes: &[u8]| {
        TARGET.check(&DESK, bytes);
    }
);

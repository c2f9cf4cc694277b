//! One fuzz target under libFuzzer. `cargo xtask fuzz` builds and runs it.
//!
//! `PLANESMITH_FUZZ_TARGET` names the target, and `PLANESMITH_FUZZ_SEEDS` the folder to which the seeds are written.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use planesmith_fuzz::Target;

static TARGET: OnceLock<&'static Target> = OnceLock::new();

fn begin() -> &'static Target {
    let name = std::env::var("PLANESMITH_FUZZ_TARGET").unwrap_or_default();
    let target = Target::named(&name).expect("PLANESMITH_FUZZ_TARGET is the name of a target");
    if let Some(folder) = std::env::var_os("PLANESMITH_FUZZ_SEEDS").map(PathBuf::from) {
        for (index, seed) in target.seeds().into_iter().enumerate() {
            std::fs::write(folder.join(format!("seed-{index}")), seed).expect("the folder of seeds can be written");
        }
    }
    target
}

fuzz_target!(
    init: {
        let _ = TARGET.set(begin());
    },
    |input: &[u8]| {
        if let Some(target) = TARGET.get() {
            target.run(input);
        }
    }
);

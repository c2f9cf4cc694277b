//! Compresses the OpenAPI documents: as text they would be a sixth of the program. Release builds also have functions with the same
//! code once.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=openapi");
    if merges_functions() {
        println!("cargo::rustc-link-arg-bins=-Wl,--icf=all");
    }
    let target = PathBuf::from(env::var("OUT_DIR")?);
    for dialect in ["v2", "v3"] {
        let documents = Path::new("openapi").join(dialect);
        fs::create_dir_all(target.join(&documents))?;
        for document in fs::read_dir(&documents)? {
            let document = document?.path();
            compress(&document, &target.join(&document).with_added_extension("gz"))?;
        }
    }
    Ok(())
}

/// True if the linker can merge functions with the same code: that of the toolchain (LLD) can, another one that flags name may not.
/// Nothing compares the addresses of functions.
fn merges_functions() -> bool {
    let is = |name: &str, value: &str| env::var(name).is_ok_and(|found| found == value);
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    is("PROFILE", "release") && is("TARGET", "x86_64-unknown-linux-gnu") && !flags.contains("link")
}

fn compress(document: &Path, compressed: &Path) -> Result<(), Box<dyn Error>> {
    let mut encoder = GzEncoder::new(fs::File::create(compressed)?, Compression::best());
    std::io::copy(&mut fs::File::open(document)?, &mut encoder)?;
    encoder.finish()?;
    Ok(())
}

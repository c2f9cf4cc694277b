//! Compresses the OpenAPI documents: as text they would be a sixth of the program.

#[path = "build/linker.rs"]
mod linker;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use flate2::Compression;
use flate2::write::GzEncoder;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=openapi");
    linker::set_arguments();
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

fn compress(document: &Path, compressed: &Path) -> Result<(), Box<dyn Error>> {
    let mut encoder = GzEncoder::new(fs::File::create(compressed)?, Compression::best());
    std::io::copy(&mut fs::File::open(document)?, &mut encoder)?;
    encoder.finish()?;
    Ok(())
}

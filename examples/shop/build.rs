//! Links release builds as small as those of `planesmith`.

#[path = "../../generated/build/linker.rs"]
mod linker;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    linker::set_arguments();
}

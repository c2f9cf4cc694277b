//! What can be fed.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::targets::{
    apply, cbor, definitions, expressions, fields, json, patches, protobuf, quantities, schemas, selectors, yaml,
};

/// Something that reads bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Name on the command line.
    pub name: &'static str,
    run: fn(&[u8]),
    seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target::new("json", json::run, json::seeds),
    Target::new("yaml", yaml::run, yaml::seeds),
    Target::new("protobuf", protobuf::run, protobuf::seeds),
    Target::new("cbor", cbor::run, cbor::seeds),
    Target::new("selectors", selectors::run, selectors::seeds),
    Target::new("patches", patches::run, patches::seeds),
    Target::new("apply", apply::run, apply::seeds),
    Target::new("fields", fields::run, fields::seeds),
    Target::new("expressions", expressions::run, expressions::seeds),
    Target::new("schemas", schemas::run, schemas::seeds),
    Target::new("quantities", quantities::run, quantities::seeds),
    Target::new("definitions", definitions::run, definitions::seeds),
];

impl Target {
    const fn new(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Self {
        Self { name, run, seeds }
    }

    /// The target called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Feeds `input`.
    ///
    /// # Panics
    ///
    /// When something does not hold.
    pub fn run(&self, input: &[u8]) {
        (self.run)(input);
    }

    /// Inputs to start from: what clients send, and what broke something once.
    ///
    /// # Panics
    ///
    /// When a finding cannot be read.
    #[must_use]
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let mut seeds = (self.seeds)();
        seeds.extend(self.findings());
        seeds
    }

    /// What broke something once, in the order of the file names.
    fn findings(&self) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("findings").join(self.name);
        let entries = match std::fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Vec::new(),
            Err(error) => panic!("{} cannot be read: {error}", folder.display()),
        };
        let paths = entries.map(|entry| entry.expect("a readable folder").path());
        let mut paths: Vec<_> = paths.collect();
        paths.sort();
        let read = |path: &PathBuf| std::fs::read(path).expect("a readable finding");
        paths.iter().map(read).collect()
    }
}

/// One quick run of each target, each a test of its own.
#[cfg(test)]
mod tests {
    use super::Target;
    use crate::Mutator;

    /// Mutations of one run: a moment of a debug build.
    const MUTATIONS: usize = 1_500;

    /// Shows the input that a panic is about.
    struct Shown<'a>(&'a Target, &'a [u8]);

    impl Drop for Shown<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("{} breaks on b\"{}\"", self.0.name, self.1.escape_ascii());
            }
        }
    }

    fn feed(target: &Target, input: &[u8]) {
        let _shown = Shown(target, input);
        target.run(input);
    }

    fn check(name: &str) {
        let target = Target::named(name).expect("a target");
        let seeds = target.seeds();
        for seed in &seeds {
            feed(target, seed);
        }
        let mut mutator = Mutator::new(1, &seeds);
        for _ in 0..MUTATIONS {
            feed(target, &mutator.next_input());
        }
    }

    macro_rules! targets {
        ($($name:ident)*) => {
            $(#[test] fn $name() { check(stringify!($name)); })*

            #[test]
            fn every_target_is_run() {
                let names: Vec<_> = super::TARGETS.iter().map(|target| target.name).collect();
                assert_eq!(names, [$(stringify!($name)),*]);
            }
        };
    }

    targets!(json yaml protobuf cbor selectors patches apply fields expressions schemas quantities definitions);
}

//! The fuzz targets.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::targets::{
    apply, cbor, definitions, envelopes, expressions, fields, json, patches, protobuf, quantities, schemas, selectors,
    yaml,
};

/// Code that processes bytes.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// The name on the command line.
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
    Target::new("envelopes", envelopes::run, envelopes::seeds),
];

impl Target {
    const fn new(name: &'static str, run: fn(&[u8]), seeds: fn() -> Vec<Vec<u8>>) -> Self {
        Self { name, run, seeds }
    }

    /// Returns the target called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.name == name)
    }

    /// Runs the target with `input`.
    ///
    /// # Panics
    ///
    /// A property is violated.
    pub fn run(&self, input: &[u8]) {
        (self.run)(input);
    }

    /// Returns the seeds: typical client input, and all findings.
    ///
    /// # Panics
    ///
    /// A finding cannot be read.
    #[must_use]
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let mut seeds = (self.seeds)();
        seeds.extend(self.findings());
        seeds
    }

    /// Returns the findings, in the order of their file names.
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

/// A short run of each target, each in its own test.
#[cfg(test)]
mod tests {
    use super::Target;
    use crate::Mutator;

    /// The number of mutations per run, sized for a debug build.
    const MUTATIONS: usize = 1_500;

    /// Prints the input on a panic.
    struct InputOnPanic<'a>(&'a Target, &'a [u8]);

    impl Drop for InputOnPanic<'_> {
        fn drop(&mut self) {
            if std::thread::panicking() {
                eprintln!("{} breaks on b\"{}\"", self.0.name, self.1.escape_ascii());
            }
        }
    }

    fn feed(target: &Target, input: &[u8]) {
        let _input = InputOnPanic(target, input);
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

    targets!(json yaml protobuf cbor selectors patches apply fields expressions schemas quantities definitions envelopes);
}

//! The sources of a crate that are built into it.

use std::collections::BTreeSet;

use super::FileTexts;
use crate::sources::Sources;

/// Returns the sources below `src` of the crate in `folder`, and its build script, without modules that only tests see.
///
/// A file that no module declares counts as built: a text too many is better than a text too few.
pub(super) fn of<'a>(folder: &str, sources: &'a Sources<FileTexts>) -> impl Iterator<Item = (&'a str, &'a FileTexts)> {
    let (below, script) = (format!("{folder}src/"), format!("{folder}build.rs"));
    let tests = test_modules(sources);
    let built = move |(file, _): &(&str, &FileTexts)| {
        let is_test = tests.iter().any(|module| {
            let rest = file.strip_prefix(module.as_str());
            rest.is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
        });
        (file.starts_with(&below) || *file == script) && !is_test
    };
    let files = sources.iter().map(|(file, texts)| (file.as_str(), texts));
    files.filter(built)
}

/// The paths, without `.rs`, of the modules in files of their own that only tests see.
fn test_modules(sources: &Sources<FileTexts>) -> BTreeSet<String> {
    let modules = sources.iter().flat_map(|(file, texts)| {
        let folder = folder_of_modules(file);
        let tests = texts.source.modules.iter();
        tests
            .filter(|module| module.for_tests && module.in_file)
            .map(move |module| {
                let path = module.inside.iter().chain([&module.name]);
                path.fold(folder.to_owned(), |folder, name| format!("{folder}/{name}"))
            })
    });
    modules.collect()
}

/// The folder with the modules that `file` declares.
fn folder_of_modules(file: &str) -> &str {
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    match stem.rsplit_once('/') {
        Some((folder, "lib" | "main" | "mod" | "build")) => folder,
        _ => stem,
    }
}

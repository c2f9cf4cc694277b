//! One source file, reduced to what the checks need.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result};

use super::visitor;

/// All source files, by path relative to the workspace.
pub(super) type Sources = BTreeMap<String, Source>;

/// The facts about one source file. Lines are counted from 1.
#[derive(Clone, Debug, Default)]
pub(super) struct Source {
    /// The number of lines in the file.
    pub(super) lines: usize,
    /// The doc comments.
    pub(super) docs: Vec<DocComment>,
    /// The names that the file declares.
    pub(super) names: Vec<Name>,
    /// The modules that the file declares.
    pub(super) modules: Vec<Module>,
    /// The paths outside tests, and one for every imported name.
    pub(super) references: Vec<Reference>,
    /// The macros that the file exports, which paths find at the crate's root.
    pub(super) macros: Vec<String>,
}

/// One doc comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DocComment {
    /// The first line.
    pub(super) line: usize,
    /// The first word.
    pub(super) word: String,
}

/// One declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Name {
    /// The sort of item.
    pub(super) sort: Sort,
    /// The identifier; `Enum::Variant` for variants.
    pub(super) ident: String,
    /// The line of the identifier.
    pub(super) line: usize,
}

/// The sorts of items whose names are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sort {
    /// Structs, enums, unions, traits and aliases.
    Type,
    /// Functions and methods.
    Fn,
    /// Modules.
    Mod,
    /// Fields of structs and of variants.
    Field,
    /// Variants of enums.
    Variant,
}

/// One declared module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Module {
    /// The modules around it in the same file.
    pub(super) inside: Vec<String>,
    /// The name.
    pub(super) name: String,
    /// The line of the name.
    pub(super) line: usize,
    /// True if the content is in a file of its own.
    pub(super) in_file: bool,
    /// True if only tests see it.
    pub(super) for_tests: bool,
}

/// One path or imported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reference {
    /// The modules of the same file around it.
    pub(super) inside: Vec<String>,
    /// The segments; a leading `::` is an empty one.
    pub(super) path: Vec<String>,
    /// The line of the first segment.
    pub(super) line: usize,
    /// For an import the name that it binds, `*` for all names.
    pub(super) binds: Option<String>,
    /// True if others can name what it imports.
    pub(super) public: bool,
}

impl Source {
    /// Parses `text`.
    ///
    /// # Errors
    ///
    /// The text is not Rust.
    pub(super) fn read(text: &str) -> syn::Result<Self> {
        let parsed = syn::parse_file(text)?;
        let mut source = visitor::visit(&parsed);
        source.lines = text.lines().count();
        Ok(source)
    }
}

/// Reads `files` below `root` with all cores.
///
/// # Errors
///
/// A file cannot be read or is not Rust.
pub(super) fn read_all(root: &Path, files: &[&str]) -> Result<Sources> {
    let next = AtomicUsize::new(0);
    let sources = Mutex::new(Vec::with_capacity(files.len()));
    let work = || -> Result<()> {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = std::fs::read_to_string(root.join(file)).with_context(|| format!("reading {file}"))?;
            let source = Source::read(&text).with_context(|| format!("{file} is not Rust; `cargo check` shows why"))?;
            // Texts are kept for their spans otherwise.
            proc_macro2::extra::invalidate_current_thread_spans();
            let mut sources = sources.lock().expect("no thread panics while it holds the lock");
            sources.push(((*file).to_owned(), source));
        }
        Ok(())
    };
    let threads = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().expect("reading does not panic"))
    })?;
    let sources = sources.into_inner().expect("all threads ended well");
    Ok(sources.into_iter().collect())
}

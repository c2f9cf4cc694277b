//! The source files of the workspace, reduced to what `tidy` and `texts` need.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, ensure};
use proc_macro2::LineColumn;

use crate::metadata::Crate;

mod token_path;
mod visitor;

/// Source files, by path relative to the workspace.
pub(crate) type Sources<T = Source> = BTreeMap<String, T>;

/// The facts about one source file. Lines are counted from 1.
#[derive(Clone, Debug, Default)]
pub(crate) struct Source {
    /// The number of lines in the file.
    pub(crate) lines: usize,
    /// The doc comments.
    pub(crate) docs: Vec<DocComment>,
    /// The names that the file declares.
    pub(crate) names: Vec<Name>,
    /// The modules that the file declares.
    pub(crate) modules: Vec<Module>,
    /// The paths outside tests, and one for every imported name.
    pub(crate) references: Vec<Reference>,
    /// The macros that the file exports, which paths find at the crate's root.
    pub(crate) macros: Vec<String>,
    /// The texts of one word outside tests, in attributes and macros as well.
    pub(crate) words: Vec<Word>,
    /// The places of the items that only tests compile.
    pub(crate) tests: Vec<Range<LineColumn>>,
}

/// One doc comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DocComment {
    /// The openings of the comment and of its later sentences and clauses, which follow a full stop, a semicolon or a colon.
    pub(crate) openings: Vec<Opening>,
}

/// The first word of a sentence or clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Opening {
    /// The line.
    pub(crate) line: usize,
    /// The word, without punctuation.
    pub(crate) word: String,
    /// The mark before it; `None` for the first word of the comment.
    pub(crate) after: Option<char>,
}

/// One text that consists of letters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// The text.
    pub(crate) text: String,
    /// The line.
    pub(crate) line: usize,
}

/// One declared name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    /// The sort of item.
    pub(crate) sort: Sort,
    /// The identifier; `Enum::Variant` for variants.
    pub(crate) ident: String,
    /// The line of the identifier.
    pub(crate) line: usize,
}

/// The sorts of items whose names are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Sort {
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
    /// Constants and statics, also those of types.
    Const,
    /// Parameters of functions.
    Parameter,
    /// Functions that are tests.
    Test,
}

/// One declared module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Module {
    /// The modules around it in the same file.
    pub(crate) inside: Vec<String>,
    /// The name.
    pub(crate) name: String,
    /// The line of the name.
    pub(crate) line: usize,
    /// True if the content is in a file of its own.
    pub(crate) in_file: bool,
    /// True if only tests see it.
    pub(crate) for_tests: bool,
}

/// One path or imported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reference {
    /// The modules of the same file around it.
    pub(crate) inside: Vec<String>,
    /// The segments; a leading `::` is an empty one.
    pub(crate) path: Vec<String>,
    /// The line of the first segment.
    pub(crate) line: usize,
    /// For an import the name that it binds, `*` for all names.
    pub(crate) binds: Option<String>,
    /// True if others can name what it imports.
    pub(crate) public: bool,
}

impl Source {
    /// Parses `text`.
    ///
    /// # Errors
    ///
    /// The text is not Rust.
    pub(crate) fn read(text: &str) -> syn::Result<Self> {
        let mut source = Self::from_file(&syn::parse_file(text)?);
        source.lines = text.lines().count();
        Ok(source)
    }

    /// Returns the facts about a parsed file; the number of lines is left at 0.
    pub(crate) fn from_file(file: &syn::File) -> Self {
        visitor::visit(file)
    }
}

/// Returns the committed files below `root` and the new ones that git does not ignore, relative to `root`.
///
/// # Errors
///
/// `root` is not in a git work tree.
pub(crate) fn committed(root: &Path) -> Result<Vec<String>> {
    let mut git = Command::new("git");
    git.args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"]);
    let output = git.current_dir(root).output().context("starting git")?;
    ensure!(
        output.status.success(),
        "git ls-files failed in {}; this task needs a git work tree",
        root.display()
    );
    let files = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let present = |file: &&str| !file.is_empty() && root.join(file).is_file();
    Ok(files.split('\0').filter(present).map(str::to_owned).collect())
}

/// Gives each crate the sources in its folder, except those of crates further below. Other sources belong to no crate.
pub(crate) fn divide<T>(crates: Vec<Crate>, sources: Sources<T>) -> Vec<(Crate, Sources<T>)> {
    let mut divided: Vec<_> = crates.into_iter().map(|owner| (owner, Sources::new())).collect();
    for (file, source) in sources {
        let owners = divided.iter_mut().filter(|(owner, _)| file.starts_with(&owner.folder));
        if let Some((_, sources)) = owners.max_by_key(|(owner, _)| owner.folder.len()) {
            sources.insert(file, source);
        }
    }
    divided
}

/// Reads `files` below `root` with all cores; `read` makes facts of a text.
///
/// # Errors
///
/// A file cannot be read or is not Rust.
pub(crate) fn read_all<T: Send>(
    root: &Path,
    files: &[&str],
    read: impl Fn(&str) -> syn::Result<T> + Sync,
) -> Result<Sources<T>> {
    let next = AtomicUsize::new(0);
    let sources = Mutex::new(Vec::with_capacity(files.len()));
    let work = || -> Result<()> {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = std::fs::read_to_string(root.join(file)).with_context(|| format!("reading {file}"))?;
            let source = read(&text).with_context(|| format!("{file} is not Rust; `cargo check` shows why"))?;
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

//! `cargo xtask texts`: the errors, warnings, log lines and help of the workspace, on one page for each crate.
//!
//! The pages in `docs/texts` are committed, so a review shows each change of a message. Reading order: [`program_files`] (the
//! sources that are not tests), [`literal`] and [`scope`] (all string literals and the calls around them), [`help`] (doc
//! comments that clap prints), [`section`] (the readers of a text), [`prose`] (texts, as distinguished from names), [`mod@page`].
//!
//! Not found: messages that are put together from single words, and files that a source includes.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use proc_macro2::TokenStream;

use crate::cargo::workspace;
use crate::generate::{Difference, Files, OUT_OF_DATE, summary};
use crate::metadata::Metadata;
use crate::sources::{self, Source};
use help::Help;
use literal::Literal;
use page::Page;

mod help;
mod literal;
mod page;
mod program_files;
mod prose;
mod scope;
mod section;

/// The folder of the pages, relative to the workspace.
const FOLDER: &str = "docs/texts";

/// The folders of crates that only tests use, relative to the workspace.
const TEST_CRATES: &str = "tests/";

/// The build script of a crate, whose output is for cargo.
const BUILD_SCRIPT: &str = "/build.rs";

/// Writes every error, warning, log line and help text of the workspace to `docs/texts`, for review.
///
/// Reads the sources of all crates, without their tests: all string literals that are sentences or parts of them, grouped by
/// reader, file and the call that takes them. Commit the pages with the change of the texts.
#[derive(Debug, clap::Args)]
pub(crate) struct Texts {
    /// Write nothing; print the changes that are not in `docs/texts` as diffs, and exit with 4 if there are any.
    #[arg(long)]
    check: bool,
}

impl Texts {
    pub(crate) fn run(&self) -> Result<ExitCode> {
        let differences = render(workspace())?.compare(workspace())?;
        if !self.check {
            for difference in &differences {
                difference.resolve(workspace())?;
                println!("{}", difference.done());
            }
        } else if let Some(complaint) = complaint(&differences) {
            println!("{complaint}");
            return Ok(ExitCode::from(OUT_OF_DATE));
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the differences and the next step; `None` if there are none.
fn complaint(differences: &[Difference]) -> Option<String> {
    let shown: String = differences.iter().map(ToString::to_string).collect();
    (!differences.is_empty()).then(|| {
        let summary = summary(differences);
        format!("{shown}{FOLDER}: {summary}; read the changed texts above, run `cargo xtask texts` and commit {FOLDER}")
    })
}

/// The facts about one file.
#[derive(Debug)]
struct FileTexts {
    source: Source,
    literals: Vec<Literal>,
    help: Vec<Help>,
}

impl FileTexts {
    /// Parses `text`.
    ///
    /// # Errors
    ///
    /// The text is not Rust.
    fn read(text: &str) -> syn::Result<Self> {
        let tokens: TokenStream = text.parse()?;
        let file = syn::parse2(tokens.clone())?;
        let source = Source::from_file(&file);
        Ok(Self {
            literals: literal::find(tokens, &source.tests),
            help: help::find(&file),
            source,
        })
    }
}

/// Renders the pages of all crates below `root`.
fn render(root: &Path) -> Result<Files> {
    let committed = sources::committed(root)?;
    let is_program =
        |file: &&str| file.ends_with(".rs") && !file.starts_with(TEST_CRATES) && !file.ends_with(BUILD_SCRIPT);
    let rust: Vec<_> = committed.iter().map(String::as_str).filter(is_program).collect();
    let sources = sources::read_all(root, &rust, FileTexts::read)?;
    let mut pages = Files::default();
    pages.own(FOLDER);
    for (owner, sources) in sources::divide(Metadata::load(&[])?.crates(), sources) {
        let page = page(&owner.name, &owner.folder, &sources);
        if !page.is_empty() {
            pages.add(format!("{FOLDER}/{}.txt", owner.name), page.render())?;
        }
    }
    Ok(pages)
}

/// The page of the crate `owner`, which is in `folder`.
fn page(owner: &str, folder: &str, sources: &sources::Sources<FileTexts>) -> Page {
    let mut page = Page::new(owner);
    for (file, texts) in program_files::of(folder, sources) {
        let file = file.strip_prefix(folder).unwrap_or(file);
        page.add_literals(file, &texts.literals);
        page.add_help(file, &texts.help);
    }
    page
}

#[cfg(test)]
mod tests;

//! The result of an import, and the remaining manual steps.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use syn::{Item, UseTree};

use super::draft::Draft;
use super::{mark, write};

/// The report at the end.
#[derive(Debug, Default)]
pub(super) struct Report {
    kinds: Vec<String>,
    structs: usize,
    files: Vec<PathBuf>,
    unchanged: Vec<PathBuf>,
    marks: Vec<String>,
    steps: Vec<String>,
}

impl Report {
    /// Counts the drafted content.
    pub(super) fn from_drafts(drafts: &[Draft]) -> Self {
        let mut report = Self::default();
        for draft in drafts {
            for item in &draft.structs {
                match item.resource {
                    Some(_) => report.kinds.push(format!("{} {}", draft.api_version(), item.name)),
                    None => report.structs += 1,
                }
            }
        }
        report
    }

    /// Records a written file.
    pub(super) fn written(&mut self, path: PathBuf) {
        self.files.push(path);
    }

    /// Returns the written files.
    pub(super) fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Collects the marks in the written files, and those left in existing files.
    pub(super) fn read_marks(&mut self) -> Result<()> {
        for path in self.files.iter().chain(&self.unchanged) {
            let text = std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
            self.marks.extend(mark::places(path, &text));
        }
        Ok(())
    }

    /// Records the modules and names that an existing module file lacks.
    pub(super) fn record_existing(&mut self, path: &Path, present: &str, wanted: &str) {
        self.unchanged.push(path.to_owned());
        let (present, wanted) = (Declared::read(present), Declared::read(wanted));
        if wanted.modules.is_empty() {
            let step = format!(
                "{} was kept: to replace it by the draft, remove it and import again",
                path.display()
            );
            self.steps.push(step);
            return;
        }
        // The content of an existing file is unknown.
        let is_kept = |module: &str| {
            self.unchanged
                .contains(&path.with_extension("").join(module).with_extension("rs"))
        };
        let mut lines: Vec<String> = wanted
            .modules
            .iter()
            .filter(|(_, name)| !present.has_module(name))
            .map(|(public, name)| {
                let public = if *public { "pub " } else { "" };
                format!("{public}mod {name};")
            })
            .collect();
        for (module, name) in wanted.uses {
            if !is_kept(&module) && !present.uses.iter().any(|(_, known)| *known == name) {
                lines.push(format!("pub use {module}::{name};"));
            }
        }
        if !lines.is_empty() {
            self.steps
                .push(format!("add to {}:\n    {}", path.display(), lines.join("\n    ")));
        }
    }

    /// Records the group modules that the crate with the sources `out` does not declare.
    pub(super) fn crate_root(&mut self, out: &Path, drafts: &[Draft]) {
        let modules: BTreeSet<String> = drafts.iter().map(|draft| write::module(&draft.group)).collect();
        let root = out.join("lib.rs");
        let declared = std::fs::read_to_string(&root).map(|text| Declared::read(&text));
        let missing: Vec<String> = modules
            .into_iter()
            .filter(|module| !declared.as_ref().is_ok_and(|declared| declared.has_module(module)))
            .map(|module| format!("`pub mod {module};`"))
            .collect();
        if missing.is_empty() {
            return;
        }
        self.steps
            .push(format!("add {} to {}", missing.join(", "), root.display()));
        if declared.is_err() {
            let step = "that file does not exist: `cargo xtask new-group GROUP/VERSION --kind KIND` creates a crate";
            self.steps.push(step.to_owned());
        }
    }

    /// Returns the text for the terminal.
    pub(super) fn render(&self) -> String {
        let mut text = format!(
            "\n{} and {}\n",
            counted(self.kinds.len(), "kind"),
            counted(self.structs, "other struct")
        );
        self.kinds.iter().for_each(|kind| text.push_str(&format!("  {kind}\n")));
        if !self.marks.is_empty() {
            let marks = counted(self.marks.len(), "thing");
            text.push_str(&format!(
                "{marks} that the files do not say, marked there with TODO(import):\n"
            ));
            self.marks.iter().for_each(|mark| text.push_str(&format!("  {mark}\n")));
        }
        text.push_str("next:\n");
        self.steps.iter().for_each(|step| text.push_str(&format!("  {step}\n")));
        if !self.marks.is_empty() {
            text.push_str(
                "  see to the marks; a kind with `strategy` in #[resource(...)] has functions in `impl Strategy`\n",
            );
        }
        text + "  cargo xtask generate\n"
    }
}

fn counted(count: usize, noun: &str) -> String {
    match count {
        1 => format!("1 {noun}"),
        count => format!("{count} {noun}s"),
    }
}

/// The modules and names declared in a file.
#[derive(Debug, Default)]
struct Declared {
    /// The visibility and name of each module; true for public.
    modules: Vec<(bool, String)>,
    /// The module and name of each import.
    uses: Vec<(String, String)>,
}

impl Declared {
    /// Parses a file; invalid Rust declares nothing.
    fn read(text: &str) -> Self {
        let mut declared = Self::default();
        for item in syn::parse_file(text).map(|file| file.items).unwrap_or_default() {
            match item {
                Item::Mod(module) => {
                    let public = matches!(module.vis, syn::Visibility::Public(_));
                    declared.modules.push((public, module.ident.to_string()));
                }
                Item::Use(item) if matches!(item.vis, syn::Visibility::Public(_)) => {
                    declared.names(&mut Vec::new(), &item.tree)
                }
                _ => {}
            }
        }
        declared
    }

    fn names(&mut self, path: &mut Vec<String>, tree: &UseTree) {
        match tree {
            UseTree::Path(step) => {
                path.push(step.ident.to_string());
                self.names(path, &step.tree);
                path.pop();
            }
            UseTree::Name(name) => self.uses.push((path.join("::"), name.ident.to_string())),
            UseTree::Rename(name) => self.uses.push((path.join("::"), name.rename.to_string())),
            UseTree::Glob(_) => {}
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.names(path, tree)),
        }
    }

    fn has_module(&self, name: &str) -> bool {
        self.modules.iter().any(|(_, known)| known == name)
    }
}

//! The page with the texts of one crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::help::Help;
use super::literal::Literal;
use super::prose;
use super::section::Section;

/// The texts of one section: by file, then by the call or item around them.
type Texts = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// The texts of one crate.
#[derive(Debug)]
pub(super) struct Page {
    owner: String,
    sections: BTreeMap<Section, Texts>,
}

impl Page {
    /// Returns a page without texts for the crate `owner`.
    pub(super) fn new(owner: &str) -> Self {
        Self {
            owner: owner.to_owned(),
            sections: BTreeMap::new(),
        }
    }

    /// Adds the texts among the literals of `file`.
    pub(super) fn add_literals(&mut self, file: &str, literals: &[Literal]) {
        for literal in literals {
            let section = Section::from_literal(literal);
            if prose::is_text(literal, section) {
                self.add(section, file, prose::label(literal), &literal.value);
            }
        }
    }

    /// Adds the help of flags in `file`.
    pub(super) fn add_help(&mut self, file: &str, help: &[Help]) {
        for help in help {
            self.add(Section::Help, file, help.owner.clone(), &help.text);
        }
    }

    fn add(&mut self, section: Section, file: &str, label: String, text: &str) {
        let files = self.sections.entry(section).or_default();
        let labels = files.entry(file.to_owned()).or_default();
        labels.entry(label).or_default().insert(on_one_line(text));
    }

    /// True if the crate has no texts.
    pub(super) fn is_empty(&self) -> bool {
        self.sections.is_empty()
    }

    /// Returns the page as text.
    pub(super) fn render(&self) -> String {
        let mut page = format!(
            "Texts of {} for people: written by `cargo xtask texts`; edit the sources instead.\n",
            self.owner
        );
        for section in Section::ALL {
            let Some(files) = self.sections.get(&section) else {
                continue;
            };
            // Writing to a String cannot fail.
            let _ = write!(page, "\n\n## {}\n", section.heading());
            for (file, labels) in files {
                let _ = write!(page, "\n{file}\n");
                for (label, texts) in labels {
                    let _ = writeln!(page, "  {label}");
                    for text in texts {
                        let _ = writeln!(page, "    \"{text}\"");
                    }
                }
            }
        }
        page
    }
}

/// Returns `text` with line ends and other control characters as they are written in literals.
fn on_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_control() {
            line.extend(character.escape_default());
        } else {
            line.push(character);
        }
    }
    line
}

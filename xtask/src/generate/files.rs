//! Rendered files by path, and their comparison with a tree.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::difference::{Change, Difference};

/// All rendered files, in memory; paths are relative to the workspace.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    texts: BTreeMap<PathBuf, String>,
    owned: BTreeSet<PathBuf>,
}

impl Files {
    /// Adds a file. Two renderers must not write the same file.
    pub(crate) fn add(&mut self, path: impl Into<PathBuf>, text: String) -> Result<()> {
        let path = path.into();
        if self.texts.contains_key(&path) {
            bail!("{} is rendered twice", path.display());
        }
        self.texts.insert(path, text);
        Ok(())
    }

    /// Declares that `folder` contains only rendered files, at any depth: other files in it are orphans.
    pub(crate) fn own(&mut self, folder: impl Into<PathBuf>) {
        self.owned.insert(folder.into());
    }

    /// Returns the differences to the tree at `root`, sorted by path.
    pub(crate) fn compare(&self, root: &Path) -> Result<Vec<Difference>> {
        let mut differences = Vec::new();
        for (path, text) in &self.texts {
            let present = read(&root.join(path))?;
            if present.as_ref() != Some(text) {
                let change = match present {
                    None => Change::Missing { wanted: text.clone() },
                    Some(present) => Change::Stale {
                        present,
                        wanted: text.clone(),
                    },
                };
                differences.push(Difference {
                    path: path.clone(),
                    change,
                });
            }
        }
        let mut present = BTreeSet::new();
        for folder in &self.owned {
            list(root, folder, &mut present)?;
        }
        for path in present {
            if !self.texts.contains_key(&path) {
                differences.push(Difference {
                    path,
                    change: Change::Orphaned,
                });
            }
        }
        differences.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(differences)
    }
}

/// Returns the text of a file; `None` if it does not exist.
fn read(path: &Path) -> Result<Option<String>> {
    match std::fs::read(path) {
        // Generated files are always UTF-8, so other content is stale.
        Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).into_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("reading {}", path.display())),
    }
}

/// Adds the files below `folder`, relative to `root`.
pub(super) fn list(root: &Path, folder: &Path, found: &mut BTreeSet<PathBuf>) -> Result<()> {
    let full = root.join(folder);
    if !full.is_dir() {
        return Ok(());
    }
    for entry in std::fs::read_dir(&full).with_context(|| format!("reading {}", full.display()))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            list(root, &path, found)?;
        } else {
            found.insert(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(differences: &[Difference]) -> Vec<(String, &'static str)> {
        let rendered = |difference: &Difference| (difference.path.display().to_string(), difference.change.word());
        differences.iter().map(rendered).collect()
    }

    #[test]
    fn missing_stale_and_orphaned_files_are_told_apart_and_resolved() {
        let tree = tempfile::tempdir().expect("a temporary folder");
        let root = tree.path();
        std::fs::create_dir_all(root.join("out/old")).expect("a folder");
        std::fs::write(root.join("out/stale.rs"), "old\n").expect("a file");
        std::fs::write(root.join("out/old/gone.rs"), "old\n").expect("a file");
        std::fs::write(root.join("by-hand.rs"), "mine\n").expect("a file");
        let mut files = Files::default();
        files.own("out");
        for path in ["out/stale.rs", "out/new/missing.rs"] {
            files.add(path, "new\n".to_owned()).expect("rendered once");
        }

        let differences = files.compare(root).expect("a readable tree");
        let expected = [
            ("out/new/missing.rs", "missing"),
            ("out/old/gone.rs", "orphaned"),
            ("out/stale.rs", "stale"),
        ];
        assert_eq!(
            kinds(&differences),
            expected.map(|(path, word)| (path.to_owned(), word))
        );
        assert!(
            differences[2].to_string().contains("-old\n+new\n"),
            "{}",
            differences[2]
        );

        for difference in &differences {
            difference.resolve(root).expect("a writable tree");
        }
        assert_eq!(files.compare(root).expect("a readable tree"), []);
        assert!(root.join("by-hand.rs").exists());
        assert!(!root.join("out/old").exists(), "an emptied folder is removed");
    }

    #[test]
    fn one_file_cannot_be_rendered_twice() {
        let mut files = Files::default();
        files.add("a", String::new()).expect("the first one");
        assert!(files.add("a", String::new()).is_err());
    }
}

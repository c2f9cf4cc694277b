//! A disk with a cache that a loss of power empties.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::trace::Call;

/// Which names a loss of power leaves. File systems differ, and both have to be survived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// Those of each folder's last sync: new files may be missing, removed ones may be back.
    Synced,
    /// The newest: whatever was created, renamed or removed is, before any content.
    Eager,
    /// The newest in the folder `journal`, those of the last sync elsewhere.
    EagerJournal,
    /// All names and all content: no loss of power, only of the process.
    Killed,
}

/// Everything below one folder.
pub(super) struct Disk {
    root: PathBuf,
    files: Vec<File>,
    /// What each name means now, and what it means after a loss of power.
    names: BTreeMap<PathBuf, usize>,
    synced: BTreeMap<PathBuf, usize>,
    open: HashMap<i64, Handle>,
}

#[derive(Default)]
struct File {
    folder: bool,
    content: Vec<u8>,
    synced: Vec<u8>,
}

struct Handle {
    file: usize,
    path: PathBuf,
    offset: usize,
    /// The content, or the names, when a sync began.
    syncing: Option<(Vec<u8>, BTreeMap<PathBuf, usize>)>,
}

impl Disk {
    pub(super) fn new(root: &Path) -> Self {
        let folder = File {
            folder: true,
            ..File::default()
        };
        let names = BTreeMap::from([(root.to_owned(), 0)]);
        Self {
            root: root.to_owned(),
            files: vec![folder],
            synced: names.clone(),
            names,
            open: HashMap::new(),
        }
    }

    pub(super) fn apply(&mut self, call: Call) {
        match call {
            Call::Open {
                path,
                create,
                truncate,
                append,
                file,
            } => self.open(path.into(), create, truncate, append, file),
            Call::Close { file } => {
                self.open.remove(&file);
            }
            Call::Write { file, bytes } => {
                if let Some(handle) = self.open.get_mut(&file) {
                    let offset = handle.offset;
                    handle.offset += bytes.len();
                    self.write(file, &bytes, offset);
                }
            }
            Call::WriteAt { file, bytes, offset } => self.write(file, &bytes, offset),
            Call::Seek { file, offset } => {
                if let Some(handle) = self.open.get_mut(&file) {
                    handle.offset = offset;
                }
            }
            Call::Truncate { file, length } => {
                if let Some(handle) = self.open.get(&file) {
                    self.files[handle.file].content.resize(length, 0);
                }
            }
            Call::SyncBegin { file } => {
                if let Some(handle) = self.open.get_mut(&file) {
                    handle.syncing = Some((self.files[handle.file].content.clone(), self.names.clone()));
                }
            }
            Call::SyncEnd { file } => self.sync(file),
            Call::Rename { from, to } => self.rename(&PathBuf::from(from), &PathBuf::from(to)),
            Call::Remove { path } => {
                self.names.remove(Path::new(&path));
            }
            Call::MakeFolder { path } => {
                let path = PathBuf::from(path);
                if path.starts_with(&self.root) {
                    self.files.push(File {
                        folder: true,
                        ..File::default()
                    });
                    self.names.insert(path, self.files.len() - 1);
                }
            }
            Call::Answer { .. } => {}
        }
    }

    /// Whether `call`, not applied yet, changes names below `folder`, or syncs something there.
    pub(super) fn is_step_in(&self, folder: &Path, call: &Call) -> bool {
        match call {
            Call::Rename { to: path, .. } | Call::Remove { path } | Call::MakeFolder { path } => {
                Path::new(path).starts_with(folder)
            }
            Call::Open { path, create, .. } => *create && Path::new(path).starts_with(folder),
            Call::SyncBegin { file } | Call::SyncEnd { file } => {
                let handle = self.open.get(file);
                handle.is_some_and(|handle| handle.path.starts_with(folder))
            }
            _ => false,
        }
    }

    fn open(&mut self, path: PathBuf, create: bool, truncate: bool, append: bool, number: i64) {
        // A number that is used again was closed in between.
        self.open.remove(&number);
        if create && path.starts_with(&self.root) && !self.names.contains_key(&path) {
            self.files.push(File::default());
            self.names.insert(path.clone(), self.files.len() - 1);
        }
        let Some(file) = self.names.get(&path).copied() else {
            return;
        };
        if truncate {
            self.files[file].content.clear();
        }
        let offset = if append { self.files[file].content.len() } else { 0 };
        self.open.insert(
            number,
            Handle {
                file,
                path,
                offset,
                syncing: None,
            },
        );
    }

    fn write(&mut self, number: i64, bytes: &[u8], offset: usize) {
        let Some(handle) = self.open.get(&number) else { return };
        let content = &mut self.files[handle.file].content;
        let end = offset + bytes.len();
        if content.len() < end {
            content.resize(end, 0);
        }
        content[offset..end].copy_from_slice(bytes);
    }

    fn sync(&mut self, number: i64) {
        let Some(handle) = self.open.get_mut(&number) else {
            return;
        };
        let Some((content, names)) = handle.syncing.take() else {
            return;
        };
        if self.files[handle.file].folder {
            let inside = |path: &Path| path.parent() == Some(&handle.path);
            self.synced.retain(|path, _| !inside(path));
            self.synced.extend(names.into_iter().filter(|(path, _)| inside(path)));
        } else {
            self.files[handle.file].synced = content;
        }
    }

    /// Moves a name, and for a folder all names below it.
    fn rename(&mut self, from: &Path, to: &Path) {
        let moved: Vec<_> = self
            .names
            .keys()
            .filter(|path| path.starts_with(from))
            .cloned()
            .collect();
        for old in moved {
            let below = old.strip_prefix(from).unwrap();
            let new = if below.as_os_str().is_empty() {
                to.to_owned()
            } else {
                to.join(below)
            };
            let file = self.names.remove(&old).unwrap();
            // A folder takes its synced names along; its own name waits for its parent's sync.
            if old != from
                && let Some(file) = self.synced.get(&old).copied()
            {
                self.synced.insert(new.clone(), file);
            }
            self.names.insert(new, file);
        }
    }

    /// Compares what the calls made of the files with what they are.
    pub(super) fn check(&self) {
        for (path, file) in &self.names {
            if !self.files[*file].folder {
                assert!(
                    std::fs::read(path).unwrap() == self.files[*file].content,
                    "{} differs",
                    path.display()
                );
            }
        }
    }

    /// Writes to `target` what a loss of power leaves now.
    pub(super) fn restore(&self, target: &Path, names_left: Names) {
        let in_journal = |path: &Path| path.parent().is_some_and(|parent| parent.ends_with("journal"));
        let newest = |path: &Path| match names_left {
            Names::Synced => false,
            Names::Eager | Names::Killed => true,
            Names::EagerJournal => in_journal(path),
        };
        let synced = self.synced.iter().filter(|(path, _)| !newest(path));
        let names: BTreeMap<_, _> = synced
            .chain(self.names.iter().filter(|(path, _)| newest(path)))
            .collect();
        // Folders come before what is in them.
        for (path, file) in names {
            let path = target.join(path.strip_prefix(&self.root).unwrap());
            let reachable = path.parent().is_some_and(Path::is_dir);
            let file = &self.files[*file];
            if file.folder && reachable {
                std::fs::create_dir_all(path).unwrap();
            } else if reachable {
                let killed = names_left == Names::Killed;
                std::fs::write(path, if killed { &file.content } else { &file.synced }).unwrap();
            }
        }
    }
}

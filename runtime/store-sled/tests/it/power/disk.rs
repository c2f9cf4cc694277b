//! A disk with a cache that a loss of power empties, in whole or in part.

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};

use super::chance::Chance;
use super::trace::Call;

/// Disks write whole sectors, though some memory only writes lines.
const SECTOR: usize = 512;
const LINE: usize = 64;

/// The content after a loss of power. File systems differ, and the store has to survive all of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outage {
    /// The content of the last syncs: new files may be missing, removed ones may be back.
    Synced,
    /// Synced content under the newest names: every creation, rename and removal comes before any content.
    Eager,
    /// The newest names in the folder `journal`, and synced names elsewhere.
    EagerJournal,
    /// All names and all content: only the process has ended.
    Killed,
    /// Any part of the unsynced changes, names and sectors in any order, some sectors written in part. The number is
    /// the seed.
    Random(u64),
}

/// The files below one folder.
pub(super) struct Disk {
    root: PathBuf,
    /// The first is the root.
    files: Vec<File>,
    open: HashMap<i64, Handle>,
}

#[derive(Clone, Default)]
struct File {
    is_folder: bool,
    content: Vec<u8>,
    synced: Vec<u8>,
    /// The files in a folder, now and as they are synced.
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    /// Changes of names since the last sync.
    pending: Vec<NameChange>,
}

#[derive(Clone)]
enum NameChange {
    Add { name: String, file: usize },
    Remove { name: String },
    Rename { from: String, to: String, file: usize },
}

struct Handle {
    file: usize,
    path: PathBuf,
    offset: usize,
    /// The content that becomes synced when a sync that has begun ends.
    syncing: Option<Syncing>,
}

struct Syncing {
    content: Vec<u8>,
    names: BTreeMap<String, usize>,
    pending: usize,
}

impl Disk {
    /// Returns a disk with the files in `root`, all of them synced.
    pub(super) fn new(root: &Path) -> Self {
        let mut disk = Self {
            root: root.to_owned(),
            files: Vec::new(),
            open: HashMap::new(),
        };
        disk.add(root);
        disk
    }

    /// The same disk after the process ended, restored below `root`: unsynced changes are still unsynced.
    pub(super) fn after_kill(&self, root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            files: self.files.clone(),
            open: HashMap::new(),
        }
    }

    fn add(&mut self, path: &Path) -> usize {
        let number = self.files.len();
        self.files.push(File::default());
        let mut file = File {
            is_folder: path.is_dir(),
            ..File::default()
        };
        if file.is_folder {
            for entry in std::fs::read_dir(path).unwrap().map(Result::unwrap) {
                let inside = self.add(&entry.path());
                file.names.insert(entry.file_name().into_string().unwrap(), inside);
            }
            file.synced_names = file.names.clone();
        } else {
            file.content = std::fs::read(path).unwrap();
            file.synced.clone_from(&file.content);
        }
        self.files[number] = file;
        number
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
                    let File {
                        content,
                        names,
                        pending,
                        ..
                    } = &self.files[handle.file];
                    handle.syncing = Some(Syncing {
                        content: content.clone(),
                        names: names.clone(),
                        pending: pending.len(),
                    });
                }
            }
            Call::SyncEnd { file } => self.sync(file),
            Call::Rename { from, to } => self.rename(Path::new(&from), Path::new(&to)),
            Call::Remove { path } => {
                if let Some((folder, name)) = self.place(Path::new(&path)) {
                    self.files[folder].names.remove(&name).unwrap();
                    self.files[folder].pending.push(NameChange::Remove { name });
                }
            }
            Call::MakeFolder { path } => {
                self.make(Path::new(&path), true);
            }
            Call::Answer { .. } => {}
        }
    }

    /// True if `call`, not applied yet, changes names below `folder`, or syncs a file there.
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

    /// The file at `path`, if that is below the root and exists.
    fn find(&self, path: &Path) -> Option<usize> {
        let inside = path.strip_prefix(&self.root).ok()?;
        inside.components().try_fold(0, |folder, component| {
            let Component::Normal(name) = component else {
                panic!("{} is not plain", path.display());
            };
            self.files[folder].names.get(name.to_str().unwrap()).copied()
        })
    }

    /// The folder of `path`, and the name in it.
    fn place(&self, path: &Path) -> Option<(usize, String)> {
        let folder = self.find(path.parent()?)?;
        Some((folder, path.file_name()?.to_str()?.to_owned()))
    }

    fn make(&mut self, path: &Path, is_folder: bool) {
        if let Some((folder, name)) = self.place(path) {
            let file = self.files.len();
            self.files.push(File {
                is_folder,
                ..File::default()
            });
            self.files[folder].names.insert(name.clone(), file);
            self.files[folder].pending.push(NameChange::Add { name, file });
        }
    }

    fn open(&mut self, path: PathBuf, create: bool, truncate: bool, append: bool, number: i64) {
        // A descriptor that is used again was closed in between.
        self.open.remove(&number);
        if create && self.find(&path).is_none() {
            self.make(&path, false);
        }
        let Some(file) = self.find(&path) else {
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
        let Some(syncing) = handle.syncing.take() else {
            return;
        };
        let file = &mut self.files[handle.file];
        file.synced = syncing.content;
        file.synced_names = syncing.names;
        file.pending.drain(..syncing.pending);
    }

    fn rename(&mut self, from: &Path, to: &Path) {
        let Some((folder, from)) = self.place(from) else {
            return;
        };
        let (target, to) = self.place(to).unwrap();
        assert_eq!(folder, target, "the store renames within a folder");
        let folder = &mut self.files[folder];
        let file = folder.names.remove(&from).unwrap();
        folder.names.insert(to.clone(), file);
        folder.pending.push(NameChange::Rename { from, to, file });
    }

    /// Compares the simulated files with the real ones.
    pub(super) fn check(&self) {
        self.check_folder(0, &self.root);
    }

    fn check_folder(&self, folder: usize, path: &Path) {
        let found = std::fs::read_dir(path).unwrap().count();
        assert_eq!(found, self.files[folder].names.len(), "files in {}", path.display());
        for (name, file) in &self.files[folder].names {
            let path = path.join(name);
            if self.files[*file].is_folder {
                self.check_folder(*file, &path);
            } else {
                assert!(
                    std::fs::read(&path).unwrap() == self.files[*file].content,
                    "{} differs",
                    path.display()
                );
            }
        }
    }

    /// Writes to `target` the content after a loss of power now.
    pub(super) fn restore(&self, target: &Path, outage: Outage) {
        let seed = if let Outage::Random(seed) = outage { seed } else { 0 };
        self.restore_folder(0, target, outage, &mut Chance::new(seed));
    }

    fn restore_folder(&self, folder: usize, target: &Path, outage: Outage, chance: &mut Chance) {
        let folder = &self.files[folder];
        let names = match outage {
            Outage::Killed | Outage::Eager => folder.names.clone(),
            Outage::EagerJournal if target.ends_with("journal") => folder.names.clone(),
            Outage::Synced | Outage::EagerJournal => folder.synced_names.clone(),
            Outage::Random(_) => folder.random_names(chance),
        };
        for (name, number) in names {
            let (file, path) = (&self.files[number], target.join(name));
            if file.is_folder {
                std::fs::create_dir(&path).unwrap();
                self.restore_folder(number, &path, outage, chance);
                continue;
            }
            let content = match outage {
                Outage::Killed => file.content.clone(),
                Outage::Synced | Outage::Eager | Outage::EagerJournal => file.synced.clone(),
                Outage::Random(_) => file.random_content(chance),
            };
            std::fs::write(path, content).unwrap();
        }
    }
}

impl File {
    /// The synced names with some of the later changes, each of which happens or not.
    fn random_names(&self, chance: &mut Chance) -> BTreeMap<String, usize> {
        let mut names = self.synced_names.clone();
        for change in &self.pending {
            if chance.one_in(2) {
                continue;
            }
            match change {
                NameChange::Add { name, file } => {
                    names.insert(name.clone(), *file);
                }
                NameChange::Remove { name } => {
                    names.remove(name);
                }
                NameChange::Rename { from, to, file } => {
                    if names.get(from) == Some(file) {
                        names.remove(from);
                    }
                    names.insert(to.clone(), *file);
                }
            }
        }
        names
    }

    /// The synced content with some of the sectors that were written later, some of them in part.
    fn random_content(&self, chance: &mut Chance) -> Vec<u8> {
        let mut content = self.synced.clone();
        let shorter = self.synced.len().min(self.content.len());
        let longer = self.synced.len().max(self.content.len());
        let length = match chance.below(3) {
            0 => self.synced.len(),
            1 => self.content.len(),
            _ => shorter + chance.below(longer - shorter + 1),
        };
        content.resize(length, 0);
        for start in (0..length).step_by(SECTOR) {
            let end = (start + SECTOR).min(length).min(self.content.len());
            if start >= end || content[start..end] == self.content[start..end] {
                continue;
            }
            let torn = start + chance.below(SECTOR / LINE) * LINE;
            let written = match chance.below(8) {
                0..3 => start..end,
                3 => start..torn.min(end),
                4 => torn.min(end)..end,
                _ => continue,
            };
            content[written.clone()].copy_from_slice(&self.content[written]);
        }
        content
    }
}

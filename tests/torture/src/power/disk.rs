//! A disk with a cache that a loss of power empties, in whole or in part.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;

use super::trace::Call;

/// Disks write whole sectors, though some memory only writes lines.
const SECTOR: usize = 512;
const LINE: usize = 64;

/// The operating system writes whole pages. After a failed sync it treats them as written.
const PAGE: usize = 4096;

/// The file that only reserves space: its content never matters.
const RESERVE: &str = "reserve";

/// The content after a loss of power. File systems differ, and the store has to survive all of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
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
#[derive(Debug)]
pub(crate) struct Disk {
    root: PathBuf,
    /// The first is the root.
    files: Vec<File>,
    open: HashMap<i64, Handle>,
}

#[derive(Clone, Debug, Default)]
struct File {
    is_folder: bool,
    content: Vec<u8>,
    synced: Vec<u8>,
    /// The files in a folder, now and as they are synced.
    names: BTreeMap<String, usize>,
    synced_names: BTreeMap<String, usize>,
    /// Changes of names since the last sync.
    pending: Vec<NameChange>,
    /// The pages that were written since the last sync, successful or not.
    dirty: BTreeSet<usize>,
}

#[derive(Clone, Debug)]
enum NameChange {
    Add { name: String, file: usize },
    Remove { name: String },
    Rename { from: String, to: String, file: usize },
}

#[derive(Debug)]
struct Handle {
    file: usize,
    path: PathBuf,
    offset: usize,
    /// The content that becomes synced when a sync that has begun ends.
    syncing: Option<Syncing>,
}

#[derive(Debug)]
struct Syncing {
    content: Vec<u8>,
    names: BTreeMap<String, usize>,
    pending: usize,
    dirty: BTreeSet<usize>,
}

impl Disk {
    /// Returns a disk with the files in `root`, all of them synced.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        let mut disk = Self {
            root: root.to_owned(),
            files: Vec::new(),
            open: HashMap::new(),
        };
        disk.add(root)?;
        Ok(disk)
    }

    /// The same disk after the process ended, restored below `root`: unsynced changes are still unsynced.
    pub(crate) fn after_kill(&self, root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            files: self.files.clone(),
            open: HashMap::new(),
        }
    }

    fn add(&mut self, path: &Path) -> Result<usize> {
        let number = self.files.len();
        self.files.push(File::default());
        let mut file = File {
            is_folder: path.is_dir(),
            ..File::default()
        };
        if file.is_folder {
            for entry in fs::read_dir(path)? {
                let entry = entry?;
                let inside = self.add(&entry.path())?;
                file.names.insert(name_of(&entry.path())?, inside);
            }
            file.synced_names = file.names.clone();
        } else if !path.ends_with(RESERVE) {
            file.content = fs::read(path)?;
            file.synced.clone_from(&file.content);
        }
        self.files[number] = file;
        Ok(number)
    }

    /// Performs a call that succeeded; a failed sync writes nothing, and forgets what it should have written.
    pub(crate) fn apply(&mut self, call: &Call) -> Result<()> {
        match call {
            Call::Open {
                path,
                create,
                truncate,
                append,
                file,
            } => self.open(path.into(), *create, *truncate, *append, *file)?,
            Call::Close { file } => {
                self.open.remove(file);
            }
            Call::Write { file, bytes } => {
                if let Some(handle) = self.open.get_mut(file) {
                    let offset = handle.offset;
                    handle.offset += bytes.len();
                    self.write(*file, bytes, offset);
                }
            }
            Call::WriteAt { file, bytes, offset } => self.write(*file, bytes, *offset),
            Call::Seek { file, offset } => {
                if let Some(handle) = self.open.get_mut(file) {
                    handle.offset = *offset;
                }
            }
            Call::Truncate { file, length } => {
                let handle = self.open.get(file);
                if let Some(handle) = handle.filter(|handle| !handle.path.ends_with(RESERVE)) {
                    let file = &mut self.files[handle.file];
                    let shorter = file.content.len().min(*length);
                    let longer = file.content.len().max(*length);
                    file.dirty.extend(shorter / PAGE..longer.div_ceil(PAGE));
                    file.content.resize(*length, 0);
                }
            }
            Call::SyncBegin { file } => self.begin_sync(*file),
            Call::SyncEnd { file } => self.end_sync(*file),
            Call::SyncFailed { file } => {
                if let Some(handle) = self.open.get_mut(file) {
                    handle.syncing = None;
                }
            }
            Call::Rename { from, to } => self.rename(Path::new(from), Path::new(to))?,
            Call::Remove { path } => {
                if let Some((folder, name)) = self.entry(Path::new(path))? {
                    let folder = &mut self.files[folder];
                    folder.names.remove(&name).context("a removed file existed")?;
                    folder.pending.push(NameChange::Remove { name });
                }
            }
            Call::MakeFolder { path } => self.make(Path::new(path), true)?,
            Call::Observed(_) => {}
        }
        Ok(())
    }

    /// True if `call`, not applied yet, changes names below `folder`, or syncs a file there.
    pub(crate) fn is_step_in(&self, folder: &Path, call: &Call) -> bool {
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
    fn find(&self, path: &Path) -> Result<Option<usize>> {
        let Ok(inside) = path.strip_prefix(&self.root) else {
            return Ok(None);
        };
        let mut file = 0;
        for component in inside.components() {
            let Component::Normal(name) = component else {
                anyhow::bail!("{} is not plain", path.display());
            };
            let name = name.to_str().context("names are text")?;
            let Some(found) = self.files[file].names.get(name) else {
                return Ok(None);
            };
            file = *found;
        }
        Ok(Some(file))
    }

    /// The folder of `path`, and the name in it.
    fn entry(&self, path: &Path) -> Result<Option<(usize, String)>> {
        let Some(parent) = path.parent() else {
            return Ok(None);
        };
        let folder = self.find(parent)?;
        folder.map(|folder| Ok((folder, name_of(path)?))).transpose()
    }

    fn make(&mut self, path: &Path, is_folder: bool) -> Result<()> {
        if let Some((folder, name)) = self.entry(path)? {
            let file = self.files.len();
            self.files.push(File {
                is_folder,
                ..File::default()
            });
            self.files[folder].names.insert(name.clone(), file);
            self.files[folder].pending.push(NameChange::Add { name, file });
        }
        Ok(())
    }

    fn open(&mut self, path: PathBuf, create: bool, truncate: bool, append: bool, number: i64) -> Result<()> {
        // A descriptor that is used again was closed in between.
        self.open.remove(&number);
        if create && self.find(&path)?.is_none() {
            self.make(&path, false)?;
        }
        let Some(file) = self.find(&path)? else {
            return Ok(());
        };
        if truncate {
            self.files[file].content.clear();
        }
        let offset = if append { self.files[file].content.len() } else { 0 };
        let handle = Handle {
            file,
            path,
            offset,
            syncing: None,
        };
        self.open.insert(number, handle);
        Ok(())
    }

    fn write(&mut self, number: i64, bytes: &[u8], offset: usize) {
        let Some(handle) = self.open.get(&number) else { return };
        let file = &mut self.files[handle.file];
        let end = offset + bytes.len();
        file.dirty
            .extend(offset.min(file.content.len()) / PAGE..end.div_ceil(PAGE));
        let content = &mut file.content;
        if content.len() < end {
            content.resize(end, 0);
        }
        content[offset..end].copy_from_slice(bytes);
    }

    fn begin_sync(&mut self, number: i64) {
        let Some(handle) = self.open.get_mut(&number) else {
            return;
        };
        let file = &mut self.files[handle.file];
        handle.syncing = Some(Syncing {
            content: file.content.clone(),
            names: file.names.clone(),
            pending: file.pending.len(),
            dirty: std::mem::take(&mut file.dirty),
        });
    }

    fn end_sync(&mut self, number: i64) {
        let Some(handle) = self.open.get_mut(&number) else {
            return;
        };
        let Some(syncing) = handle.syncing.take() else {
            return;
        };
        let file = &mut self.files[handle.file];
        file.synced.resize(syncing.content.len(), 0);
        for page in syncing.dirty {
            let end = ((page + 1) * PAGE).min(syncing.content.len());
            let start = (page * PAGE).min(end);
            file.synced[start..end].copy_from_slice(&syncing.content[start..end]);
        }
        file.synced_names = syncing.names;
        file.pending.drain(..syncing.pending.min(file.pending.len()));
    }

    fn rename(&mut self, from: &Path, to: &Path) -> Result<()> {
        let Some((folder, from)) = self.entry(from)? else {
            return Ok(());
        };
        let (target, to) = self.entry(to)?.context("the target of a rename is in the store")?;
        ensure!(folder == target, "the store renames within a folder");
        let folder = &mut self.files[folder];
        let file = folder.names.remove(&from).context("a renamed file existed")?;
        folder.names.insert(to.clone(), file);
        folder.pending.push(NameChange::Rename { from, to, file });
        Ok(())
    }

    /// Compares the simulated files with the real ones.
    pub(crate) fn check(&self) -> Result<()> {
        self.check_folder(0, &self.root)
    }

    fn check_folder(&self, folder: usize, path: &Path) -> Result<()> {
        let found = fs::read_dir(path)?.count();
        ensure!(
            found == self.files[folder].names.len(),
            "the simulation of {} is wrong",
            path.display()
        );
        for (name, file) in &self.files[folder].names {
            let path = path.join(name);
            if self.files[*file].is_folder {
                self.check_folder(*file, &path)?;
            } else if !path.ends_with(RESERVE) {
                let is_equal = fs::read(&path)? == self.files[*file].content;
                ensure!(is_equal, "the simulation of {} is wrong", path.display());
            }
        }
        Ok(())
    }

    /// Writes to `target` the content after `outage` now.
    pub(crate) fn restore(&self, target: &Path, outage: Outage) -> Result<()> {
        let seed = if let Outage::Random(seed) = outage { seed } else { 0 };
        self.restore_folder(0, target, outage, &mut Rng::with_seed(seed))
    }

    fn restore_folder(&self, folder: usize, target: &Path, outage: Outage, chance: &mut Rng) -> Result<()> {
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
                fs::create_dir(&path)?;
                self.restore_folder(number, &path, outage, chance)?;
                continue;
            }
            let content = match outage {
                Outage::Killed => file.content.clone(),
                Outage::Synced | Outage::Eager | Outage::EagerJournal => file.synced.clone(),
                Outage::Random(_) => file.random_content(chance),
            };
            let file = fs::File::create(path)?;
            file.write_all_at(written(&content), 0)?;
            file.set_len(content.len() as u64)?;
        }
        Ok(())
    }
}

/// The bytes without whole pages of zeros at the end.
fn written(bytes: &[u8]) -> &[u8] {
    let is_written = |page: &[u8]| *page != [0; PAGE][..page.len()];
    let pages = bytes.chunks(PAGE).rposition(is_written).map_or(0, |last| last + 1);
    &bytes[..(pages * PAGE).min(bytes.len())]
}

fn name_of(path: &Path) -> Result<String> {
    let name = path.file_name().and_then(|name| name.to_str());
    Ok(name
        .with_context(|| format!("{} has no name", path.display()))?
        .to_owned())
}

impl File {
    /// The synced names with some of the later changes, each of which happens or not.
    fn random_names(&self, chance: &mut Rng) -> BTreeMap<String, usize> {
        let mut names = self.synced_names.clone();
        for change in &self.pending {
            if chance.bool() {
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
    fn random_content(&self, chance: &mut Rng) -> Vec<u8> {
        let mut content = self.synced.clone();
        let shorter = self.synced.len().min(self.content.len());
        let longer = self.synced.len().max(self.content.len());
        let length = match chance.u8(0..3) {
            0 => self.synced.len(),
            1 => self.content.len(),
            _ => chance.usize(shorter..=longer),
        };
        content.resize(length, 0);
        for start in (0..length).step_by(SECTOR) {
            let end = (start + SECTOR).min(length).min(self.content.len());
            if start >= end || content[start..end] == self.content[start..end] {
                continue;
            }
            let torn = start + chance.usize(0..SECTOR / LINE) * LINE;
            let written = match chance.u8(0..8) {
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

//! A file system of a given size, mounted for a run.

use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use tempfile::TempDir;

/// A kind of file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum FileSystem {
    /// On an image in a file, with a journal of its own, and syncs that reach the disk of the machine.
    Ext4,
    /// In memory, for quick runs: a sync costs nothing.
    Tmpfs,
}

/// A mounted file system. It is unmounted and removed when dropped.
#[derive(Debug)]
pub(super) struct MountedDisk {
    root: TempDir,
}

impl MountedDisk {
    /// Mounts a file system of at most `bytes` bytes.
    ///
    /// # Errors
    ///
    /// It cannot be made or mounted.
    pub(super) fn mount(kind: FileSystem, bytes: u64) -> Result<Self> {
        let disk = Self {
            root: tempfile::tempdir().context("a temporary folder is needed")?,
        };
        std::fs::create_dir(disk.folder())?;
        let mut mount = Command::new("mount");
        match kind {
            FileSystem::Ext4 => {
                let image = disk.root.path().join("image");
                File::create(&image)?.set_len(bytes)?;
                run(Command::new("mkfs.ext4").args(["-q", "-F", "-m", "0"]).arg(&image))?;
                mount.args(["-o", "loop"]).arg(&image);
            }
            FileSystem::Tmpfs => {
                mount.args(["-t", "tmpfs", "-o", &format!("size={bytes}"), "tmpfs"]);
            }
        }
        run(mount.arg(disk.folder())).context("a small disk is needed, and the rights to mount it")?;
        Ok(disk)
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.root.path().join("disk")
    }

    /// Bytes of the file system.
    pub(super) fn size(&self) -> Result<u64> {
        let found = rustix::fs::statvfs(self.folder())?;
        Ok(found.f_blocks * found.f_frsize)
    }

    /// Free bytes.
    pub(super) fn free(&self) -> Result<u64> {
        let found = rustix::fs::statvfs(self.folder())?;
        Ok(found.f_bavail * found.f_frsize)
    }

    /// Writes a file until nothing is free.
    pub(super) fn fill(&self) -> Result<()> {
        let mut file = File::create(self.filler())?;
        for size in [1 << 20, 1 << 12, 1] {
            let block = vec![b'x'; size];
            while file.write_all(&block).is_ok() {}
        }
        // Reports the lack of space that the writes above ran into.
        let _ = file.sync_all();
        Ok(())
    }

    /// Removes that file.
    pub(super) fn free_again(&self) -> Result<()> {
        Ok(std::fs::remove_file(self.filler())?)
    }

    fn filler(&self) -> PathBuf {
        self.folder().join("filler")
    }
}

impl Drop for MountedDisk {
    fn drop(&mut self) {
        // Lazily, because a failed run may still have files open. Nothing is mounted if mounting failed.
        let _ = Command::new("umount").arg("-l").arg(self.folder()).output();
    }
}

fn run(command: &mut Command) -> Result<()> {
    let program = Path::new(command.get_program()).display().to_string();
    let output = command.output().with_context(|| format!("{program} is needed"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{program}: {}", errors.trim());
    Ok(())
}

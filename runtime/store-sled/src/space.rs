//! Space on the disk: how much there is, and what is set aside so that a full disk can become less full by itself.

mod reserve;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planesmith_store::log::LogError;

use self::reserve::Reserve;
use crate::folder::failed;
use crate::generation;

/// Bytes that stay free while sled writes: a failed write would leave it waiting for ever.
pub(crate) const MARGIN: u64 = 2 << 20;

/// Bytes that are set aside for writes that do not make the state larger.
const FOR_WRITES: u64 = 2 << 20;

/// Bytes of the records in one slot: this part of the disk, within these bounds.
const PART_OF_DISK: u64 = 64;
const SLOT: std::ops::RangeInclusive<u64> = (2 << 20)..=(4 << 20);

/// Bytes that a slot takes beside its records, at most, when it has half of what it may have.
const SLOT_OVERHEAD: u64 = 256 << 10;

/// The size of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct DiskSize {
    /// Bytes in all.
    pub total: u64,
    /// Bytes that may still be written.
    pub free: u64,
}

/// Tells how full the disk of a store is. Tests have their own.
#[doc(hidden)]
pub trait Meter: fmt::Debug + Send + Sync {
    /// The size of the file system of `folder`.
    ///
    /// # Errors
    ///
    /// When the operating system does not say.
    fn measure(&self, folder: &Path) -> io::Result<DiskSize>;
}

/// Asks the operating system.
#[derive(Debug)]
pub(crate) struct FileSystem;

impl Meter for FileSystem {
    fn measure(&self, folder: &Path) -> io::Result<DiskSize> {
        let disk = rustix::fs::statvfs(folder)?;
        Ok(DiskSize {
            total: disk.f_blocks * disk.f_frsize,
            free: disk.f_bavail * disk.f_frsize,
        })
    }
}

/// The space of one store. Clones share it.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    path: PathBuf,
    meter: Arc<dyn Meter>,
    /// Bytes of records in one slot.
    slot: u64,
    reserve: Arc<Mutex<Reserve>>,
    /// Bytes that the reserve should have.
    target: Arc<AtomicU64>,
    /// Bytes that what is being settled may still write.
    held: Arc<AtomicU64>,
}

/// Space that nobody else is given, until this is dropped.
#[derive(Debug)]
pub(crate) struct Held(Arc<AtomicU64>);

impl Drop for Held {
    fn drop(&mut self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

impl Space {
    pub(crate) fn measured_by(path: &Path, meter: Arc<dyn Meter>) -> Result<Self, LogError> {
        let total = meter.measure(path).map_err(failed("measure", path))?.total;
        let space = Self {
            path: path.to_owned(),
            meter,
            slot: (total / PART_OF_DISK).clamp(*SLOT.start(), *SLOT.end()),
            reserve: Arc::new(Mutex::new(Reserve::open(path)?)),
            target: Arc::default(),
            held: Arc::default(),
        };
        space.expect_slots_of(space.slot);
        Ok(space)
    }

    /// Bytes of the records that one slot should have at most.
    pub(crate) fn slot(&self) -> u64 {
        self.slot
    }

    /// Sets aside what settling needs when the largest slot has so many bytes of records, as far as there is space. Not while
    /// something is settled, which has its space from what is set aside.
    pub(crate) fn expect_slots_of(&self, bytes: u64) {
        let target = needed_to_settle(bytes) + FOR_WRITES;
        self.target.store(target, Ordering::Relaxed);
        let mut reserve = self.reserve();
        let free = self.measure().unwrap_or(0);
        let size = target.min(reserve.size() + free);
        reserve.resize(size);
    }

    /// Bytes on disk of a state with so many bytes of records in all its slots, at most.
    pub(crate) fn size_of_state(&self, records: u64) -> u64 {
        // Slots have between half of what they may have and all of it.
        let slots = records / (self.slot / 2) + 1;
        records + records / 16 + slots * SLOT_OVERHEAD
    }

    /// Bytes that may be written before the reserve is needed.
    pub(crate) fn free(&self) -> u64 {
        let target = self.target.load(Ordering::Relaxed);
        let available = self.available().unwrap_or(0);
        available.saturating_sub(target)
    }

    /// Makes sure that a file of the journal may grow by `bytes`: for any write, or for one that does not make the state
    /// larger, which is what the reserve is for.
    pub(crate) fn check_for_writing(&self, bytes: u64, from_reserve: bool) -> Result<(), LogError> {
        let target = self.target.load(Ordering::Relaxed);
        let kept = if from_reserve { target - FOR_WRITES } else { target };
        if self.available()? < kept + bytes {
            return Err(LogError::Full);
        }
        self.release(bytes);
        Ok(())
    }

    /// Gives back `bytes` of what is set aside for writes, or what is left of it, because a write was refused though there is
    /// space by all measures. Returns true if there was any left.
    pub(crate) fn give_way(&self, bytes: u64) -> bool {
        let kept = self.target.load(Ordering::Relaxed) - FOR_WRITES;
        let mut reserve = self.reserve();
        let before = reserve.size();
        if before > kept {
            reserve.resize(before.saturating_sub(bytes).max(kept));
        }
        reserve.size() < before
    }

    /// Makes sure that `bytes` may be written to settle something, or to read what is settled.
    pub(crate) fn claim(&self, bytes: u64) -> Result<(), LogError> {
        self.check(bytes)?;
        self.release(bytes);
        Ok(())
    }

    /// As [`Self::claim`], for work that takes a while: until the result is dropped, others leave it these bytes.
    pub(crate) fn hold(&self, bytes: u64) -> Result<Held, LogError> {
        self.claim(bytes)?;
        self.held.store(bytes, Ordering::Relaxed);
        Ok(Held(Arc::clone(&self.held)))
    }

    /// Makes sure that `bytes` could be written to settle something.
    pub(crate) fn check(&self, bytes: u64) -> Result<(), LogError> {
        let available = self.available()?;
        if available >= bytes {
            return Ok(());
        }
        let lack = format!("{bytes} bytes of free space are needed, {available} are there");
        let source = io::Error::new(io::ErrorKind::StorageFull, lack.clone());
        let context = format!("cannot settle or read what is in {}: {lack}", self.path.display());
        Err(LogError::Io { context, source })
    }

    /// True if less is set aside than should be.
    pub(crate) fn is_depleted(&self) -> bool {
        self.reserve().size() < self.target.load(Ordering::Relaxed)
    }

    /// The reason, in words for clients, if there are no `needed` bytes beside those that are set aside.
    pub(crate) fn shortage(&self, needed: u64) -> Option<String> {
        let (available, kept) = (self.available().ok()?, self.target.load(Ordering::Relaxed) + needed);
        (available < kept).then(|| {
            format!(
                "the disk is full: {available} bytes are free, and {kept} are needed to settle what was written and to write \
                 more; only deletions, and updates that make nothing larger, are accepted"
            )
        })
    }

    /// Gives back so much of the reserve that `bytes` are free beside what is held.
    fn release(&self, bytes: u64) {
        let mut reserve = self.reserve();
        let lacking = (bytes + self.held.load(Ordering::Relaxed)).saturating_sub(self.measure().unwrap_or(0));
        if lacking > 0 {
            let left = reserve.size().saturating_sub(lacking);
            reserve.resize(left);
        }
    }

    /// Bytes that are free, with the reserve.
    fn available(&self) -> Result<u64, LogError> {
        let reserve = self.reserve();
        Ok(self.measure()? + reserve.size())
    }

    fn measure(&self) -> Result<u64, LogError> {
        let disk = self.meter.measure(&self.path).map_err(failed("measure", &self.path))?;
        Ok(disk.free)
    }

    fn reserve(&self) -> MutexGuard<'_, Reserve> {
        self.reserve.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes that making a slot with so many bytes of records anew takes: the new generation, and a copy of it or of the old one.
pub(crate) fn needed_to_settle(bytes: u64) -> u64 {
    2 * generation::size_for(bytes) + generation::COPY_OVERHEAD + MARGIN
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use planesmith_store::log::LogError;

    use super::{DiskSize, FOR_WRITES, Meter, Space, needed_to_settle};

    const MB: u64 = 1 << 20;

    /// A disk on which only the reserve takes space.
    #[derive(Debug)]
    struct Small(AtomicU64);

    impl Meter for Small {
        fn measure(&self, folder: &Path) -> std::io::Result<DiskSize> {
            let reserve = folder.join("reserve").metadata().map_or(0, |file| file.len());
            let free = self.0.load(Ordering::SeqCst).saturating_sub(reserve);
            Ok(DiskSize { total: 128 * MB, free })
        }
    }

    #[test]
    fn what_is_set_aside_is_for_settling_and_for_writes_that_add_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let meter = Arc::new(Small(AtomicU64::new(100 * MB)));
        let space = Space::measured_by(folder.path(), Arc::clone(&meter) as Arc<dyn Meter>).unwrap();
        let reserve = || folder.path().join("reserve").metadata().unwrap().len();
        let settling = needed_to_settle(2 * MB);
        let target = settling + FOR_WRITES;
        assert_eq!((space.slot(), reserve()), (2 * MB, target));
        let free = 100 * MB - target;
        assert_eq!(space.free(), free);
        space.check_for_writing(free, false).unwrap();
        assert!(matches!(space.check_for_writing(free + 1, false), Err(LogError::Full)));
        assert_eq!((reserve(), space.shortage(MB)), (target, None));

        // Somebody else fills the disk.
        meter.0.store(reserve(), Ordering::SeqCst);
        assert!(matches!(space.check_for_writing(1, false), Err(LogError::Full)));
        let shortage = space.shortage(1).unwrap();
        assert!(
            shortage.starts_with(&format!("the disk is full: {target} bytes are free")),
            "{shortage}"
        );
        space.check_for_writing(FOR_WRITES, true).unwrap();
        assert_eq!(reserve(), settling, "it gave way");
        meter.0.store(settling, Ordering::SeqCst);
        assert!(matches!(space.check_for_writing(1, true), Err(LogError::Full)));
        space.claim(settling).unwrap();
        assert_eq!(reserve(), 0);
        let lack = space.claim(settling + 1).unwrap_err();
        assert!(lack.to_string().contains(folder.path().to_str().unwrap()));
        let expected = format!("{} bytes of free space are needed, {settling} are there", settling + 1);
        assert_eq!(lack.reason(), expected);

        meter.0.store(50 * MB, Ordering::SeqCst);
        space.expect_slots_of(4 * MB);
        assert!(reserve() > 12 * MB, "what settling larger slots needs is set aside");
        assert_eq!(space.shortage(MB), None);
    }
}

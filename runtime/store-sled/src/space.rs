//! Space on the disk: its size, and a reserve with which a full disk can free space.

mod reserve;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use planesmith_store::log::LogError;

use self::reserve::Reserve;
use crate::errors::failed;

/// Bytes that stay free while sled writes: after a failed write it would wait forever.
pub(crate) const MARGIN: u64 = 2 << 20;

/// Bytes that are reserved for writes that do not make the state larger: for the largest batch, which contains the
/// objects that it deletes, with what a file takes ahead.
const FOR_WRITES: u64 = 5 << 20;

/// Bytes of the records in one slot, as a part of the disk, within these bounds.
const PART_OF_DISK: u64 = 64;
const SLOT: std::ops::RangeInclusive<u64> = (2 << 20)..=(4 << 20);

/// Maximum bytes of a slot beside its records, when it is half full.
const SLOT_OVERHEAD: u64 = 256 << 10;

/// The size of a file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[doc(hidden)]
pub struct DiskSize {
    /// Total bytes.
    pub total: u64,
    /// Bytes that can still be written.
    pub free: u64,
}

/// Measures the disk of a store. Tests have their own.
#[doc(hidden)]
pub trait Meter: fmt::Debug + Send + Sync {
    /// The size of the file system of `folder`.
    ///
    /// # Errors
    ///
    /// The operating system reports an error.
    fn measure(&self, folder: &Path) -> io::Result<DiskSize>;
}

/// The measurement of the operating system.
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
    /// Maximum bytes of records in one slot.
    slot: u64,
    reserve: Arc<Mutex<Reserve>>,
    /// Target size of the reserve, in bytes.
    target: Arc<AtomicU64>,
    /// Bytes that running work may still write.
    reserved: Arc<AtomicU64>,
    /// Bytes that the running round of settling still needs.
    round: Arc<AtomicU64>,
}

/// Space that is reserved for its owner, until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation(Arc<AtomicU64>);

impl Drop for Reservation {
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
            reserved: Arc::default(),
            round: Arc::default(),
        };
        Ok(space)
    }

    /// Maximum bytes of the records that one slot should have.
    pub(crate) fn slot(&self) -> u64 {
        self.slot
    }

    /// Sizes the reserve for work that needs `settling` bytes, and for writes, as far as there is space. Not called during
    /// settling, which uses the reserve.
    pub(crate) fn reserve_for(&self, settling: u64) {
        let target = settling + FOR_WRITES;
        self.target.store(target, Ordering::Relaxed);
        let mut reserve = self.reserve();
        let free = self.measure().unwrap_or(0);
        let size = target.min(reserve.size() + free);
        reserve.resize(size);
    }

    /// Maximum size on disk of a state with `records` bytes of records in all its slots.
    pub(crate) fn size_of_state(&self, records: u64) -> u64 {
        // Slots are between half full and full.
        let slots = records / (self.slot / 2) + 1;
        records + records / 16 + slots * SLOT_OVERHEAD
    }

    /// Bytes that can be written before the reserve is needed.
    pub(crate) fn free(&self) -> u64 {
        let target = self.target.load(Ordering::Relaxed);
        let available = self.available().unwrap_or(0);
        available.saturating_sub(target)
    }

    /// Keeps writes in the reserve from the `bytes` that the running round of settling still needs; 0 when it ends. Otherwise the
    /// round would stop half way, with space used and none freed.
    pub(crate) fn keep_for_round(&self, bytes: u64) {
        self.round.store(bytes, Ordering::Relaxed);
    }

    /// Checks that a file of the journal may grow by `bytes`: for any write, or for one that does not make the state
    /// larger, which may use the reserve, but nothing that settling needs.
    pub(crate) fn check_for_writing(&self, bytes: u64, from_reserve: bool) -> Result<(), LogError> {
        let target = self.target.load(Ordering::Relaxed);
        let kept = match from_reserve {
            true => (target - FOR_WRITES).max(self.round.load(Ordering::Relaxed)),
            false => target,
        };
        if self.available()? < kept + bytes {
            return Err(LogError::Full);
        }
        self.release(bytes);
        Ok(())
    }

    /// Frees up to `bytes` of the reserve for writes, because a write was refused although the measurement shows space.
    /// True if any were freed.
    pub(crate) fn release_reserve(&self, bytes: u64) -> bool {
        let kept = self.target.load(Ordering::Relaxed) - FOR_WRITES;
        let mut reserve = self.reserve();
        let before = reserve.size();
        if before > kept {
            reserve.resize(before.saturating_sub(bytes).max(kept));
        }
        reserve.size() < before
    }

    /// Checks that `bytes` can be written for settling or for reading the state, and frees reserve for them.
    pub(crate) fn claim(&self, bytes: u64) -> Result<(), LogError> {
        self.check(bytes)?;
        self.release(bytes);
        Ok(())
    }

    /// Like [`Self::claim`], for work that takes a while: other work leaves it these bytes until the result is dropped.
    pub(crate) fn claim_until_dropped(&self, bytes: u64) -> Result<Reservation, LogError> {
        self.claim(bytes)?;
        self.reserved.store(bytes, Ordering::Relaxed);
        Ok(Reservation(Arc::clone(&self.reserved)))
    }

    /// Checks that `bytes` could be written for settling.
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

    /// True if the reserve is smaller than its target.
    pub(crate) fn is_depleted(&self) -> bool {
        self.reserve().size() < self.target.load(Ordering::Relaxed)
    }

    /// The reason, fit for clients, if `needed` bytes are not available beside the reserve.
    pub(crate) fn shortage(&self, needed: u64) -> Option<String> {
        let (available, kept) = (self.available().ok()?, self.target.load(Ordering::Relaxed) + needed);
        (available < kept).then(|| {
            format!(
                "the disk is full: {available} bytes are free, and {kept} are needed to settle what was written and to write \
                 more; only deletions, and updates that make nothing larger, are accepted"
            )
        })
    }

    /// Frees so much of the reserve that `bytes` are available beside those of running work.
    fn release(&self, bytes: u64) {
        let mut reserve = self.reserve();
        let lacking = (bytes + self.reserved.load(Ordering::Relaxed)).saturating_sub(self.measure().unwrap_or(0));
        if lacking > 0 {
            let left = reserve.size().saturating_sub(lacking);
            reserve.resize(left);
        }
    }

    /// Available bytes, including the reserve.
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use planesmith_store::log::LogError;

    use super::{DiskSize, FOR_WRITES, Meter, Space};

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
    fn the_reserve_is_for_settling_and_for_writes_that_add_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let meter = Arc::new(Small(AtomicU64::new(100 * MB)));
        let space = Space::measured_by(folder.path(), Arc::clone(&meter) as Arc<dyn Meter>).unwrap();
        let reserve = || folder.path().join("reserve").metadata().unwrap().len();
        let settling = 7 * MB;
        space.reserve_for(settling);
        let target = settling + FOR_WRITES;
        assert_eq!((space.slot(), reserve()), (2 * MB, target));
        let free = 100 * MB - target;
        assert_eq!(space.free(), free);
        space.check_for_writing(free, false).unwrap();
        assert!(matches!(space.check_for_writing(free + 1, false), Err(LogError::Full)));
        assert_eq!((reserve(), space.shortage(MB)), (target, None));

        // Another program fills the disk.
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
        space.keep_for_round(49 * MB);
        space.check_for_writing(MB, true).unwrap();
        assert!(matches!(space.check_for_writing(MB + 1, true), Err(LogError::Full)));
        space.keep_for_round(0);
        space.check_for_writing(2 * MB, true).unwrap();

        space.reserve_for(12 * MB);
        assert_eq!(
            reserve(),
            12 * MB + FOR_WRITES,
            "what settling larger slots needs is set aside"
        );
        assert_eq!(space.shortage(MB), None);
    }
}

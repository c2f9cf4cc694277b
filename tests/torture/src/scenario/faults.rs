//! A disk that is slow, full or failing, below a store in this process.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fastrand::Rng;
use planesmith_store_sled::{CutWrite, DiskFault, DiskSize, Meter};

/// Bytes that a disk writes as a whole.
const SECTOR: u64 = 512;

const EIO: i32 = 5;
const ENOSPC: i32 = 28;

/// The errors of the next calls.
#[derive(Debug, Default)]
pub(super) struct Faults {
    plan: Mutex<Plan>,
    happened: AtomicUsize,
}

#[derive(Debug, Default)]
struct Plan {
    random: Rng,
    /// Calls that succeed before the first failure; `None` if none fails.
    spared: Option<u32>,
    /// Calls that fail then.
    failing: u32,
    error: i32,
    /// Maximum duration of a sync.
    delay: Duration,
}

impl Faults {
    /// Plans the faults of one life. True if the disk may seem to be full.
    pub(super) fn plan(&self, random: &mut Rng) -> bool {
        let mut plan = self.lock();
        *plan = Plan {
            random: random.fork(),
            spared: (random.u8(0..3) > 0).then(|| random.u32(0..120)),
            failing: [1, 1, 2, 5, u32::MAX][random.usize(0..5)],
            error: if random.bool() { EIO } else { ENOSPC },
            delay: Duration::from_micros([0, 0, 500, 3000][random.usize(0..4)]),
        };
        plan.error == ENOSPC
    }

    /// From now on all calls succeed.
    pub(super) fn end(&self) {
        *self.lock() = Plan::default();
    }

    /// The number of failures.
    pub(super) fn happened(&self) -> usize {
        self.happened.load(Ordering::Relaxed)
    }

    fn next(&self) -> Option<i32> {
        let mut plan = self.lock();
        match plan.spared {
            None => None,
            Some(0) if plan.failing == 0 => None,
            Some(0) => {
                plan.failing -= 1;
                self.happened.fetch_add(1, Ordering::Relaxed);
                Some(plan.error)
            }
            Some(spared) => {
                plan.spared = Some(spared - 1);
                None
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Plan> {
        self.plan.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DiskFault for Faults {
    fn before_sync(&self, _path: &Path, _file: &File) -> io::Result<()> {
        let delay = {
            let mut plan = self.lock();
            let most = plan.delay;
            most.mul_f64(plan.random.f64())
        };
        if !delay.is_zero() {
            std::thread::sleep(delay);
        }
        self.next()
            .map_or(Ok(()), |error| Err(io::Error::from_raw_os_error(error)))
    }

    fn before_write(&self, _path: &Path, _file: &File, at: u64, length: usize) -> Result<(), CutWrite> {
        let Some(error) = self.next() else {
            return Ok(());
        };
        // Operating systems write whole pages, and disks at least whole sectors.
        let end = at + self.lock().random.u64(0..=length as u64);
        let end = if end < at + length as u64 {
            end / SECTOR * SECTOR
        } else {
            end
        };
        let written = usize::try_from(end.saturating_sub(at)).unwrap_or(length);
        Err(CutWrite {
            written,
            error: io::Error::from_raw_os_error(error),
        })
    }
}

/// A disk that is full from time to time.
#[derive(Debug)]
pub(super) struct Filling {
    measured: AtomicUsize,
    /// Measurements between two changes.
    period: usize,
    total: u64,
    /// True once the disk never is full any more.
    is_free: AtomicBool,
}

impl Filling {
    pub(super) fn new(random: &mut Rng) -> Self {
        Self {
            measured: AtomicUsize::new(0),
            period: random.usize(20..400),
            total: 256 << 20,
            is_free: AtomicBool::new(false),
        }
    }

    /// From now on there is space.
    pub(super) fn end(&self) {
        self.is_free.store(true, Ordering::Relaxed);
    }
}

impl Meter for Filling {
    fn measure(&self, _folder: &Path) -> io::Result<DiskSize> {
        let number = self.measured.fetch_add(1, Ordering::Relaxed);
        let is_full = number / self.period % 2 == 1 && !self.is_free.load(Ordering::Relaxed);
        Ok(DiskSize {
            total: self.total,
            free: if is_full { 0 } else { self.total / 2 },
        })
    }
}

//! Node ports, each of which belongs to one service.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use planesmith_server::metrics::AllocationScope;
use thiserror::Error;

use super::band::{Band, BandSize};
use crate::options::PortRange;

/// The part of the range that is reserved for ports that users choose: a thirty-second.
const BAND: BandSize = BandSize {
    least: 16,
    most: 128,
    part: 32,
};

/// The first port that a dry run invents; it is outside of the range.
const INVENTED: i32 = 32_769;

/// A reason why a port cannot be allocated, in kube-apiserver's words.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(super) enum PortError {
    /// The port is allocated already.
    #[error("provided port is already allocated")]
    Taken,
    /// The port is outside of the range.
    #[error("provided port is not in the valid range. The range of valid ports is {0}")]
    OutOfRange(PortRange),
    /// All ports are allocated.
    #[error("range is full")]
    Full,
}

/// The allocated node ports; clones share them.
///
/// They are kept in memory, and read from the stored services when the server starts.
#[derive(Clone, Debug)]
pub(super) struct NodePorts {
    range: PortRange,
    taken: Arc<Mutex<BTreeSet<i32>>>,
}

impl NodePorts {
    pub(super) fn new(range: PortRange) -> Self {
        Self {
            range,
            taken: Arc::default(),
        }
    }

    /// Returns ports of which `taken` are allocated, apart from all others.
    pub(super) fn holding(range: PortRange, taken: BTreeSet<i32>) -> Self {
        let taken = Arc::new(Mutex::new(taken));
        Self { range, taken }
    }

    pub(super) fn range(&self) -> PortRange {
        self.range
    }

    fn taken(&self) -> std::sync::MutexGuard<'_, BTreeSet<i32>> {
        // A panic cannot leave a set half changed.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_taken(&self, port: i32) -> bool {
        self.taken().contains(&port)
    }

    /// Returns the allocated ports.
    pub(super) fn all(&self) -> BTreeSet<i32> {
        self.taken().clone()
    }

    /// Allocates `port`.
    pub(super) fn take(&self, port: i32) -> Result<(), PortError> {
        if !self.contains(port) {
            return Err(PortError::OutOfRange(self.range));
        }
        match self.taken().insert(port) {
            true => Ok(()),
            false => Err(PortError::Taken),
        }
    }

    pub(super) fn contains(&self, port: i32) -> bool {
        u16::try_from(port).is_ok_and(|port| self.range.ports().contains(&port))
    }

    /// Allocates any port.
    pub(super) fn take_any(&self) -> Result<i32, PortError> {
        let ports = self.range.ports();
        let (first, last) = (u128::from(*ports.start()), u128::from(*ports.end()));
        let band = Band::new(first, last, last - first + 1, BAND).ok_or(PortError::Full)?;
        let mut taken = self.taken();
        let mut candidates = band.candidates().filter_map(|port| i32::try_from(port).ok());
        let port = candidates.find(|port| !taken.contains(port)).ok_or(PortError::Full)?;
        taken.insert(port);
        Ok(port)
    }

    /// Releases `port`; does nothing if it is free.
    pub(super) fn release(&self, port: i32) {
        self.taken().remove(&port);
    }

    /// Starts a change of a service's ports.
    pub(super) fn begin(&self, dry_run: bool) -> PortChange {
        PortChange {
            ports: self.clone(),
            dry_run,
            taken: BTreeSet::new(),
            released: Vec::new(),
            attempts: Vec::new(),
        }
    }
}

/// The ports that a write allocates and releases. When dropped without a commit, it releases its allocations.
#[derive(Debug)]
pub(super) struct PortChange {
    ports: NodePorts,
    dry_run: bool,
    taken: BTreeSet<i32>,
    released: Vec<i32>,
    /// The attempts to allocate ports, for metrics: their scope, and if they succeeded.
    attempts: Vec<(AllocationScope, bool)>,
}

impl PortChange {
    pub(super) fn take(&mut self, port: i32) -> Result<(), PortError> {
        if !self.dry_run {
            let taken = self.ports.take(port);
            self.attempts.push((AllocationScope::Static, taken.is_ok()));
            taken?;
        } else if self.ports.is_taken(port) || self.taken.contains(&port) {
            return Err(PortError::Taken);
        }
        self.taken.insert(port);
        Ok(())
    }

    /// True if the range has at least `count` ports. A dry run invents ports, so there are always enough.
    pub(super) fn has_free(&self, count: usize) -> bool {
        self.dry_run || count <= self.ports.range.ports().len()
    }

    /// Allocates any port; a dry run invents it.
    pub(super) fn take_any(&mut self) -> Result<i32, PortError> {
        let port = match self.dry_run {
            false => {
                let taken = self.ports.take_any();
                self.attempts.push((AllocationScope::Dynamic, taken.is_ok()));
                taken?
            }
            true => self.taken.last().map_or(INVENTED, |last| last.saturating_add(1)),
        };
        self.taken.insert(port);
        Ok(port)
    }

    /// Releases `port` once the write is stored.
    pub(super) fn release_later(&mut self, port: i32) {
        self.released.push(port);
    }

    /// Keeps the allocations and releases the ports that were given up, which it returns.
    pub(super) fn commit(mut self) -> Vec<i32> {
        self.taken.clear();
        let released = std::mem::take(&mut self.released);
        if self.dry_run {
            return Vec::new();
        }
        for port in &released {
            self.ports.release(*port);
        }
        released
    }

    /// Releases the allocations, which it returns.
    pub(super) fn roll_back(self) -> Vec<i32> {
        match self.dry_run {
            true => Vec::new(),
            false => self.taken.iter().copied().collect(),
        }
    }

    /// The attempts to allocate ports, which it forgets.
    pub(super) fn take_attempts(&mut self) -> Vec<(AllocationScope, bool)> {
        std::mem::take(&mut self.attempts)
    }

    /// True if it has neither allocated nor released ports.
    pub(super) fn is_empty(&self) -> bool {
        self.taken.is_empty() && self.released.is_empty()
    }
}

impl Drop for PortChange {
    fn drop(&mut self) {
        if !self.dry_run {
            for port in &self.taken {
                self.ports.release(*port);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ports(first: u16, last: u16) -> NodePorts {
        NodePorts::new(PortRange::new(first, last).unwrap())
    }

    #[test]
    fn no_port_is_given_twice_and_all_are_given() {
        let ports = ports(30_000, 30_099);
        let given: BTreeSet<i32> = (0..100).map(|_| ports.take_any().unwrap()).collect();
        assert_eq!(given, (30_000..=30_099).collect());
        assert_eq!(ports.take_any(), Err(PortError::Full));
        ports.release(30_050);
        assert_eq!(ports.take_any(), Ok(30_050));
    }

    #[test]
    fn ports_that_users_choose_are_given_out_last() {
        let ports = ports(30_000, 32_767);
        let given: Vec<i32> = (0..2768 - 86).map(|_| ports.take_any().unwrap()).collect();
        assert!(given.iter().all(|port| *port >= 30_086));
        assert!(ports.take_any().unwrap() < 30_086);
    }

    #[test]
    fn a_change_that_is_not_committed_leaves_nothing() {
        let ports = ports(30_000, 30_099);
        ports.take(30_001).unwrap();
        let mut change = ports.begin(false);
        change.take(30_002).unwrap();
        assert_eq!(change.take(30_001), Err(PortError::Taken));
        change.take_any().unwrap();
        change.release_later(30_001);
        drop(change);
        assert_eq!(ports.all(), BTreeSet::from([30_001]));
    }

    #[test]
    fn a_committed_change_keeps_and_gives_up() {
        let ports = ports(30_000, 30_099);
        ports.take(30_001).unwrap();
        let mut change = ports.begin(false);
        change.take(30_002).unwrap();
        change.release_later(30_001);
        change.commit();
        assert_eq!(ports.all(), BTreeSet::from([30_002]));
    }

    #[test]
    fn a_dry_run_takes_nothing_and_sees_what_is_taken() {
        let ports = ports(30_000, 30_099);
        ports.take(30_001).unwrap();
        let mut change = ports.begin(true);
        assert_eq!(change.take(30_001), Err(PortError::Taken));
        change.take(30_002).unwrap();
        assert_eq!(change.take(30_002), Err(PortError::Taken));
        assert_eq!(ports.begin(true).take_any(), Ok(INVENTED));
        change.take(i32::MAX).unwrap();
        assert_eq!(change.take_any(), Ok(i32::MAX));
        change.commit();
        assert_eq!(ports.all(), BTreeSet::from([30_001]));
    }

    #[test]
    fn a_port_outside_is_refused_with_the_range() {
        let error = ports(30_000, 32_767).take(29_999).unwrap_err();
        assert_eq!(
            error.to_string(),
            "provided port is not in the valid range. The range of valid ports is 30000-32767"
        );
    }
}

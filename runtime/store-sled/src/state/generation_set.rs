//! The generations with the records of a slot.

use planesmith_store::log::{LogError, Record};

use crate::generation::Generation;
use crate::space::Space;
use crate::worker::Pulse;

/// A generation, or several if their records are not sorted by slot.
#[derive(Debug)]
pub(crate) struct GenerationSet {
    generations: Vec<Generation>,
}

impl GenerationSet {
    /// Returns the set for slots whose records are in one generation.
    pub(super) fn new(generation: Generation) -> Self {
        Self {
            generations: vec![generation],
        }
    }

    /// Returns the set for slots each of whose records may be in any of `generations`; each key is in one of them.
    /// `None` if there are no generations.
    pub(super) fn unsorted(generations: Vec<Generation>) -> Option<Self> {
        (!generations.is_empty()).then_some(Self { generations })
    }

    /// True if there are several generations.
    pub(crate) fn is_unsorted(&self) -> bool {
        self.generations.len() > 1
    }

    pub(crate) fn generations(&self) -> &[Generation] {
        &self.generations
    }

    /// Bytes on disk.
    pub(crate) fn size(&self) -> u64 {
        self.generations.iter().map(Generation::size).sum()
    }

    /// Bytes of the records of all slots.
    pub(crate) fn bytes(&self) -> u64 {
        self.generations.iter().map(Generation::bytes).sum()
    }

    /// Bytes that have to be free for [`Self::read`].
    pub(crate) fn size_of_copy(&self) -> u64 {
        let sizes = self.generations.iter().map(Generation::size_of_copy);
        sizes.max().unwrap_or(0)
    }

    /// Passes on the records of all slots, which are valid if this succeeds.
    pub(crate) fn read(
        &self,
        space: &Space,
        pulse: &Pulse,
        mut visit: impl FnMut(Record) -> Result<(), LogError>,
    ) -> Result<(), LogError> {
        let mut generations = self.generations.iter();
        generations.try_for_each(|generation| generation.read(space, pulse, &mut visit))
    }
}

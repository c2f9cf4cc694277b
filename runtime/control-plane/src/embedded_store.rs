//! A store that one server has for itself, as its backend opens it.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use planesmith_store::log::Log;

/// The backend of a store that no other server uses.
#[derive(Clone)]
pub struct EmbeddedStore {
    /// Reads and writes the records.
    pub log: Arc<dyn Log>,
    /// The place of the objects, for people: `data/store (sled)`.
    pub place: String,
    /// The folder with the store's files; `None` if it has none on this host.
    pub folder: Option<PathBuf>,
}

impl fmt::Debug for EmbeddedStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EmbeddedStore")
            .field("place", &self.place)
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

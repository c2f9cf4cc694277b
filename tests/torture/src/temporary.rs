//! Folders that end with their tests.

use anyhow::{Context as _, Result};
use tempfile::TempDir;

/// A folder in memory, if there is one: the simulated disk decides what is durable.
pub(crate) fn folder() -> Result<TempDir> {
    tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .context("a temporary folder is needed")
}

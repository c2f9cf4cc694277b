//! The transformation of stored values, such as their encryption, for commands about a whole store.

use std::fmt;
use std::sync::Arc;

use anyhow::Result;
use clap::{ArgMatches, Command};
use planesmith_machinery::scheme::Scheme;
use planesmith_store::Transformers;

/// Transforms the values of stores that commands read and write.
pub trait StoreTransformation: fmt::Debug + Sync {
    /// The flag without which it transforms nothing, for messages.
    fn flag(&self) -> &'static str;

    /// Adds the flags that configure it.
    fn flags(&self, command: Command) -> Command;

    /// Returns the transformers of a store with the kinds in `scheme`; `None` if no flag configures any.
    ///
    /// # Errors
    ///
    /// A flag has a value that cannot be used, such as a file that cannot be read.
    fn open(&self, matches: &ArgMatches, scheme: &Scheme) -> Result<Option<Arc<dyn Transformers>>>;
}

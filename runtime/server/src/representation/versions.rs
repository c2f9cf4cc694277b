//! The versions of a kind: the rules of each, and conversions between them.

use std::fmt;
use std::future::ready;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_dynamic::custom::{self, AsCustom, CustomKind, CustomObject};
use planesmith_machinery::environment::Environment;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::{conversion, defaulting};
use planesmith_store::{Collection, Entry, Indexer, SchemaEpoch};

use super::{Custom, Declared};

/// A pending conversion; it fails with 500 if the converter does.
pub(crate) type Converted<'a> = BoxFuture<'a, ApiResult<Box<dyn Object>>>;

/// Completes an object of the storage version.
pub(crate) type Completion = fn(&mut dyn Object, &Environment);

/// The versions of a kind.
pub(crate) trait Versions {
    /// The version whose rules apply to objects that are sent and shown as `kind`: a write works on it.
    fn ruling_version(&self, kind: &ResourceFacts) -> ResourceFacts;

    /// True if a selectable field has the value that the row of an object has, in whatever version the object is stored.
    fn rows_decide(&self) -> bool;

    /// The metadata of an object of some version, as it is shown alone.
    ///
    /// # Errors
    ///
    /// 500 when the object cannot be converted.
    fn metadata(&self, object: &dyn Object) -> ApiResult<ObjectMeta>;

    /// Converts an object to the version `to` of its kind, without blocking the thread.
    fn convert<'a>(&self, object: Box<dyn Object>, to: &'a ResourceFacts) -> Converted<'a>;

    /// The function that completes an object before it is stored, which came in the version `sent` and is in the storage
    /// version; `None` if nothing is missing.
    fn completion(&self, sent: &ResourceFacts) -> Option<Completion>;

    /// True if another program converts objects of `kind`, so that work on them may wait for it.
    fn has_converter(&self, kind: &ResourceFacts) -> bool;

    /// True if another program has to convert the stored object `bytes` to the version `kind`.
    fn needs_converter(&self, bytes: &[u8], kind: &ResourceFacts) -> bool;

    /// Adapts the objects of `collection`, which `indexer` reads, to the present definition of their kind; `None` if no
    /// other definition of the kind can have been there before.
    fn adapt(&self, collection: &Arc<Collection>, indexer: &Arc<dyn Indexer>) -> Option<Adapted>;

    /// The expected cost of the rules in expressions for an object of `kind` with `bytes` bytes, in nanoseconds.
    fn check_cost(&self, kind: &ResourceFacts, bytes: usize) -> u64;

    /// Restores what a write of the status cannot change in the metadata `new`; `old` is that of the stored object.
    fn restore_metadata(&self, new: &mut ObjectMeta, old: &ObjectMeta);

    /// The fields of `kind` whose changes leave `metadata.generation` as it is.
    fn uncounted_fields(&self, kind: &ResourceFacts) -> &'static [&'static str];
}

impl Versions for Declared {
    fn ruling_version(&self, kind: &ResourceFacts) -> ResourceFacts {
        kind.hub()
    }

    fn rows_decide(&self) -> bool {
        true
    }

    /// That of the storage version, because annotations in which another version keeps fields are only for readers of the
    /// whole object.
    fn metadata(&self, object: &dyn Object) -> ApiResult<ObjectMeta> {
        match object.resource().is_hub() {
            true => Ok(object.meta().clone()),
            false => Ok(conversion::try_convert(object, &object.resource().hub())?
                .meta()
                .clone()),
        }
    }

    fn convert<'a>(&self, object: Box<dyn Object>, to: &'a ResourceFacts) -> Converted<'a> {
        Box::pin(ready(conversion::try_convert(&*object, to)))
    }

    fn completion(&self, sent: &ResourceFacts) -> Option<Completion> {
        // An object of another version has only the defaults of that version.
        (!sent.is_hub()).then_some(defaulting::set_defaults)
    }

    fn has_converter(&self, _: &ResourceFacts) -> bool {
        false
    }

    fn needs_converter(&self, _: &[u8], _: &ResourceFacts) -> bool {
        false
    }

    fn adapt(&self, _: &Arc<Collection>, _: &Arc<dyn Indexer>) -> Option<Adapted> {
        None
    }

    fn check_cost(&self, kind: &ResourceFacts, bytes: usize) -> u64 {
        kind.hub().extensions.check_cost_per_byte.saturating_mul(bytes as u64)
    }

    fn restore_metadata(&self, _: &mut ObjectMeta, _: &ObjectMeta) {
        // Agents annotate objects together with their status.
    }

    fn uncounted_fields(&self, _: &ResourceFacts) -> &'static [&'static str] {
        &["metadata", "status"]
    }
}

impl Versions for Custom {
    fn ruling_version(&self, kind: &ResourceFacts) -> ResourceFacts {
        kind.clone()
    }

    fn rows_decide(&self) -> bool {
        // The row is made of the stored version, and each version selects by fields of its own.
        false
    }

    fn metadata(&self, object: &dyn Object) -> ApiResult<ObjectMeta> {
        Ok(object.meta().clone())
    }

    fn convert<'a>(&self, object: Box<dyn Object>, to: &'a ResourceFacts) -> Converted<'a> {
        Box::pin(async move {
            match object.as_custom() {
                Some(custom) => Ok(Box::new(custom::convert_later(custom, to).await?) as Box<dyn Object>),
                None => Ok(object),
            }
        })
    }

    fn completion(&self, _: &ResourceFacts) -> Option<Completion> {
        Some(|object, environment| {
            object.as_custom_mut().map(CustomObject::prune);
            defaulting::set_defaults(object, environment);
        })
    }

    fn has_converter(&self, kind: &ResourceFacts) -> bool {
        CustomKind::of(kind).is_some_and(CustomKind::has_converter)
    }

    fn needs_converter(&self, bytes: &[u8], kind: &ResourceFacts) -> bool {
        custom::needs_converter(bytes, kind)
    }

    fn adapt(&self, collection: &Arc<Collection>, indexer: &Arc<dyn Indexer>) -> Option<Adapted> {
        Some(Adapted {
            epoch: collection.reindex(indexer),
            collection: Arc::clone(collection),
            indexer: Arc::clone(indexer),
        })
    }

    fn check_cost(&self, kind: &ResourceFacts, bytes: usize) -> u64 {
        CustomKind::of(kind).map_or(0, |custom| custom.check_cost(bytes))
    }

    /// All of it but the managers, and the resourceVersion, which is checked later.
    fn restore_metadata(&self, new: &mut ObjectMeta, old: &ObjectMeta) {
        let managed_fields = std::mem::take(&mut new.managed_fields);
        let resource_version = std::mem::take(&mut new.resource_version);
        new.clone_from(old);
        new.managed_fields = managed_fields;
        new.resource_version = resource_version;
    }

    fn uncounted_fields(&self, kind: &ResourceFacts) -> &'static [&'static str] {
        match kind.subresource("status") {
            Some(_) => &["metadata", "status"],
            None => &["metadata"],
        }
    }
}

/// Objects that were adapted to a definition: the collection reads them by it until this is dropped.
pub(crate) struct Adapted {
    epoch: SchemaEpoch,
    collection: Arc<Collection>,
    indexer: Arc<dyn Indexer>,
}

impl Adapted {
    /// True if the bytes of an entry are known to match the definition.
    pub(crate) fn fits(&self, entry: &Entry) -> bool {
        entry.matches_schema(self.epoch)
    }
}

impl Drop for Adapted {
    fn drop(&mut self) {
        self.collection.release(&self.indexer);
    }
}

impl fmt::Debug for Adapted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Adapted").field(&self.epoch).finish()
    }
}

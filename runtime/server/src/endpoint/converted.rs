//! Objects that an external converter has to convert before they can be rendered.
//!
//! Rendering requests an object in an encoding and cannot be awaited. Conversions by another program are therefore made
//! before, for many objects at once, and replace the stored entries.

use std::sync::Arc;

use bytes::Bytes;
use planesmith_dynamic::custom::{self, CustomObject};
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_store::Entry;

use super::{Call, Endpoint};
use crate::encodings::Encoding;
use crate::offload::Cost;

/// Maximum number of objects in one conversion request.
const OBJECTS: usize = 256;

/// Maximum bytes of objects in one conversion request, unless it is about a single object. Webhooks read requests
/// whole, and often no more than a few MiB.
const BYTES: usize = 1 << 20;

impl Endpoint {
    /// The same entries; those that need a converter are replaced by its results.
    ///
    /// # Errors
    ///
    /// 500 when the converter fails.
    pub(crate) async fn converted(&self, mut entries: Vec<Arc<Entry>>) -> ApiResult<Vec<Arc<Entry>>> {
        if !self.has_converter() {
            return Ok(entries);
        }
        let id = self.encodings().id(Encoding::Json, 0);
        let mut missing = Vec::new();
        for (index, entry) in entries.iter_mut().enumerate() {
            if !self.needs_converter(entry) {
                continue;
            }
            match entry.cached_encoding(id) {
                Some(json) => *entry = self.rendered_as(entry, json),
                None => missing.push(index),
            }
        }
        for batch in batches(&missing, |index| entries[index].size()) {
            let stored: Vec<Bytes> = batch.iter().map(|index| entries[*index].to_stored_bytes()).collect();
            let objects = custom::read_all(&stored, self.kind()).await?;
            for (index, object) in batch.iter().zip(objects) {
                let json: Bytes = json::to_vec(&object).into();
                let entry = &mut entries[*index];
                // Returning an encoding that exists cannot fail.
                let _ = entry.encoding(self.encodings().cache(), id, |_| ApiResult::Ok(json.clone()));
                *entry = self.rendered_as(entry, json);
            }
        }
        Ok(entries)
    }

    /// The same entry, or the converter's result for it. A single object is always converted anew, so that an
    /// administrator who has repaired a converter sees the effect.
    ///
    /// # Errors
    ///
    /// 500 when the converter fails.
    pub(crate) async fn converted_now(&self, entry: Arc<Entry>) -> ApiResult<Arc<Entry>> {
        if !self.needs_converter(&entry) {
            return Ok(entry);
        }
        Ok(match self.converted_by_webhook(&entry).await? {
            Some(object) => self.rendered_as(&entry, json::to_vec(&object).into()),
            None => entry,
        })
    }

    /// Checks that the object of `entry`, which `call` deletes, can be read in the endpoint's version. The server itself, which
    /// empties namespaces and collects garbage, does not wait for converters.
    ///
    /// A request for one object always calls the converter, one for a collection only for objects that it has not listed.
    ///
    /// # Errors
    ///
    /// 500 when the converter fails.
    pub(crate) async fn check_conversion(&self, call: &Call, entry: &Arc<Entry>) -> ApiResult<()> {
        if call.is_internal() || !self.needs_converter(entry) {
            return Ok(());
        }
        let entry = Arc::clone(entry);
        let converted = match call.name().is_empty() {
            true => self.converted_one(entry).await,
            false => self.converted_now(entry).await,
        };
        converted.map(drop)
    }

    /// As [`Self::converted`], of one entry.
    pub(crate) async fn converted_one(&self, entry: Arc<Entry>) -> ApiResult<Arc<Entry>> {
        let converted = self.converted(vec![Arc::clone(&entry)]).await?;
        Ok(converted.into_iter().next().unwrap_or(entry))
    }

    /// The object of an entry, in the endpoint's version.
    ///
    /// # Errors
    ///
    /// 500 when it cannot be read or converted; 429 when that is expensive and too much work waits.
    pub(crate) async fn object_of(&self, call: &Call, entry: &Entry) -> ApiResult<Box<dyn Object>> {
        if self.needs_converter(entry)
            && let Some(object) = self.converted_by_webhook(entry).await?
        {
            return Ok(Box::new(object));
        }
        let size = entry.size();
        let read = || self.encodings().object(&entry.stored_bytes());
        self.run(call, size, Cost::of_json(size), read).await?
    }

    /// The same object; in the endpoint's version if another program has to convert it.
    ///
    /// # Errors
    ///
    /// 500 when the converter fails.
    pub(crate) async fn converted_object(&self, object: Box<dyn Object>) -> ApiResult<Box<dyn Object>> {
        match self.has_converter() && object.resource() != self.kind() {
            true => self.representation().convert(object, self.kind()).await,
            false => Ok(object),
        }
    }

    /// The converter's result for one entry that needs a conversion.
    async fn converted_by_webhook(&self, entry: &Entry) -> ApiResult<Option<CustomObject>> {
        let mut objects = custom::read_all(&[Bytes::copy_from_slice(&entry.stored_bytes())], self.kind()).await?;
        Ok(objects.pop())
    }

    /// An entry that renders as `json`, which is in the endpoint's version.
    fn rendered_as(&self, entry: &Entry, json: Bytes) -> Arc<Entry> {
        let shown = Entry::unstored(entry.key(), json.clone(), entry.row());
        let shown = Arc::new(shown);
        let encodings = self.encodings();
        let id = encodings.id(Encoding::Json, 0);
        let _ = shown.encoding(encodings.cache(), id, |_| ApiResult::Ok(json));
        shown
    }
}

/// Splits `indexes` into parts that are small enough for one conversion request each.
fn batches(indexes: &[usize], size: impl Fn(usize) -> usize) -> Vec<&[usize]> {
    let mut batches = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (at, index) in indexes.iter().enumerate() {
        let own = size(*index);
        if at > start && (at - start >= OBJECTS || bytes + own > BYTES) {
            batches.push(&indexes[start..at]);
            (start, bytes) = (at, 0);
        }
        bytes += own;
    }
    if start < indexes.len() {
        batches.push(&indexes[start..]);
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_question_is_about_too_much() {
        let indexes: Vec<usize> = (0..600).collect();
        let lengths =
            |size: usize| -> Vec<usize> { batches(&indexes, |_| size).iter().map(|part| part.len()).collect() };
        assert_eq!(lengths(10), [256, 256, 88]);
        assert_eq!(lengths(BYTES / 400), [256, 256, 88]);
        assert_eq!(lengths(BYTES / 200).iter().max(), Some(&200));
        assert_eq!(lengths(2 * BYTES), vec![1; 600], "a large object goes alone");
        assert!(batches(&[], |_| 1).is_empty());
        assert_eq!(
            batches(&indexes, |_| BYTES / 3).concat(),
            indexes,
            "all of them, in order"
        );
    }
}

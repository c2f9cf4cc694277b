//! Rows of objects, which selectors read, and the stored form of loaded objects.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use planesmith_machinery::json;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::value::{self, View};
use planesmith_store::{Decoded, Draft, Indexer, Loaded, Row, StoredForm};
use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, Visitor};

use crate::representation::{StorageCodec, StoredObjects};

/// The row of an object of the storage version.
#[must_use]
pub fn row_of(object: &dyn Object) -> Row {
    let facts = object.resource();
    let fields: Vec<Cow<'_, str>> = facts
        .selected_paths()
        .map(|path| text_at(object, path).unwrap_or_else(|| facts.zero_text(path).into()))
        .collect();
    let labels = object.meta().labels.iter();
    Row::new(
        labels.map(|(key, value)| (key.as_str(), value.as_str())),
        fields.iter().map(|field| &**field),
    )
}

/// The value at a dotted path in the notation of selectors; `None` if there is none.
fn text_at<'o>(object: &'o dyn Object, path: &str) -> Option<Cow<'o, str>> {
    text_of(&value::get_at(object, path)?.view())
}

fn text_of<'o>(leaf: &View<'o>) -> Option<Cow<'o, str>> {
    match leaf {
        View::Str(text) => Some(Cow::Borrowed(text)),
        View::Bool(value) => Some(Cow::Owned(value.to_string())),
        View::Int(value) => Some(Cow::Owned(value.to_string())),
        _ => None,
    }
}

/// Reads the rows of stored JSON without decoding the objects, because decoding would dominate the time for opening a
/// store of many objects.
pub(super) struct JsonIndexer {
    hub: ResourceFacts,
    objects: Arc<dyn StoredObjects>,
    /// Translates the bytes of a store in which others write, too; `None` if the store has canonical bytes.
    codec: Option<StorageCodec>,
    /// The paths that selectors read, and the value of each for objects that do not have it.
    paths: Vec<String>,
    zeros: Vec<&'static str>,
}

impl JsonIndexer {
    pub(super) fn new(hub: &ResourceFacts, objects: Arc<dyn StoredObjects>) -> Self {
        let paths: Vec<_> = hub.selected_paths().map(str::to_owned).collect();
        let zeros = paths.iter().map(|path| hub.zero_text(path)).collect();
        Self {
            hub: hub.clone(),
            objects,
            codec: None,
            paths,
            zeros,
        }
    }

    /// The same indexer for a store whose bytes `codec` translates.
    pub(super) fn with_codec(self, codec: StorageCodec) -> Self {
        let codec = Some(codec);
        Self { codec, ..self }
    }
}

impl Indexer for JsonIndexer {
    fn row(&self, _key: &str, bytes: &[u8]) -> Row {
        let zeros = self.zeros.iter().copied().map(Cow::Borrowed);
        let paths: Vec<&str> = self.paths.iter().map(String::as_str).collect();
        let (found, is_json) = Found::of(bytes, &paths, zeros.collect());
        if !is_json {
            tracing::error!(kind = %self.hub.kind, "an object in the store cannot be read");
        }
        let labels = found.labels.iter().map(|(key, value)| (&**key, &**value));
        Row::new(labels, found.fields.iter().map(|field| &**field))
    }

    fn loaded(&self, bytes: &[u8]) -> Loaded {
        self.objects.loaded(bytes)
    }

    fn loaded_again(&self, _bytes: &[u8]) -> Loaded {
        Loaded::AsStored
    }

    fn fingerprint(&self) -> Option<u64> {
        self.objects.fingerprint()
    }

    fn decode(&self, key: &str, stored: &Bytes) -> Decoded {
        let decoded = self.codec.as_ref().and_then(|codec| codec.decode(stored));
        let Some(super::Decoded {
            canonical,
            form,
            adapted_from,
        }) = decoded
        else {
            tracing::error!(kind = %self.hub.kind, key, "an object in the store cannot be read");
            return Decoded {
                draft: Draft::gapless(stored.to_vec()),
                form: StoredForm::Unreadable,
                adapted_from: None,
            };
        };
        let draft = |encoded: json::Encoded| Draft::new(encoded.bytes, encoded.gap);
        Decoded {
            draft: draft(canonical),
            form,
            adapted_from: adapted_from.map(draft),
        }
    }

    fn encode(&self, key: &str, draft: &Draft) -> Bytes {
        let Some((codec, gap)) = self.codec.as_ref().zip(draft.gap()) else {
            return Bytes::copy_from_slice(draft.bytes());
        };
        match codec.encode_bytes(draft.bytes(), gap) {
            Ok(stored) => stored.into(),
            Err(error) => {
                tracing::error!(kind = %self.hub.kind, key, %error, "an object is stored in JSON");
                Bytes::copy_from_slice(draft.bytes())
            }
        }
    }

    fn reindexed(&self, bytes: &[u8]) -> Option<Draft> {
        self.objects.reindexed(bytes)
    }

    fn is_same(&self, stored: &[u8], reindexed: &[u8]) -> bool {
        self.objects.is_same(stored, reindexed)
    }
}

/// The values at dotted paths of a document in the notation of selectors; empty if there is none.
pub(crate) fn texts_at(json: &[u8], paths: &[&str]) -> Vec<String> {
    let (found, _) = Found::of(json, paths, vec![Cow::Borrowed(""); paths.len()]);
    found.fields.into_iter().map(Cow::into_owned).collect()
}

struct Found<'b> {
    paths: &'b [&'b str],
    labels: Vec<(Cow<'b, str>, Cow<'b, str>)>,
    fields: Vec<Cow<'b, str>>,
}

impl<'b> Found<'b> {
    /// The labels of a document and the values at `paths`, with the defaults `fields`; and true if the document is
    /// JSON.
    fn of(json: &'b [u8], paths: &'b [&'b str], fields: Vec<Cow<'b, str>>) -> (Self, bool) {
        let mut found = Self {
            paths,
            labels: Vec::new(),
            fields,
        };
        let mut json = serde_json::Deserializer::from_slice(json);
        let probe = Probe {
            path: &mut Vec::new(),
            found: &mut found,
        };
        let is_json = json.deserialize_any(probe).is_ok();
        (found, is_json)
    }
}

/// Reads one value on the path to a label or field.
struct Probe<'b, 'f> {
    path: &'f mut Vec<Cow<'b, str>>,
    found: &'f mut Found<'b>,
}

impl<'b> Probe<'b, '_> {
    /// True if a label or field lies at or below the path.
    fn has_target(&self) -> bool {
        let step = |place: usize| self.path.get(place).map(|step| &**step);
        let may_be_label = match step(1) {
            None => matches!(step(0), None | Some("metadata")),
            Some(second) => step(0) == Some("metadata") && second == "labels" && self.path.len() <= 3,
        };
        let is_on_the_way = |whole: &&str| {
            let mut parts = whole.split('.');
            self.path.iter().all(|step| parts.next() == Some(&**step))
        };
        may_be_label || self.found.paths.iter().any(is_on_the_way)
    }

    fn leaf(&mut self, value: Cow<'b, str>) {
        let is = |part: usize, text: &str| self.path.get(part).is_some_and(|found| found == text);
        if self.path.len() == 3 && is(0, "metadata") && is(1, "labels") {
            self.found.labels.push((self.path[2].clone(), value));
            return;
        }
        for (place, whole) in self.found.paths.iter().enumerate() {
            let mut parts = whole.split('.');
            if self.path.iter().all(|step| parts.next() == Some(&**step)) && parts.next().is_none() {
                self.found.fields[place] = value.clone();
            }
        }
    }
}

impl<'b> DeserializeSeed<'b> for Probe<'b, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'b>>(self, json: D) -> Result<(), D::Error> {
        if self.has_target() {
            json.deserialize_any(self)
        } else {
            json.deserialize_ignored_any(IgnoredAny).map(|_| ())
        }
    }
}

impl<'b> Visitor<'b> for Probe<'b, '_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'b>>(self, mut map: A) -> Result<(), A::Error> {
        let Probe { path, found } = self;
        while let Some(Key(key)) = map.next_key()? {
            path.push(key);
            let inner = Probe {
                path: &mut *path,
                found: &mut *found,
            };
            map.next_value_seed(inner)?;
            path.pop();
        }
        Ok(())
    }

    fn visit_seq<A: serde::de::SeqAccess<'b>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(())
    }

    fn visit_borrowed_str<E>(mut self, text: &'b str) -> Result<(), E> {
        self.leaf(Cow::Borrowed(text));
        Ok(())
    }

    fn visit_str<E>(mut self, text: &str) -> Result<(), E> {
        self.leaf(Cow::Owned(text.to_owned()));
        Ok(())
    }

    fn visit_bool<E>(mut self, value: bool) -> Result<(), E> {
        self.leaf(Cow::Owned(value.to_string()));
        Ok(())
    }

    fn visit_i64<E>(mut self, value: i64) -> Result<(), E> {
        self.leaf(Cow::Owned(value.to_string()));
        Ok(())
    }

    fn visit_u64<E>(mut self, value: u64) -> Result<(), E> {
        self.leaf(Cow::Owned(value.to_string()));
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

/// A key, borrowed if it has no escapes.
#[derive(serde::Deserialize)]
struct Key<'b>(#[serde(borrow)] Cow<'b, str>);

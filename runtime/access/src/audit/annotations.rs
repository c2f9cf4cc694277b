//! The annotations of an audit event.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, PoisonError};

use super::Level;

/// The annotations of one request's audit event; cheap to clone, and clones share the annotations.
///
/// A request without an audit event has none: adding to them does nothing and allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct Annotations(Option<Arc<Recorder>>);

#[derive(Debug)]
struct Recorder {
    level: Level,
    // Locked only to add or to share; after a panic it is still a valid map of texts.
    texts: Mutex<Arc<Texts>>,
}

/// Annotations by their keys.
type Texts = BTreeMap<Cow<'static, str>, String>;

impl Annotations {
    /// The annotations of a request without an audit event.
    pub const OFF: Annotations = Annotations(None);

    /// Returns annotations that are recorded for an event of `level`.
    #[must_use]
    pub fn recorded(level: Level) -> Self {
        let texts = Mutex::default();
        Self((level > Level::None).then(|| Arc::new(Recorder { level, texts })))
    }

    /// Returns the level of the event; [`Level::None`] if there is no event.
    #[must_use]
    pub fn level(&self) -> Level {
        self.0.as_ref().map_or(Level::None, |recorder| recorder.level)
    }

    /// Adds an annotation. An annotation that is already there is never overwritten.
    pub fn add(&self, key: impl Into<Cow<'static, str>>, value: impl Into<String>) {
        self.add_with(Level::Metadata, || (key.into(), value.into()));
    }

    /// Adds the annotation that `annotation` returns if the event has `level` at least.
    pub fn add_with(&self, level: Level, annotation: impl FnOnce() -> (Cow<'static, str>, String)) {
        let Some(recorder) = self.0.as_ref().filter(|recorder| recorder.level >= level) else {
            return;
        };
        let (key, value) = annotation();
        let mut texts = recorder.texts.lock().unwrap_or_else(PoisonError::into_inner);
        // Copied only while an event with the texts so far is being recorded.
        match Arc::make_mut(&mut texts).entry(key) {
            Entry::Vacant(vacant) => {
                vacant.insert(value);
            }
            Entry::Occupied(existing) if *existing.get() != value => {
                tracing::warn!(key = %existing.key(), "an audit annotation is not overwritten");
            }
            Entry::Occupied(_) => {}
        }
    }

    /// Returns all annotations so far.
    #[must_use]
    pub fn collected(&self) -> Arc<BTreeMap<Cow<'static, str>, String>> {
        let Some(recorder) = &self.0 else {
            return Arc::default();
        };
        Arc::clone(&recorder.texts.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_value_of_a_key_stays() {
        let annotations = Annotations::recorded(Level::Metadata);
        annotations.clone().add("a", "1");
        annotations.add("a", "2");
        annotations.add(format!("{}/b", "x"), "3");
        let collected = annotations.collected();
        annotations.add("later", "4");
        let expected = BTreeMap::from([("a".into(), "1".to_owned()), ("x/b".into(), "3".to_owned())]);
        assert_eq!(*collected, expected);
    }

    #[test]
    fn details_need_a_level() {
        let add = |annotations: &Annotations| {
            annotations.add_with(Level::Request, || ("patch".into(), "p".to_owned()));
            annotations.collected().len()
        };
        assert_eq!(add(&Annotations::recorded(Level::RequestResponse)), 1);
        assert_eq!(add(&Annotations::recorded(Level::Metadata)), 0);
        assert_eq!(add(&Annotations::OFF), 0);
        assert_eq!(Annotations::recorded(Level::None).level(), Level::None);
    }
}

//! Deliveries, made of the answers of a watch.

use planesmith_store::Revision;
use planesmith_store::backend::{Change, Delivery, FeedError};

use crate::keys::Keys;
use crate::load::revision;
use crate::protocol::watch::{Answer, Event, EventType};

/// The deliveries of one watch.
pub(super) struct Deliveries {
    keys: Keys,
    prefix: Box<str>,
    /// True if answers without events tell that everything before them was sent.
    pub(super) has_progress: bool,
    /// Changes of revisions that are not complete.
    partial: Vec<Change>,
    /// The newest revision of an event.
    newest: Revision,
    /// Everything up to here is delivered.
    complete: Revision,
}

/// True if `answer` tells nothing but the progress of the watch.
pub(super) fn is_progress(answer: &Answer) -> bool {
    answer.events.is_empty() && !answer.created && !answer.canceled && !answer.fragment
}

impl Deliveries {
    /// Returns the deliveries of the changes of keys under `prefix` after `after`.
    pub(super) fn new(keys: Keys, prefix: &str, after: Revision, has_progress: bool) -> Self {
        Self {
            keys,
            prefix: prefix.into(),
            has_progress,
            partial: Vec::new(),
            newest: after,
            complete: after,
        }
    }

    /// Returns what `answer` completes; `None` if nothing is new.
    pub(super) fn take(&mut self, answer: Answer) -> Result<Option<Delivery>, FeedError> {
        if answer.compact_revision != 0 {
            return Err(FeedError::Compacted);
        }
        if answer.canceled {
            let reason = format!("the member ended the watch: {}", answer.cancel_reason);
            return Err(FeedError::Lost(reason.into()));
        }
        if is_progress(&answer) && self.has_progress && self.partial.is_empty() {
            self.newest = self.newest.max(revision(answer.header.unwrap_or_default().revision));
        }
        for event in answer.events {
            self.add(event);
        }
        if answer.fragment || self.newest == self.complete {
            return Ok(None);
        }
        self.complete = self.newest;
        Ok(Some(Delivery {
            changes: std::mem::take(&mut self.partial),
            complete: self.complete,
        }))
    }

    /// Adds the change of `event`, unless it is delivered already or of another prefix.
    fn add(&mut self, event: Event) {
        let Some(kv) = event.kv else { return };
        let at = revision(kv.mod_revision);
        if at <= self.complete {
            return;
        }
        self.newest = self.newest.max(at);
        let key = self.keys.to_store(&kv.key).filter(|key| key.starts_with(&*self.prefix));
        let Some(key) = key else { return };
        let is_deletion = event.event_type == EventType::Delete as i32;
        self.partial.push(Change {
            key,
            revision: at,
            value: (!is_deletion).then(|| kv.value.into()),
        });
    }
}

#[cfg(test)]
mod tests {
    use planesmith_store::Revision;
    use planesmith_store::backend::{Delivery, FeedError};

    use super::Deliveries;
    use crate::keys::Keys;
    use crate::protocol::Header;
    use crate::protocol::kv::KeyValue;
    use crate::protocol::watch::{Answer, Event};

    fn deliveries(has_progress: bool) -> Deliveries {
        Deliveries::new(Keys::new("/registry"), "/registry/", Revision(10), has_progress)
    }

    /// An answer at revision 100 with puts of keys at revisions.
    fn answer(events: &[(&str, i64)]) -> Answer {
        let event = |&(key, mod_revision): &(&str, i64)| Event {
            event_type: 0,
            kv: Some(KeyValue {
                key: key.into(),
                mod_revision,
                value: b"value".to_vec(),
                ..KeyValue::default()
            }),
        };
        Answer {
            header: Some(Header {
                revision: 100,
                ..Header::default()
            }),
            events: events.iter().map(event).collect(),
            ..Answer::default()
        }
    }

    fn show(delivery: Option<Delivery>) -> Option<(Vec<String>, u64)> {
        delivery.map(|delivery| {
            let changes = delivery.changes.iter();
            let changes = changes.map(|change| format!("{}@{}", change.key, change.revision));
            (changes.collect(), delivery.complete.0)
        })
    }

    #[test]
    fn the_parts_of_a_revision_are_delivered_together() {
        let mut deliveries = deliveries(true);
        let mut part = answer(&[("/registry/a", 11), ("/registry/b", 12)]);
        part.fragment = true;
        assert_eq!(deliveries.take(part), Ok(None));
        let all = ["/registry/a@11", "/registry/b@12", "/registry/c@12"].map(str::to_owned);
        let whole = deliveries.take(answer(&[("/registry/c", 12)])).unwrap();
        assert_eq!(
            show(whole),
            Some((all.to_vec(), 12)),
            "the revision of the answer is not complete"
        );
    }

    #[test]
    fn known_changes_are_not_delivered_again() {
        let mut deliveries = deliveries(true);
        let first = deliveries
            .take(answer(&[("/registry/a", 10), ("/registry/b", 11)]))
            .unwrap();
        assert_eq!(show(first), Some((vec!["/registry/b@11".to_owned()], 11)));
        assert_eq!(deliveries.take(answer(&[("/registry/b", 11)])), Ok(None));
    }

    #[test]
    fn progress_counts_where_it_comes_in_order() {
        let mut reliable = deliveries(true);
        let mut created = answer(&[]);
        created.created = true;
        assert_eq!(reliable.take(created), Ok(None), "a new watch may be behind");
        assert_eq!(show(reliable.take(answer(&[])).unwrap()), Some((Vec::new(), 100)));
        assert_eq!(reliable.take(answer(&[])), Ok(None), "nothing is new");
        assert_eq!(deliveries(false).take(answer(&[])), Ok(None));
    }

    #[test]
    fn changes_elsewhere_are_progress() {
        let mut deliveries = deliveries(false);
        let elsewhere = deliveries
            .take(answer(&[("compact_rev_key", 11), ("/registryother", 12)]))
            .unwrap();
        assert_eq!(show(elsewhere), Some((Vec::new(), 12)));
    }

    #[test]
    fn the_end_of_a_watch_has_a_reason() {
        let compacted = Answer {
            compact_revision: 20,
            canceled: true,
            ..answer(&[])
        };
        assert_eq!(deliveries(true).take(compacted), Err(FeedError::Compacted));
        let denied = Answer {
            canceled: true,
            cancel_reason: "permission denied".to_owned(),
            ..answer(&[])
        };
        let reason = "the member ended the watch: permission denied";
        assert_eq!(deliveries(true).take(denied), Err(FeedError::Lost(reason.into())));
    }
}

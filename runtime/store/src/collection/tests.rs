//! Readers that wait for a writer.

use std::sync::mpsc::channel;

use super::*;
use crate::{Draft, NoIndex, Row, WatchError, WatchFrom};

/// A sequencer for a collection without writes.
struct NoWrites;

impl Sequencer for NoWrites {
    fn submit(&self, _submission: Submission) {}
}

#[test]
fn a_list_that_waits_for_a_trim_does_not_show_what_it_took() {
    let revisions = Arc::new(RevisionWindow::new(Revision::ZERO, Revision::ZERO));
    let collection = Collection::new("/", Arc::new(NoIndex), Arc::clone(&revisions), Arc::new(NoWrites));
    let collection = Arc::new(collection);
    let entry = |revision| {
        let draft = Draft::gapless(b"object".to_vec());
        Arc::new(Entry::written("/a", (draft, &Row::default()), revision, 0, None))
    };
    let (first, second) = (entry(Revision(1)), entry(Revision(2)));
    let put = |created| EventKind::Put { created };
    collection.publish([
        Arc::new(Event::new(put(true), Arc::clone(&first), None)),
        Arc::new(Event::new(put(false), second, Some(first))),
    ]);
    revisions.advance(Revision(2));

    let mut state = collection.write_lock();
    let (sender, task) = channel();
    let reader = {
        let collection = Arc::clone(&collection);
        std::thread::spawn(move || {
            sender.send(std::fs::read_link("/proc/thread-self").unwrap()).unwrap();
            let query = ListQuery {
                at: At::Exact(Revision(1)),
                ..ListQuery::all("/")
            };
            collection.list(&query)
        })
    };
    let status = std::path::Path::new("/proc").join(task.recv().unwrap()).join("stat");
    // The thread sleeps once it waits for the lock.
    while !std::fs::read_to_string(&status).unwrap().contains(") S ") {
        std::thread::yield_now();
    }
    revisions.raise_floor(Revision(2));
    drop(state.history.trim(Revision(2), usize::MAX));
    drop(state);
    let listed = reader.join().unwrap();
    assert_eq!(listed.map(|page| page.revision), Err(Compacted { oldest: Revision(2) }));
}

#[test]
fn a_watcher_that_reads_meanwhile_does_not_take_a_gap_for_all_changes() {
    let revisions = Arc::new(RevisionWindow::new(Revision::ZERO, Revision::ZERO));
    let collection = Collection::new("/", Arc::new(NoIndex), Arc::clone(&revisions), Arc::new(NoWrites));
    let collection = Arc::new(collection);
    for number in 1..=500 {
        let mut watcher = collection.watch("/", WatchFrom::Now).unwrap();
        let (sender, running) = channel();
        let reader = std::thread::spawn(move || {
            sender.send(()).unwrap();
            loop {
                match watcher.try_next() {
                    Ok(events) if events.is_empty() => {}
                    other => return other.map(|events| events.len()),
                }
            }
        });
        running.recv().unwrap();
        let revision = Revision(number);
        let draft = Draft::gapless(b"object".to_vec());
        let entry = Arc::new(Entry::written("/a", (draft, &Row::default()), revision, 0, None));
        let created = collection.get("/a").is_none();
        let event = Event::new(EventKind::Put { created }, entry, collection.get("/a"));
        revisions.raise_floor(revision);
        collection.publish_gap(vec![Arc::new(event)]);
        revisions.advance(revision);
        assert!(matches!(reader.join().unwrap(), Err(WatchError::Compacted { .. })));
        assert_eq!(collection.get("/a").unwrap().revision(), revision);
    }
}

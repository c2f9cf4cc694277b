//! History is forgotten, the state never.

use std::sync::Arc;
use std::time::Duration;

use super::{Bench, THINGS, delete, read, set, show, show_events};
use crate::{At, Collection, Compacted, Expect, ListQuery, Revision, Storage, WatchError, WatchFrom};

async fn compact(storage: &Storage, revision: Revision) {
    storage.compact(revision);
    storage.compacted(revision).await;
}

fn list_at(things: &Collection, revision: u64) -> Result<Vec<String>, Compacted> {
    let query = ListQuery {
        at: At::Exact(Revision(revision)),
        ..ListQuery::all(THINGS)
    };
    Ok(things.list(&query)?.entries.iter().map(|entry| show(entry)).collect())
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_compacted_revision_is_refused(bench: Bench) {
    let (storage, things) = bench.things();
    for word in ["one", "two", "three", "four"] {
        set(&things, "a", word).await;
    }
    compact(&storage, Revision(2)).await;
    let oldest = Revision(2);
    assert_eq!(storage.oldest(), oldest);
    assert_eq!(list_at(&things, 1), Err(Compacted { oldest }));
    assert_eq!(list_at(&things, 2), Ok(vec!["a=two@2".to_owned()]));
    assert_eq!(list_at(&things, 3), Ok(vec!["a=three@3".to_owned()]));
    let refused = things.watch(THINGS, WatchFrom::After(Revision(1)));
    assert_eq!(refused.err(), Some(WatchError::Compacted { oldest }));
    let mut watcher = things
        .watch(THINGS, WatchFrom::After(oldest))
        .expect("the revision is known");
    assert_eq!(show_events(&read(&mut watcher, 2).await), ["~a=three@3", "~a=four@4"]);
    // Compacting less than before, or more than exists, has no effect.
    storage.compact(Revision(1));
    compact(&storage, Revision(4)).await;
    storage.compact(Revision(1000));
    assert_eq!(storage.oldest(), Revision(4));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_slow_watcher_gets_an_error(bench: Bench) {
    let (storage, things) = bench.things();
    let mut slow = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    set(&things, "a", "one").await;
    assert_eq!(read(&mut slow, 1).await.len(), 1);
    for word in ["two", "three"] {
        set(&things, "a", word).await;
    }
    compact(&storage, Revision(2)).await;
    assert_eq!(
        slow.next().await.err(),
        Some(WatchError::Compacted { oldest: Revision(2) })
    );
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_watcher_of_the_future_does_not_notice(bench: Bench) {
    let (storage, things) = bench.things();
    let future = WatchFrom::After(Revision(3));
    let mut watcher = things.watch(THINGS, future).expect("a watch starts");
    for word in ["one", "two", "three"] {
        set(&things, "a", word).await;
    }
    compact(&storage, Revision(3)).await;
    set(&things, "a", "four").await;
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["~a=four@4"]);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_up_to_date_watcher_does_not_notice(bench: Bench) {
    let (storage, things) = bench.things();
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    for word in ["one", "two", "three"] {
        let written = set(&things, "a", word).await;
        assert_eq!(read(&mut watcher, 1).await[0].revision(), written.revision());
        compact(&storage, written.revision()).await;
        assert!(!things.has_changed(watcher.position(), written.revision()));
    }
    let before = watcher.position();
    let unseen = set(&things, "a", "four").await;
    assert!(things.has_changed(before, unseen.revision()));
    assert!(!things.has_changed(before, Revision(unseen.revision().0 - 1)));
    compact(&storage, unseen.revision()).await;
    // Forgotten changes count as changes.
    assert!(things.has_changed(before, unseen.revision()));
    watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    assert!(watcher.try_next().expect("the watch goes on").is_empty());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_watcher_of_quiet_keys_does_not_notice(bench: Bench) {
    let (storage, things) = bench.things();
    let prefix = format!("{THINGS}quiet/");
    let mut quiet = things.watch(&prefix, WatchFrom::Now).expect("a watch starts");
    for round in 1..=2 {
        set(&things, "loud", "one").await;
        let written = set(&things, "loud", "two").await;
        compact(&storage, written.revision()).await;
        set(&things, "quiet/a", "one").await;
        let events = quiet.next().await.expect("nothing of its own is forgotten");
        assert_eq!(events[0].revision(), Revision(3 * round));
        assert_eq!(quiet.progress(), Revision(3 * round));
    }
    set(&things, "loud", "three").await;
    assert!(quiet.try_next().expect("the watch goes on").is_empty());
    assert_eq!(quiet.progress(), Revision(7), "other keys' changes are progress too");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn old_history_is_forgotten_by_itself(bench: Bench) {
    let (storage, things) = bench.things();
    set(&things, "a", "one").await;
    set(&things, "a", "two").await;
    bench.clock.advance(bench.options.window / 2);
    let young = set(&things, "a", "three").await.revision();
    bench.clock.advance(bench.options.window / 2);
    storage.recheck_clock();
    storage.compacted(Revision(2)).await;
    assert_eq!(storage.oldest(), Revision(2));
    // The age of history is known across restarts.
    let (storage, _things) = bench.restart(storage).await;
    bench.clock.advance(bench.options.window / 2 + Duration::from_secs(1));
    storage.recheck_clock();
    storage.compacted(young).await;
    assert_eq!(storage.oldest(), young);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn superseded_states_are_bounded(mut bench: Bench) {
    bench.options.history_bytes = 100_000;
    let (storage, things) = bench.things();
    let word = "x".repeat(1000);
    let mut last = Revision::ZERO;
    for _ in 0..300 {
        last = set(&things, "a", &word).await.revision();
    }
    if storage.keeps_history() {
        storage.rechecked().await;
        let stats = things.stats();
        assert!(stats.events == 300 && stats.spilled > 200, "{stats:?}");
        let (storage, things) = bench.restart(storage).await;
        let stats = things.stats();
        assert!(stats.events == 300 && stats.spilled > 200, "{stats:?}");
        assert_eq!(storage.oldest(), Revision::ZERO);
        return;
    }
    storage.compacted(Revision(last.0 - 100)).await;
    assert!(storage.oldest() < last, "what fits is kept");
    let (storage, things) = bench.restart(storage).await;
    storage.compacted(Revision(last.0 - 100)).await;
    assert_eq!(things.stats().entries, 1);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn the_newest_state_survives_compaction(bench: Bench) {
    let (mut storage, mut things) = bench.things();
    let mut expected = Vec::new();
    for round in 0..4 {
        for number in 0..30 {
            set(&things, &format!("n{number:02}"), &format!("round{round}")).await;
        }
        delete(&things, &format!("n{round:02}"), Expect::Any)
            .await
            .expect("the key exists");
        let last = storage.revision();
        expected = list_at(&things, last.0).expect("the newest revision is known");
        compact(&storage, last).await;
        assert_eq!(list_at(&things, last.0).as_ref(), Ok(&expected));
        (storage, things) = bench.restart(storage).await;
        assert_eq!(list_at(&things, last.0).as_ref(), Ok(&expected));
    }
    assert_eq!(expected.len(), 29);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn disk_space_comes_back(mut bench: Bench) {
    const OBJECT: usize = 100_000;
    const WRITES: usize = 400;
    bench.options.history_bytes = 2 * OBJECT * WRITES;
    let (storage, things) = bench.things();
    let word = "x".repeat(OBJECT);
    for number in 0..WRITES {
        set(&things, &format!("n{}", number % 5), &word).await;
    }
    let full = storage.stats().disk_bytes;
    assert!(full >= (OBJECT * WRITES) as u64, "{full}");
    compact(&storage, storage.revision()).await;
    let compacted = storage.stats().disk_bytes;
    assert!(compacted < full / 2, "{compacted} of {full}");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn writes_go_on_during_compaction(bench: Bench) {
    let (storage, things) = bench.things();
    let compactor = {
        let storage = storage.clone();
        tokio::spawn(async move {
            for _ in 0..20 {
                compact(&storage, storage.revision()).await;
                tokio::task::yield_now().await;
            }
        })
    };
    let word = "x".repeat(20_000);
    let writers = (0..4).map(|writer| {
        let (things, word) = (Arc::clone(&things), word.clone());
        tokio::spawn(async move {
            for number in 0..300 {
                set(&things, &format!("{writer}-{}", number % 10), &word).await;
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("writes are accepted");
    }
    compactor.await.expect("compaction goes on");
    let before = list_at(&things, storage.revision().0);
    let (storage, things) = bench.restart(storage).await;
    assert_eq!(list_at(&things, storage.revision().0), before);
}

//! A store in which others write, too.

use std::sync::Arc;
use std::time::Duration;

use super::{Bench, OTHERS, THINGS, WordIndex, delete, key, put, read, set, show, show_events};
use crate::{At, Expect, ListQuery, Revision, Stale, WatchError, WatchFrom, WriteError};

/// Creates a `#[test]` for every scenario that a store on a backend with several writers passes.
///
/// The expression is a [`SharedBackend`](crate::conformance::SharedBackend) without content, or `None` to skip the test; it
/// is evaluated once for each scenario, on a runtime. Without an expression it is the suite's own.
#[macro_export]
macro_rules! shared_suite {
    () => {
        $crate::shared_suite! { Some($crate::conformance::SeveralWriters::default()) }
    };
    ($backend:expr) => {
        $crate::shared_suite! { @tests $backend;
            preconditions: an_absent_key_is_created, an_existing_key_is_not_created_again,
                a_stale_revision_is_refused, one_of_two_equal_updates_wins,
                an_absent_key_is_not_updated, an_absent_key_is_not_deleted,
                a_deleted_key_can_be_created_again, a_deletion_has_its_own_revision, a_large_write_is_refused;
            order: revisions_grow_with_every_write, an_answered_write_is_visible,
                increments_of_many_writers_are_all_counted, a_dropped_write_happens_nevertheless,
                waiting_for_a_revision_ends;
            lists: a_list_is_sorted_and_within_its_prefix, a_filter_selects, pages_are_of_one_revision,
                an_old_revision_shows_the_old_state, old_pages_agree_with_the_whole_list,
                a_future_revision_shows_the_newest_state, a_slow_reader_holds_up_no_writer;
            watches: every_watcher_sees_every_change_once, a_watch_resumes_after_its_revision,
                a_watch_stays_within_its_prefix, an_event_knows_the_state_before,
                a_list_and_its_watch_leave_no_gap, progress_covers_other_collections,
                closing_ends_watches_after_the_last_event, an_encoding_is_made_once;
            restart: everything_is_there_after_a_restart, revisions_go_on_after_a_restart,
                rows_are_made_again_from_the_bytes, keys_without_a_collection_stay;
            compaction: a_slow_watcher_gets_an_error, an_up_to_date_watcher_does_not_notice,
                a_watcher_of_quiet_keys_does_not_notice, the_newest_state_survives_compaction,
                writes_go_on_during_compaction;
            shared: writes_of_others_are_seen_in_order, keys_that_others_wrote_are_claimed,
                changes_with_one_revision_are_read_together, a_read_as_of_now_sees_writes_of_others,
                readers_share_one_request, a_late_feed_is_an_error, readers_of_a_closed_store_get_an_error, a_lost_feed_goes_on,
                watches_end_when_changes_are_compacted, a_lost_answer_is_not_repeated,
                a_stale_decision_is_refused_and_repeated, a_deletion_that_requires_absence_is_refused,
                a_deletion_is_answered_though_its_history_is_forgotten;
        }
    };
    (@tests $backend:expr; $($module:ident: $($scenario:ident),+;)+) => {
        $($(
            #[test]
            fn $scenario() {
                $crate::conformance::run_shared(|| $backend, $crate::conformance::$module::$scenario);
            }
        )+)+
    };
}

/// The timeout of readers that get an answer.
const READ_TIMEOUT: Duration = Duration::from_secs(60);

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn writes_of_others_are_seen_in_order(bench: Bench) {
    let (_storage, things) = bench.things();
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    set(&things, "a", "one").await;
    bench.backend().write_all(&[(key("a"), Some("two"))]);
    bench.backend().write_all(&[(key("b"), Some("one"))]);
    bench.backend().write_all(&[(key("a"), None)]);
    let events = show_events(&read(&mut watcher, 4).await);
    assert_eq!(events, ["+a=one@1", "~a=two@2", "+b=one@3", "-a=two@4"]);
    assert!(things.get(&key("a")).is_none());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn keys_that_others_wrote_are_claimed(bench: Bench) {
    bench
        .backend()
        .write_all(&[(key("a"), Some("one")), (key("b"), Some("one"))]);
    let storage = bench.open();
    bench.backend().write_all(&[(key("a"), Some("two")), (key("b"), None)]);
    storage.fresh(READ_TIMEOUT).await.expect("the changes arrive");
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    let page = things.list(&ListQuery::all(THINGS)).expect("the newest state is known");
    assert_eq!(
        page.entries.iter().map(|entry| show(entry)).collect::<Vec<_>>(),
        ["a=two@2"]
    );
    let before = ListQuery {
        at: At::Exact(Revision(1)),
        ..ListQuery::all(THINGS)
    };
    assert!(things.list(&before).is_err(), "earlier states are unknown");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn changes_with_one_revision_are_read_together(bench: Bench) {
    const KEYS: usize = 300;
    let (storage, things) = bench.things();
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    let mut all: Vec<_> = (0..KEYS)
        .map(|number| (key(&format!("n{number:03}")), Some("one")))
        .collect();
    all.push((format!("{OTHERS}a").into(), Some("one")));
    let revision = bench.backend().write_all(&all);
    let events = watcher.next().await.expect("the watch goes on");
    assert_eq!(events.len(), KEYS, "none is left for later");
    storage.fresh(READ_TIMEOUT).await.expect("the changes arrive");
    assert_eq!(others.stats().entries, 1);
    assert_eq!(watcher.progress(), revision);
    let mut resumed = things
        .watch(THINGS, WatchFrom::After(revision))
        .expect("the revision is known");
    assert!(resumed.try_next().expect("the watch goes on").is_empty());
    let few = resumed.available_within(1).await.expect("the watch goes on");
    assert!(few.is_empty());
    let mut again = things
        .watch(THINGS, WatchFrom::After(Revision::ZERO))
        .expect("the revision is known");
    assert_eq!(again.next_within(1).await.expect("the watch goes on").len(), KEYS);
    let page = things.list(&ListQuery {
        at: At::Exact(revision),
        ..ListQuery::all(THINGS)
    });
    assert_eq!(page.expect("the revision is known").entries.len(), KEYS);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_read_as_of_now_sees_writes_of_others(bench: Bench) {
    let (storage, things) = bench.things();
    for round in 0..50 {
        let word = format!("round{round}");
        let revision = bench.backend().write_all(&[(key("a"), Some(&word))]);
        storage.fresh(READ_TIMEOUT).await.expect("the changes arrive");
        let entry = things.get(&key("a")).expect("the entry is there");
        assert_eq!(entry.revision(), revision);
    }
    // A write elsewhere is progress without a change.
    let elsewhere = bench.backend().write_all(&[("/elsewhere".into(), Some("one"))]);
    storage.fresh(READ_TIMEOUT).await.expect("the progress arrives");
    assert_eq!(storage.revision(), elsewhere);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn readers_share_one_request(bench: Bench) {
    let (storage, _things) = bench.things();
    bench.backend().hold(true);
    let readers = (0..100).map(|_| storage.fresh(READ_TIMEOUT));
    let mut readers: Vec<_> = readers.map(Box::pin).collect();
    for reader in &mut readers {
        tokio::select! { biased; _ = reader => panic!("nothing is answered"), () = std::future::ready(()) => {} }
    }
    bench.backend().hold(false);
    for reader in readers {
        reader.await.expect("the store is fresh");
    }
    // Those that came after the first request was sent share the second one.
    assert!(
        bench.backend().newest_reads() <= 2,
        "{} reads",
        bench.backend().newest_reads()
    );
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_late_feed_is_an_error(bench: Bench) {
    let (storage, things) = bench.things();
    bench.backend().hold(true);
    let revision = bench.backend().write_all(&[(key("a"), Some("one"))]);
    let late = storage.fresh(Duration::from_millis(50)).await;
    assert_eq!(late, Err(Stale::Late(Revision::ZERO)));
    assert!(things.get(&key("a")).is_none());
    bench.backend().hold(false);
    storage.fresh(READ_TIMEOUT).await.expect("the changes arrive");
    assert_eq!(storage.revision(), revision);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn readers_of_a_closed_store_get_an_error(bench: Bench) {
    let (storage, _things) = bench.things();
    bench.backend().hold(true);
    bench.backend().write_all(&[(key("a"), Some("one"))]);
    let reader = storage.clone();
    let reader = tokio::spawn(async move { reader.fresh(READ_TIMEOUT).await });
    tokio::task::yield_now().await;
    storage.close().await;
    assert_eq!(reader.await.expect("no panic"), Err(Stale::Closed));
    assert_eq!(storage.fresh(READ_TIMEOUT).await, Err(Stale::Closed));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_lost_feed_goes_on(bench: Bench) {
    let (storage, things) = bench.things();
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    for round in 0..5 {
        bench.backend().write_all(&[(key("a"), Some(&format!("round{round}")))]);
        bench.backend().lose_feeds();
        bench.backend().write_all(&[(key("a"), Some("between"))]);
        storage.fresh(READ_TIMEOUT).await.expect("the feed goes on");
    }
    let revisions: Vec<_> = read(&mut watcher, 10)
        .await
        .iter()
        .map(|event| event.revision().0)
        .collect();
    assert_eq!(revisions, (1..=10).collect::<Vec<_>>());
    storage.health().expect("the store is well");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn watches_end_when_changes_are_compacted(bench: Bench) {
    let (storage, things) = bench.things();
    for name in ["changed", "deleted", "same"] {
        set(&things, name, "one").await;
    }
    let mut watcher = things.watch(THINGS, WatchFrom::Now).expect("a watch starts");
    bench.backend().hold(true);
    bench.backend().write_all(&[(key("changed"), Some("two"))]);
    bench.backend().write_all(&[(key("deleted"), None)]);
    let newest = bench.backend().write_all(&[(key("new"), Some("one"))]);
    bench.backend().compact_all();
    bench.backend().hold(false);
    storage.fresh(READ_TIMEOUT).await.expect("the content is loaded again");
    let ended = watcher.next().await.err();
    assert_eq!(ended, Some(WatchError::Compacted { oldest: newest }));
    let page = things.list(&ListQuery::all(THINGS)).expect("the newest state is known");
    let shown: Vec<_> = page.entries.iter().map(|entry| show(entry)).collect();
    assert_eq!(shown, ["changed=two@4", "new=one@6", "same=one@3"]);
    let old = things.watch(THINGS, WatchFrom::After(Revision(3)));
    assert_eq!(old.err(), Some(WatchError::Compacted { oldest: newest }));
    let mut watcher = things
        .watch(THINGS, WatchFrom::After(newest))
        .expect("the revision is known");
    set(&things, "same", "two").await;
    assert_eq!(show_events(&read(&mut watcher, 1).await), ["~same=two@7"]);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_lost_answer_is_not_repeated(bench: Bench) {
    let (storage, things) = bench.things();
    bench.backend().lose_next_answer();
    let lost = put(&things, "a", "one", Expect::Any).await;
    assert!(matches!(lost, Err(WriteError::OutcomeUnknown(_))), "{lost:?}");
    storage.fresh(READ_TIMEOUT).await.expect("the changes arrive");
    assert_eq!(
        things.get(&key("a")).map(|entry| show(&entry)),
        Some("a=one@1".to_owned())
    );
    assert_eq!(set(&things, "a", "two").await.revision(), Revision(2));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_stale_decision_is_refused_and_repeated(bench: Bench) {
    let (_storage, things) = bench.things();
    let first = set(&things, "a", "one").await.revision();
    bench.backend().write_all(&[(key("a"), Some("two"))]);
    let refused = put(&things, "a", "three", Expect::Revision(first)).await;
    let Err(WriteError::Conflict { current: Some(current) }) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!(show(&current), "a=two@2", "the cache has caught up");
    let written = put(&things, "a", "three", Expect::Revision(current.revision())).await;
    let written = written.expect("the state is the expected one");
    assert_eq!(written.previous.as_deref().map(show), Some("a=two@2".to_owned()));
    let gone = delete(&things, "a", Expect::Any).await.expect("the key exists");
    assert_eq!(show(&gone.entry), "a=three@4");
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_deletion_that_requires_absence_is_refused(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    let refused = delete(&things, "a", Expect::Absent).await;
    assert!(
        matches!(&refused, Err(WriteError::Conflict { current: Some(entry) }) if show(entry) == "a=one@1"),
        "{refused:?}"
    );
    assert!(things.get(&key("a")).is_some());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_deletion_is_answered_though_its_history_is_forgotten(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    bench.backend().hold(true);
    let deleting = Arc::clone(&things);
    let deletion = tokio::spawn(async move { delete(&deleting, "a", Expect::Present).await });
    let other = bench.backend().connect();
    while other.load(THINGS, &mut |_| ()).await.expect("the content is there") < Revision(2) {
        tokio::task::yield_now().await;
    }
    // The content is loaded again, so there is no event.
    bench.backend().compact_all();
    bench.backend().hold(false);
    let deleted = deletion.await.expect("the task does not panic");
    assert_eq!(show(&deleted.expect("the key is deleted").entry), "a=one@2");
}

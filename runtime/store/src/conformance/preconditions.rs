//! Writes happen only if their expectation is met.

use super::{Bench, delete, draft, key, put, set, show, text, word_row};
use crate::{Expect, Op, Revision, WriteError, WriteResult};

/// The state that contradicted the expectation; empty if there was none.
fn conflict(result: WriteResult) -> Option<String> {
    match result {
        Err(WriteError::Conflict { current }) => current.map(|entry| show(&entry)),
        other => panic!("not a conflict: {other:?}"),
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_absent_key_is_created(bench: Bench) {
    let (storage, things) = bench.things();
    let written = put(&things, "a", "one", Expect::Absent)
        .await
        .expect("the key is absent");
    assert!(written.previous.is_none());
    assert_eq!(show(&written.entry), "a=one@1");
    assert_eq!(
        things.get(&key("a")).map(|entry| show(&entry)).as_deref(),
        Some("a=one@1")
    );
    assert_eq!(storage.revision(), Revision(1));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_existing_key_is_not_created_again(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    let refused = put(&things, "a", "two", Expect::Absent).await;
    assert_eq!(conflict(refused).as_deref(), Some("a=one@1"));
    assert_eq!(
        things.get(&key("a")).map(|entry| show(&entry)).as_deref(),
        Some("a=one@1")
    );
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_stale_revision_is_refused(bench: Bench) {
    let (_storage, things) = bench.things();
    let old = set(&things, "a", "one").await.revision();
    let new = set(&things, "a", "two").await;
    let refused = put(&things, "a", "three", Expect::Revision(old)).await;
    assert_eq!(conflict(refused), Some(show(&new)));
    let refused = delete(&things, "a", Expect::Revision(old)).await;
    assert_eq!(conflict(refused), Some(show(&new)));
    let accepted = put(&things, "a", "three", Expect::Revision(new.revision())).await;
    assert_eq!(
        accepted
            .expect("the revision is current")
            .previous
            .map(|entry| show(&entry)),
        Some(show(&new))
    );
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn one_of_two_equal_updates_wins(bench: Bench) {
    let (_storage, things) = bench.things();
    let mut revision = set(&things, "a", "start").await.revision();
    for _ in 0..50 {
        let expect = Expect::Revision(revision);
        let (left, right) = tokio::join!(put(&things, "a", "left", expect), put(&things, "a", "right", expect),);
        let (winner, loser) = if left.is_ok() { (left, right) } else { (right, left) };
        let winner = winner.expect("one of the updates wins").entry;
        assert_eq!(conflict(loser), Some(show(&winner)));
        revision = winner.revision();
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_absent_key_is_not_updated(bench: Bench) {
    let (_storage, things) = bench.things();
    assert_eq!(conflict(put(&things, "a", "one", Expect::Present).await), None);
    assert_eq!(
        conflict(put(&things, "a", "one", Expect::Revision(Revision(1))).await),
        None
    );
    assert!(things.get(&key("a")).is_none());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_absent_key_is_not_deleted(bench: Bench) {
    let (storage, things) = bench.things();
    for expect in [
        Expect::Any,
        Expect::Present,
        Expect::Absent,
        Expect::Revision(Revision(1)),
    ] {
        assert_eq!(conflict(delete(&things, "a", expect).await), None);
    }
    assert_eq!(storage.revision(), Revision::ZERO);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_deleted_key_can_be_created_again(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    delete(&things, "a", Expect::Present).await.expect("the key exists");
    assert!(things.get(&key("a")).is_none());
    let written = put(&things, "a", "two", Expect::Absent)
        .await
        .expect("the key is absent");
    assert!(written.previous.is_none());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_deletion_has_its_own_revision(bench: Bench) {
    let (storage, things) = bench.things();
    let one = set(&things, "a", "one").await;
    let deleted = delete(&things, "a", Expect::Revision(one.revision())).await;
    let deleted = deleted.expect("the revision is current");
    assert!(deleted.revision() > one.revision());
    assert_eq!(storage.revision(), deleted.revision());
    assert_eq!(deleted.entry.bytes(), text(deleted.revision(), "one").as_bytes());
    assert_eq!(deleted.previous.map(|entry| show(&entry)), Some(show(&one)));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_deletion_can_bring_its_final_state(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    let last = Some((draft("gone"), word_row(&key("a"), "gone")));
    let deleted = things
        .write(Op::Delete {
            key: key("a"),
            expect: Expect::Any,
            last,
        })
        .await;
    assert_eq!(show(&deleted.expect("the key exists").entry), "a=gone@2");
    assert!(things.get(&key("a")).is_none());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_large_write_is_refused(bench: Bench) {
    let (storage, things) = bench.things();
    let limit = bench.options.write_limit;
    let largest = limit - key("a").len() - "revision  ".len();
    let refused = put(&things, "a", &"x".repeat(largest + 1), Expect::Any).await;
    assert!(matches!(refused, Err(WriteError::TooLarge { size, .. }) if size == limit + 1));
    let long_name = "n".repeat(70_000);
    let refused = put(&things, &long_name, "one", Expect::Any).await;
    assert!(matches!(refused, Err(WriteError::TooLarge { .. })));
    assert_eq!(storage.revision(), Revision::ZERO);

    let word = "x".repeat(largest);
    set(&things, "a", &word).await;
    let (_storage, things) = bench.restart(storage).await;
    let read = things.get(&key("a")).expect("the largest write is there");
    assert_eq!(read.bytes(), text(Revision(1), &word).as_bytes());
}

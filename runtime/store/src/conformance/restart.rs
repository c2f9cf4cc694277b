//! Restarts: every write that was answered is there afterwards.

use std::sync::Arc;

use super::{Bench, OTHERS, THINGS, WordIndex, delete, put, read, set, show, show_events};
use crate::{At, Collection, Expect, ListQuery, Revision, WatchFrom};

fn rendered(things: &Collection, at: At) -> Vec<String> {
    let page = things.list(&ListQuery {
        at,
        ..ListQuery::all(things.prefix())
    });
    page.expect("the revision is known")
        .entries
        .iter()
        .map(|entry| show(entry))
        .collect()
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn everything_is_there_after_a_restart(bench: Bench) {
    let (mut storage, mut things) = bench.things();
    for round in 0..3 {
        for number in 0..20 {
            set(&things, &format!("n{number}"), &format!("round{round}")).await;
        }
        delete(&things, &format!("n{round}"), Expect::Any)
            .await
            .expect("the key exists");
        let before = rendered(&things, At::Latest);
        (storage, things) = bench.restart(storage).await;
        assert_eq!(rendered(&things, At::Latest), before);
    }
    assert_eq!(storage.revision(), Revision(63));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn revisions_go_on_after_a_restart(bench: Bench) {
    let (storage, things) = bench.things();
    set(&things, "a", "one").await;
    // The highest revision belongs to no state.
    let last = delete(&things, "a", Expect::Any)
        .await
        .expect("the key exists")
        .revision();
    let (storage, things) = bench.restart(storage).await;
    assert_eq!(storage.revision(), last);
    let next = set(&things, "a", "two").await.revision();
    assert!(next > last);
    storage.compact(next);
    storage.compacted(next).await;
    let (storage, things) = bench.restart(storage).await;
    assert_eq!(storage.revision(), next);
    assert!(set(&things, "a", "three").await.revision() > next);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_watch_resumes_across_a_restart(bench: Bench) {
    let (storage, things) = bench.things();
    set(&things, "a", "one").await;
    set(&things, "b", "one").await;
    set(&things, "a", "two").await;
    delete(&things, "b", Expect::Any).await.expect("the key exists");
    set(&things, "b", "two").await;
    let (_storage, things) = bench.restart(storage).await;
    set(&things, "c", "one").await;
    let all = ["+a=one@1", "+b=one@2", "~a=two@3", "-b=one@4", "+b=two@5", "+c=one@6"];
    for after in 0..6 {
        let from = WatchFrom::After(Revision(after as u64));
        let mut watcher = things.watch(THINGS, from).expect("the revision is known");
        assert_eq!(show_events(&read(&mut watcher, 6 - after).await), all[after..]);
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_watch_resumes_across_a_restart_without_a_later_write(bench: Bench) {
    let (storage, things) = bench.things();
    set(&things, "a", "one").await;
    set(&things, "b/1", "one").await;
    set(&things, "a", "two").await;
    let (_storage, things) = bench.restart(storage).await;
    let all = ["+a=one@1", "+1=one@2", "~a=two@3"];
    for after in 0..3 {
        let from = WatchFrom::After(Revision(after as u64));
        let mut watcher = things.watch(THINGS, from).expect("the revision is known");
        let events = watcher.next().await.expect("the watch goes on");
        assert_eq!(show_events(&events), all[after..]);
    }
    let from = WatchFrom::After(Revision::ZERO);
    let mut some = things
        .watch(&format!("{THINGS}b/"), from)
        .expect("the revision is known");
    assert_eq!(show_events(&some.next().await.expect("the watch goes on")), [all[1]]);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn old_states_are_listed_after_a_restart(bench: Bench) {
    let (storage, things) = bench.things();
    let mut lists = vec![Vec::new()];
    for (name, word) in [("a", "one"), ("b", "one"), ("a", "two"), ("b", ""), ("b", "three")] {
        if word.is_empty() {
            delete(&things, name, Expect::Any).await.expect("the key exists");
        } else {
            set(&things, name, word).await;
        }
        lists.push(rendered(&things, At::Latest));
    }
    let (_storage, things) = bench.restart(storage).await;
    for (revision, expected) in lists.iter().enumerate() {
        assert_eq!(
            &rendered(&things, At::Exact(Revision(revision as u64))),
            expected,
            "at {revision}"
        );
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn rows_are_made_again_from_the_bytes(bench: Bench) {
    let (storage, things) = bench.things();
    set(&things, "a", "blue").await;
    let (_storage, things) = bench.restart(storage).await;
    let entry = things.get(&super::key("a")).expect("the entry is there");
    assert_eq!(entry.row().label("word"), Some("blue"));
    assert_eq!(entry.row().field(0), Some(&*super::key("a")));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn keys_without_a_collection_stay(bench: Bench) {
    let storage = bench.open();
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    set(&others, "a", "one").await;
    // Twice without opening the other collection, with history that grows and is forgotten.
    let (storage, things) = bench.restart(storage).await;
    let last = set(&things, "b", "one").await.revision();
    storage.compact(last);
    storage.compacted(last).await;
    let (storage, _things) = bench.restart(storage).await;
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    assert_eq!(rendered(&others, At::Latest), ["a=one@1"]);
    let refused = put(&others, "a", "two", Expect::Absent).await;
    assert!(refused.is_err());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn queued_writes_are_durable_after_closing(bench: Bench) {
    let (storage, things) = bench.things();
    let writers = (0..50).map(|number| {
        let things = Arc::clone(&things);
        tokio::spawn(async move { put(&things, &format!("n{number}"), "one", Expect::Any).await })
    });
    let writers: Vec<_> = writers.collect();
    set(&things, "first", "one").await;
    let (_storage, reopened) = bench.restart(storage).await;
    for (number, writer) in writers.into_iter().enumerate() {
        let answered = writer.await.expect("the writer does not panic").is_ok();
        let key = super::key(&format!("n{number}"));
        assert_eq!(reopened.get(&key).is_some(), answered, "{key}");
    }
}

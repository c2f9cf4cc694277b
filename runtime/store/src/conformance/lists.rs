//! A list is the state at one revision.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, mpsc};

use tokio::sync::oneshot;

use super::{Bench, OTHERS, THINGS, TIMEOUT, WordIndex, delete, draft, put, set, show};
use crate::{At, Collection, Draft, Entry, Expect, Indexer, ListQuery, Page, Revision, Row};

/// The names and words of a page.
fn rendered(page: &Page) -> Vec<String> {
    page.entries.iter().map(|entry| show(entry)).collect()
}

fn list(things: &Collection, query: &ListQuery<'_>) -> Page {
    things.list(query).expect("the revision is known")
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_list_is_sorted_and_within_its_prefix(bench: Bench) {
    let (storage, things) = bench.things();
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    for name in ["b/2", "a/1", "b/1", "b", "bb/1"] {
        set(&things, name, "one").await;
        set(&others, name, "other").await;
    }
    let page = list(&things, &ListQuery::all(&format!("{THINGS}b/")));
    assert_eq!(rendered(&page), ["1=one@5", "2=one@1"]);
    assert_eq!(
        (page.revision, page.more, page.remaining),
        (Revision(10), false, Some(0))
    );
    assert_eq!(list(&things, &ListQuery::all(THINGS)).entries.len(), 5);
    assert!(list(&things, &ListQuery::all("/registry/none/")).entries.is_empty());
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_filter_selects(bench: Bench) {
    let (_storage, things) = bench.things();
    for number in 0..10 {
        set(
            &things,
            &format!("n{number}"),
            if number % 2 == 0 { "even" } else { "odd" },
        )
        .await;
    }
    let odd = |entry: &Entry| entry.row().label("word") == Some("odd");
    let query = ListQuery {
        filter: Some(&odd),
        limit: Some(3),
        ..ListQuery::all(THINGS)
    };
    let first = list(&things, &query);
    assert_eq!(rendered(&first), ["n1=odd@2", "n3=odd@4", "n5=odd@6"]);
    assert_eq!((first.more, first.remaining), (true, None));
    let start = first.next();
    let query = ListQuery {
        start: start.as_deref(),
        ..query
    };
    let second = list(&things, &query);
    assert_eq!(rendered(&second), ["n7=odd@8", "n9=odd@10"]);
    assert_eq!((second.more, second.next()), (false, None));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_slow_reader_holds_up_no_writer(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    set(&things, "b", "one").await;
    for at in [At::Latest, At::Exact(Revision(1))] {
        let (begun, begins) = oneshot::channel();
        let (written, write) = mpsc::channel();
        let writer = Arc::clone(&things);
        tokio::spawn(async move {
            begins.await.expect("the list begins");
            set(&writer, "a", "two").await;
            written.send(()).expect("the list waits");
        });
        let begun = Mutex::new(Some(begun));
        let filter = |_: &Entry| {
            if let Some(begun) = begun.lock().expect("no panic").take() {
                begun.send(()).expect("the writer waits");
                write.recv_timeout(TIMEOUT / 2).expect("the write waits for the list");
            }
            true
        };
        let query = ListQuery {
            filter: Some(&filter),
            at,
            ..ListQuery::all(THINGS)
        };
        let page = list(&things, &query);
        assert!(page.entries.iter().all(|entry| entry.revision() <= page.revision));
    }
}

/// Indexes a kind whose definition has changed.
struct LoudIndex;

impl Indexer for LoudIndex {
    fn row(&self, key: &str, bytes: &[u8]) -> Row {
        WordIndex.row(key, bytes)
    }

    fn reindexed(&self, bytes: &[u8]) -> Option<Draft> {
        let text = std::str::from_utf8(bytes).expect("the scenarios write text");
        let word = text.rsplit(' ').next().unwrap_or_default();
        (word != "mute").then(|| draft(&word.to_uppercase()))
    }
}

/// Indexes a kind whose definition has changed once more.
struct MildIndex;

impl Indexer for MildIndex {
    fn row(&self, key: &str, bytes: &[u8]) -> Row {
        WordIndex.row(key, bytes)
    }

    fn reindexed(&self, bytes: &[u8]) -> Option<Draft> {
        let text = std::str::from_utf8(bytes).expect("the scenarios write text");
        Some(draft(&text.rsplit(' ').next().unwrap_or_default().to_lowercase()))
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn bytes_are_those_of_the_newest_states(bench: Bench) {
    fn check(things: &Collection) {
        let page = list(things, &ListQuery::all(THINGS));
        let bytes: usize = page.entries.iter().map(|entry| entry.bytes().len()).sum();
        assert_eq!(things.stats().bytes, bytes);
    }
    let (storage, things) = bench.things();
    check(&things);
    for (name, word) in [
        ("a", "one"),
        ("b", "three"),
        ("c", "mute"),
        ("a", "twenty"),
        ("b", "six"),
    ] {
        set(&things, name, word).await;
        check(&things);
    }
    delete(&things, "b", Expect::Any).await.expect("it is there");
    check(&things);
    assert_eq!(things.stats().published, 6);
    assert_eq!(things.stats().newest, Revision(6));
    let (_storage, things) = bench.restart(storage).await;
    check(&things);
    set(&things, "c", "seventeen").await;
    check(&things);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn the_newest_change_is_known_when_it_is_forgotten(bench: Bench) {
    let (storage, things) = bench.things();
    assert_eq!(things.stats().newest, Revision::ZERO);
    set(&things, "a", "one").await;
    delete(&things, "a", Expect::Any).await.expect("it is there");
    let last = set(&things, "b", "two").await.revision();
    storage.compact(last);
    storage.compacted(last).await;
    let stats = things.stats();
    assert_eq!((stats.events, stats.published, stats.newest), (0, 3, last));
    let (_storage, things) = bench.restart(storage).await;
    assert_eq!(things.stats().newest, last);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_reindexed_collection_shows_what_the_kind_makes_of_it(bench: Bench) {
    let (_storage, things) = bench.things();
    for (name, word) in [("a", "one"), ("b", "TWO"), ("c", "three"), ("d", "mute")] {
        set(&things, name, word).await;
    }
    let loud: Arc<dyn Indexer> = Arc::new(LoudIndex);
    let epoch = things.reindex(&loud);
    set(&things, "e", "five").await;
    let page = list(&things, &ListQuery::all(THINGS));
    assert_eq!(
        rendered(&page),
        ["a=ONE@1", "b=TWO@2", "c=THREE@3", "d=mute@4", "e=five@5"]
    );
    assert_eq!(page.revision, Revision(5), "nothing was written");
    let are_current = |epoch| {
        let entries = page.entries.iter();
        entries.map(|entry| entry.matches_schema(epoch)).collect::<Vec<_>>()
    };
    assert_eq!(are_current(epoch), [true, true, true, false, false]);
    let again = things.reindex(&loud);
    assert_eq!(are_current(epoch), [false; 5]);
    assert_eq!(
        are_current(again),
        [true, true, true, false, false],
        "what did not change fits as it is"
    );
    let mild: Arc<dyn Indexer> = Arc::new(MildIndex);
    things.reindex(&mild);
    let page = list(&things, &ListQuery::all(THINGS));
    assert_eq!(
        rendered(&page),
        ["a=one@1", "b=two@2", "c=three@3", "d=mute@4", "e=five@5"],
        "each definition makes its own of the stored words"
    );
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn pages_are_of_one_revision(bench: Bench) {
    let (_storage, things) = bench.things();
    for number in 0..20 {
        set(&things, &format!("n{number:02}"), "old").await;
    }
    let first = ListQuery {
        limit: Some(6),
        ..ListQuery::all(THINGS)
    };
    let mut page = list(&things, &first);
    let revision = page.revision;
    let mut seen = Vec::new();
    for round in 0.. {
        assert_eq!(page.revision, revision);
        assert_eq!(page.remaining, Some(20 - seen.len() as u64 - page.entries.len() as u64));
        seen.extend(rendered(&page));
        let Some(start) = page.next() else { break };
        // Before, at and after the page's end: none of these writes belong to the list.
        set(&things, &format!("n{:02}", round * 6), "new").await;
        set(&things, &format!("n{:02}", round * 6 + 7), "new").await;
        set(&things, &format!("n{:02}-more", round * 6 + 8), "new").await;
        let gone = format!("n{:02}", (round * 6 + 9) % 20);
        delete(&things, &gone, Expect::Present).await.expect("the key exists");
        page = list(
            &things,
            &ListQuery {
                start: Some(&start),
                at: At::Exact(revision),
                ..first
            },
        );
    }
    let expected: Vec<_> = (0..20)
        .map(|number| format!("n{number:02}=old@{}", number + 1))
        .collect();
    assert_eq!(seen, expected);
}

/// Creates a history with all kinds of changes. Returns the list after every revision.
async fn history(things: &Arc<Collection>) -> Vec<Vec<String>> {
    let mut state = BTreeMap::new();
    let mut lists = vec![Vec::new()];
    for step in 0..60_usize {
        let name = format!("n{}", (step * 7) % 11);
        if step % 5 == 4 && state.contains_key(&name) {
            delete(things, &name, Expect::Present).await.expect("the key exists");
            state.remove(&name);
        } else {
            let written = put(things, &name, &format!("w{step}"), Expect::Any).await;
            state.insert(name, show(&written.expect("the write is accepted").entry));
        }
        lists.push(state.values().cloned().collect());
    }
    lists
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn an_old_revision_shows_the_old_state(bench: Bench) {
    let (_storage, things) = bench.things();
    for (revision, expected) in history(&things).await.iter().enumerate() {
        let revision = Revision(revision as u64);
        let page = list(
            &things,
            &ListQuery {
                at: At::Exact(revision),
                ..ListQuery::all(THINGS)
            },
        );
        assert_eq!(&rendered(&page), expected, "at {revision}");
        assert_eq!(page.revision, revision);
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn old_pages_agree_with_the_whole_list(bench: Bench) {
    let (_storage, things) = bench.things();
    for (revision, expected) in history(&things).await.iter().enumerate() {
        let at = At::Exact(Revision(revision as u64));
        let first = ListQuery {
            at,
            limit: Some(2),
            ..ListQuery::all(THINGS)
        };
        let mut seen = Vec::new();
        let mut page = list(&things, &first);
        loop {
            seen.extend(rendered(&page));
            assert_eq!(page.remaining, Some((expected.len() - seen.len()) as u64));
            let Some(start) = page.next() else { break };
            page = list(
                &things,
                &ListQuery {
                    start: Some(&start),
                    ..first
                },
            );
        }
        assert_eq!(&seen, expected, "at {revision}");
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_future_revision_shows_the_newest_state(bench: Bench) {
    let (_storage, things) = bench.things();
    set(&things, "a", "one").await;
    let query = ListQuery {
        at: At::Exact(Revision(100)),
        ..ListQuery::all(THINGS)
    };
    assert_eq!(list(&things, &query).revision, Revision(1));
}

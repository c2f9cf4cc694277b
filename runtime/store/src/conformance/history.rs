//! History that does not fit into memory is read back, and kept as long as its readers need it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::{Bench, OTHERS, THINGS, WordIndex, delete, read, set, show, show_events};
use crate::{
    At, Collection, Compacted, Event, Expect, HistoryLimits, ListQuery, Revision, Storage, WatchError, WatchFrom,
};

/// Bytes of memory for history, which the changes of [`churn`] exceed by far.
const LITTLE: usize = 100_000;

/// Every state of every thing.
struct Past {
    /// The list after each revision, by name.
    lists: Vec<BTreeMap<String, String>>,
    events: Vec<String>,
}

/// Creates, changes and deletes things, those of another collection in between.
async fn churn(storage: &Storage, things: &Arc<Collection>, rounds: usize) -> Past {
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    let mut past = Past {
        lists: vec![BTreeMap::new()],
        events: Vec::new(),
    };
    let mut list = BTreeMap::new();
    for round in 0..rounds {
        let name = format!("n{:02}", round * 7 % 40);
        if round % 5 == 4 && list.contains_key(&name) {
            let written = delete(things, &name, Expect::Any).await.expect("the key exists");
            list.remove(&name);
            past.events.push(format!("-{}", show(&written.entry)));
        } else {
            let entry = set(things, &name, &format!("w{round}")).await;
            let sign = if list.insert(name, show(&entry)).is_some() {
                '~'
            } else {
                '+'
            };
            past.events.push(format!("{sign}{}", show(&entry)));
        }
        past.lists.push(list.clone());
        if round % 3 == 0 {
            set(&others, "o", &format!("w{round}")).await;
            past.lists.push(list.clone());
        }
    }
    past
}

/// Waits until some changes are spilled; false if the backend does not keep history.
async fn is_spilled(storage: &Storage, things: &Collection) -> bool {
    if !storage.keeps_history() {
        return false;
    }
    storage.rechecked().await;
    assert!(things.stats().spilled > 0);
    true
}

fn at(revision: Revision) -> ListQuery<'static> {
    ListQuery {
        at: At::Exact(revision),
        ..ListQuery::all(THINGS)
    }
}

fn listed(things: &Collection, query: &ListQuery<'_>) -> Result<Vec<String>, Compacted> {
    Ok(things.list(query)?.entries.iter().map(|entry| show(entry)).collect())
}

fn compare_lists(things: &Collection, past: &Past) {
    for (revision, list) in past.lists.iter().enumerate().step_by(13) {
        let query = at(Revision(revision as u64));
        let expected: Vec<_> = list.values().cloned().collect();
        assert_eq!(listed(things, &query), Ok(expected.clone()), "at {revision}");
        let mut paged = Vec::new();
        let mut start = None;
        loop {
            let page = things.list(&ListQuery {
                start: start.as_deref(),
                limit: Some(7),
                ..query
            });
            let page = page.expect("the revision is known");
            paged.extend(page.entries.iter().map(|entry| show(entry)));
            assert_eq!(page.remaining, Some((expected.len() - paged.len()) as u64));
            start = page.next();
            if start.is_none() {
                break;
            }
        }
        assert_eq!(paged, expected, "pages at {revision}");
        let odd = |entry: &crate::Entry| {
            entry
                .row()
                .label("word")
                .is_some_and(|word| word.ends_with(['1', '3', '5']))
        };
        let filtered = ListQuery {
            limit: Some(3),
            filter: Some(&odd),
            ..query
        };
        let is_odd = |shown: &&String| {
            shown
                .split('@')
                .next()
                .is_some_and(|shown| shown.ends_with(['1', '3', '5']))
        };
        let first: Vec<_> = expected.iter().filter(is_odd).take(3).cloned().collect();
        assert_eq!(listed(things, &filtered), Ok(first), "filtered at {revision}");
    }
}

fn check_previous(events: &[Arc<Event>]) {
    let mut states = BTreeMap::new();
    for event in events {
        let previous = event.previous().map(|previous| show(previous));
        let known = states.insert(event.entry().key().to_owned(), show(event.entry()));
        if event.kind() != (crate::EventKind::Put { created: true }) {
            assert_eq!(previous, known);
        }
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_watch_reads_what_is_not_in_memory(mut bench: Bench) {
    bench.options.history_bytes = LITTLE;
    let (mut storage, mut things) = bench.things();
    let past = churn(&storage, &things, 900).await;
    for _ in 0..2 {
        if !is_spilled(&storage, &things).await {
            return;
        }
        let stats = things.stats();
        assert_eq!(storage.oldest(), Revision::ZERO, "nothing is forgotten");
        assert!(stats.spilled > stats.events / 2, "{stats:?}");
        let watch = || {
            things
                .watch(THINGS, WatchFrom::After(Revision::ZERO))
                .expect("it starts")
        };
        let mut watcher = watch();
        let events = read(&mut watcher, past.events.len()).await;
        assert_eq!(show_events(&events), past.events);
        check_previous(&events);
        assert!(watcher.try_next().expect("it goes on").is_empty());
        assert_eq!(watcher.progress(), storage.revision());
        // From the middle, and with few bytes at once.
        let middle = events[events.len() / 3].revision();
        let mut few = things
            .watch(THINGS, WatchFrom::After(middle))
            .expect("it starts")
            .without_previous();
        let mut rest = Vec::new();
        while rest.len() < events.len() - events.len() / 3 - 1 {
            let some = few.next_within(100).await.expect("it goes on");
            assert!(some.len() < 10);
            rest.extend(some.iter().map(|event| show(event.entry())));
        }
        let expected = events.iter().skip(events.len() / 3 + 1);
        assert!(rest.into_iter().eq(expected.map(|event| show(event.entry()))));
        (storage, things) = bench.restart(storage).await;
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_list_shows_old_states_that_are_not_in_memory(mut bench: Bench) {
    bench.options.history_bytes = LITTLE;
    let (mut storage, mut things) = bench.things();
    let past = churn(&storage, &things, 900).await;
    for _ in 0..2 {
        if !is_spilled(&storage, &things).await {
            return;
        }
        assert!(things.reads_back(At::Exact(Revision(1))));
        assert!(!things.reads_back(At::Exact(storage.revision())) && !things.reads_back(At::Latest));
        compare_lists(&things, &past);
        (storage, things) = bench.restart(storage).await;
    }
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn states_before_the_history_are_known_by_their_first_change(mut bench: Bench) {
    bench.options.history_bytes = LITTLE;
    let (storage, things) = bench.things();
    let first = churn(&storage, &things, 120).await;
    let floor = storage.revision();
    storage.compact(floor);
    // The states before the floor are settled.
    storage.compact_fully(floor).await;
    for round in 0..600 {
        set(&things, &format!("n{:02}", round % 40), "later").await;
    }
    if !is_spilled(&storage, &things).await {
        return;
    }
    let expected: Vec<_> = first
        .lists
        .last()
        .into_iter()
        .flat_map(BTreeMap::values)
        .cloned()
        .collect();
    assert_eq!(listed(&things, &at(floor)), Ok(expected.clone()));
    let mut watcher = things.watch(THINGS, WatchFrom::After(floor)).expect("it starts");
    let events = read(&mut watcher, 40).await;
    let previous = events.iter().take(40).filter_map(|event| event.previous());
    assert_eq!(previous.map(|entry| show(entry)).collect::<Vec<_>>(), expected);
    // Settled again, up to the middle of what is spilled.
    let middle = events[events.len() - 1].revision();
    storage.compact_fully(middle).await;
    let list = listed(&things, &at(middle)).expect("it is the oldest revision");
    assert_eq!(list.len(), 40);
    assert!(list.iter().all(|shown| shown.contains("later")));
    assert_eq!(listed(&things, &at(floor)), Err(Compacted { oldest: middle }));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn readers_miss_nothing_while_history_is_written_spilled_and_forgotten(mut bench: Bench) {
    bench.options.history_bytes = LITTLE;
    bench.options.journal_bytes = 200_000;
    let (storage, things) = bench.things();
    let done = Arc::new(AtomicBool::new(false));
    let writer = {
        let (things, done) = (Arc::clone(&things), Arc::clone(&done));
        tokio::spawn(async move {
            for round in 0..3000 {
                set(&things, &format!("n{:02}", round % 20), &format!("w{round}")).await;
            }
            done.store(true, Ordering::SeqCst);
        })
    };
    let mut seen = 0;
    while !done.load(Ordering::SeqCst) {
        let oldest = storage.oldest();
        let mut watcher = match things.watch(THINGS, WatchFrom::After(oldest)) {
            Ok(watcher) => watcher,
            Err(WatchError::Compacted { oldest: newer }) => {
                assert!(newer > oldest);
                continue;
            }
            Err(WatchError::Closed) => panic!("the store is open"),
        };
        // Each revision is a change of this collection.
        let mut next = oldest.0 + 1;
        for _ in 0..20 {
            match watcher.available_within(2000).await {
                Ok(events) => {
                    for event in events {
                        assert_eq!(event.revision(), Revision(next));
                        let word = format!("w{}", next - 1);
                        assert!(show(event.entry()).contains(&word));
                        let before = next.checked_sub(20).filter(|before| *before > 0);
                        let previous = event.previous().map(|previous| previous.revision().0);
                        assert_eq!(previous, before);
                        (next, seen) = (next + 1, seen + 1);
                    }
                }
                Err(error) => {
                    assert!(storage.oldest() >= Revision(next), "{error:?}");
                    break;
                }
            }
        }
        let revision = Revision(u64::midpoint(storage.oldest().0, storage.revision().0));
        match listed(&things, &at(revision)) {
            Ok(list) => {
                let first = revision.0.saturating_sub(20);
                let mut revisions: Vec<u64> = list
                    .iter()
                    .filter_map(|shown| shown.split_once('@')?.1.parse().ok())
                    .collect();
                revisions.sort_unstable();
                assert!(
                    revisions.into_iter().eq(first + 1..=revision.0),
                    "{list:?} at {revision}"
                );
            }
            Err(Compacted { .. }) => assert!(storage.oldest() > revision),
        }
    }
    writer.await.expect("writes are accepted");
    assert!(seen > 0);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn pages_that_are_requested_again_keep_their_revision_for_longer(bench: Bench) {
    let (storage, things) = bench.things();
    for name in ["a", "b", "c"] {
        set(&things, name, "old").await;
    }
    let revision = storage.revision();
    let page = |name: &'static str| {
        let start = super::key(name);
        let query = ListQuery {
            start: Some(&start),
            limit: Some(1),
            ..at(revision)
        };
        listed(&things, &query)
    };
    assert_eq!(page("a").as_deref(), Ok(&["a=old@1".to_owned()][..]));
    // Requests extend the history by half of its age.
    let step = bench.options.window * 5 / 8;
    for _ in 0..2 {
        set(&things, "a", "new").await;
        storage.rechecked().await;
        bench.clock.advance(step);
        storage.rechecked().await;
        assert_eq!(page("b").as_deref(), Ok(&["b=old@2".to_owned()][..]));
    }
    bench.clock.advance(step);
    storage.rechecked().await;
    let oldest = storage.oldest();
    assert!(oldest > revision);
    assert_eq!(page("c"), Err(Compacted { oldest }));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn pages_that_are_not_requested_again_lose_their_revision(bench: Bench) {
    let (storage, things) = bench.things();
    set(&things, "a", "old").await;
    set(&things, "b", "old").await;
    let revision = storage.revision();
    let first = ListQuery {
        limit: Some(1),
        ..at(revision)
    };
    assert_eq!(listed(&things, &first).as_deref(), Ok(&["a=old@1".to_owned()][..]));
    set(&things, "a", "new").await;
    // The last use counts when the compactor looks at it.
    storage.rechecked().await;
    bench.clock.advance(bench.options.window + Duration::from_secs(1));
    storage.rechecked().await;
    let oldest = storage.oldest();
    assert!(oldest > revision);
    assert_eq!(listed(&things, &first), Err(Compacted { oldest }));
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_kind_may_keep_less_history_than_the_others(mut bench: Bench) {
    let short = HistoryLimits {
        window: Some(bench.options.window / 10),
        bytes: None,
    };
    bench.options.kinds = vec![(THINGS.to_owned(), short)];
    let (storage, things) = bench.things();
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    set(&things, "a", "one").await;
    set(&others, "a", "one").await;
    let young = set(&things, "a", "two").await.revision();
    bench.clock.advance(bench.options.window / 5);
    set(&things, "a", "three").await;
    storage.rechecked().await;
    assert!(listed(&things, &at(Revision(young.0 - 1))).is_err());
    assert!(listed(&things, &at(young)).is_ok());
    assert!(others.watch(OTHERS, WatchFrom::After(Revision::ZERO)).is_ok());
    assert_eq!(storage.oldest(), Revision::ZERO);
}

#[expect(missing_docs, reason = "the name is the scenario")]
pub async fn a_kind_may_keep_history_longer_or_within_its_own_bytes(mut bench: Bench) {
    let own = HistoryLimits {
        window: Some(bench.options.window * 3),
        bytes: Some(2000),
    };
    bench.options.kinds = vec![(THINGS.to_owned(), own)];
    let (storage, things) = bench.things();
    let others = storage.collection(OTHERS, Arc::new(WordIndex));
    set(&things, "a", "one").await;
    let old = set(&others, "a", "one").await.revision();
    set(&things, "a", "two").await;
    bench.clock.advance(bench.options.window * 2);
    set(&things, "a", "three").await;
    storage.rechecked().await;
    assert!(listed(&things, &at(Revision(1))).is_ok());
    assert!(others.watch(OTHERS, WatchFrom::After(Revision(old.0 - 1))).is_err());
    for _ in 0..20 {
        set(&things, "a", &"x".repeat(490)).await;
    }
    storage.rechecked().await;
    let last = storage.revision();
    assert!(listed(&things, &at(Revision(last.0 - 3))).is_ok());
    assert!(listed(&things, &at(Revision(last.0 - 5))).is_err());
}

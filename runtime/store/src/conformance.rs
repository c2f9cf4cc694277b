//! The duties of every backend: one scenario per guarantee.
//!
//! A backend's tests are one line, which creates a `#[test]` for each scenario:
//!
//! ```
//! planesmith_store::suite!({
//!     let log = planesmith_store::MemoryLog::new();
//!     move || Box::new(log.clone()) as Box<dyn planesmith_store::log::Log>
//! });
//! # fn main() {}
//! ```
//!
//! The expression is evaluated once per scenario. It returns a function that opens the backend, on the same data each
//! time: a scenario calls it again to restart.

pub mod compaction;
mod disturbed;
pub mod expiry;
pub mod history;
pub mod lists;
pub mod order;
pub mod preconditions;
pub mod restart;
mod several_writers;
pub mod shared;
pub mod watches;

pub use self::disturbed::{Disturbed, Server, SharedBackend};
pub use self::several_writers::SeveralWriters;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;

use crate::log::Log;
use crate::{
    Collection, Decoded, Draft, Entry, Event, EventKind, Expect, Indexer, ManualClock, Op, Revision, Row, Storage,
    StorageOptions, StoredForm, Watcher, WriteResult,
};

/// The prefix of all keys.
pub const REGISTRY: &str = "/registry/";

/// The prefix of the collection that most scenarios use.
pub const THINGS: &str = "/registry/things/";

/// Another prefix, which sorts right after it.
pub const OTHERS: &str = "/registry/things.other/";

/// Time after which a scenario counts as stuck.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Opens the backend under test, repeatedly on the same data.
pub type Open = Box<dyn Fn() -> Box<dyn Log> + Send + Sync>;

/// Opens the store of a scenario.
type OpenStorage = Box<dyn Fn(&StorageOptions) -> Storage + Send + Sync>;

/// Creates a `#[test]` for every scenario.
#[macro_export]
macro_rules! suite {
    ($backend:expr) => {
        $crate::suite! { @tests $backend;
            preconditions: an_absent_key_is_created, an_existing_key_is_not_created_again,
                a_stale_revision_is_refused, one_of_two_equal_updates_wins,
                an_absent_key_is_not_updated, an_absent_key_is_not_deleted,
                a_deleted_key_can_be_created_again, a_deletion_has_its_own_revision,
                a_deletion_can_bring_its_final_state, a_large_write_is_refused;
            order: revisions_grow_with_every_write, an_answered_write_is_visible,
                increments_of_many_writers_are_all_counted, a_dropped_write_happens_nevertheless,
                waiting_for_a_revision_ends;
            lists: a_list_is_sorted_and_within_its_prefix, a_filter_selects, bytes_are_those_of_the_newest_states,
                a_reindexed_collection_shows_what_the_kind_makes_of_it,
                pages_are_of_one_revision, an_old_revision_shows_the_old_state,
                old_pages_agree_with_the_whole_list, a_future_revision_shows_the_newest_state,
                the_newest_change_is_known_when_it_is_forgotten, a_slow_reader_holds_up_no_writer;
            watches: every_watcher_sees_every_change_once, a_watch_resumes_after_its_revision,
                a_watch_stays_within_its_prefix, an_event_knows_the_state_before,
                a_list_and_its_watch_leave_no_gap, progress_covers_other_collections,
                closing_ends_watches_after_the_last_event, an_encoding_is_made_once;
            restart: everything_is_there_after_a_restart, revisions_go_on_after_a_restart,
                a_watch_resumes_across_a_restart, a_watch_resumes_across_a_restart_without_a_later_write,
                old_states_are_listed_after_a_restart,
                rows_are_made_again_from_the_bytes, keys_without_a_collection_stay,
                queued_writes_are_durable_after_closing;
            expiry: an_expired_state_is_deleted, a_later_put_prolongs_or_ends_the_expiry,
                a_rewritten_state_expires_as_before, expiry_goes_on_after_a_restart;
            compaction: a_compacted_revision_is_refused, a_slow_watcher_gets_an_error,
                an_up_to_date_watcher_does_not_notice, a_watcher_of_the_future_does_not_notice, a_watcher_of_quiet_keys_does_not_notice, old_history_is_forgotten_by_itself,
                superseded_states_are_bounded, the_newest_state_survives_compaction,
                disk_space_comes_back, writes_go_on_during_compaction;
            history: a_watch_reads_what_is_not_in_memory, a_list_shows_old_states_that_are_not_in_memory,
                states_before_the_history_are_known_by_their_first_change,
                readers_miss_nothing_while_history_is_written_spilled_and_forgotten,
                pages_that_are_requested_again_keep_their_revision_for_longer,
                pages_that_are_not_requested_again_lose_their_revision,
                a_kind_may_keep_less_history_than_the_others,
                a_kind_may_keep_history_longer_or_within_its_own_bytes;
        }
    };
    (@tests $backend:expr; $($module:ident: $($scenario:ident),+;)+) => {
        $($(
            #[test]
            fn $scenario() {
                let open = $backend;
                $crate::conformance::run(open, $crate::conformance::$module::$scenario);
            }
        )+)+
    };
}

/// Runs one scenario on a runtime of its own.
///
/// # Panics
///
/// The backend violates the guarantee, or the scenario is stuck.
pub fn run<F: Future<Output = ()>>(
    open: impl Fn() -> Box<dyn Log> + Send + Sync + 'static,
    scenario: impl FnOnce(Bench) -> F,
) {
    let runtime = runtime();
    let clock = Arc::new(ManualClock::new(1_000_000_000_000));
    let options = StorageOptions {
        clock: Arc::clone(&clock) as Arc<ManualClock>,
        ..StorageOptions::default()
    };
    let bench = Bench {
        open: Box::new(move |options| Storage::open(open(), options).expect("the store opens")),
        backend: None,
        clock,
        options,
    };
    finish(&runtime, scenario(bench));
}

/// Runs one scenario on a runtime of its own, on a store on the backend that `make` returns, in which others write, too.
/// Without one, nothing is tested; then `make` says why.
///
/// # Panics
///
/// The backend violates the guarantee, or the scenario is stuck.
pub fn run_shared<B: SharedBackend + 'static, F: Future<Output = ()>>(
    make: impl FnOnce() -> Option<B>,
    scenario: impl FnOnce(Bench) -> F,
) {
    let runtime = runtime();
    let clock = Arc::new(ManualClock::new(1_000_000_000_000));
    let options = StorageOptions {
        clock: Arc::clone(&clock) as Arc<ManualClock>,
        ..StorageOptions::default()
    };
    finish(&runtime, async {
        let Some(backend) = make() else { return };
        let backend: Arc<dyn SharedBackend> = Arc::new(backend);
        let connected = Arc::clone(&backend);
        let open = move |options: &StorageOptions| {
            let connect = Storage::connect(connected.connect(), REGISTRY, options);
            let opened = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(connect));
            opened.expect("the store opens")
        };
        let bench = Bench {
            open: Box::new(open),
            backend: Some(backend),
            clock,
            options,
        };
        scenario(bench).await;
    });
}

fn runtime() -> tokio::runtime::Runtime {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.expect("a runtime starts")
}

fn finish(runtime: &tokio::runtime::Runtime, scenario: impl Future<Output = ()>) {
    let finished = runtime.block_on(async { tokio::time::timeout(TIMEOUT, scenario).await });
    assert!(finished.is_ok(), "the scenario is stuck");
}

/// The store of a scenario, and the collection that it works with.
pub struct Bench {
    open: OpenStorage,
    backend: Option<Arc<dyn SharedBackend>>,
    /// The store's clock.
    pub clock: Arc<ManualClock>,
    /// The options of the next opened store.
    pub options: StorageOptions,
}

impl Bench {
    /// Opens the store.
    #[must_use]
    pub fn open(&self) -> Storage {
        (self.open)(&self.options)
    }

    /// The backend in which others write, too.
    ///
    /// # Panics
    ///
    /// The scenario is not run by [`run_shared`].
    #[must_use]
    pub fn backend(&self) -> &dyn SharedBackend {
        self.backend.as_deref().expect("the scenario runs on a shared backend")
    }

    /// Opens the store and its usual collection.
    #[must_use]
    pub fn things(&self) -> (Storage, Arc<Collection>) {
        let storage = self.open();
        let things = storage.collection(THINGS, Arc::new(WordIndex));
        (storage, things)
    }

    /// Closes the store and opens it again.
    pub async fn restart(&self, storage: Storage) -> (Storage, Arc<Collection>) {
        storage.close().await;
        drop(storage);
        self.things()
    }
}

impl std::fmt::Debug for Bench {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Bench")
            .field("clock", &self.clock)
            .finish_non_exhaustive()
    }
}

/// Indexes the objects of [`put`]: the text is a label and a field.
#[derive(Clone, Copy, Debug)]
pub struct WordIndex;

impl Indexer for WordIndex {
    fn row(&self, key: &str, bytes: &[u8]) -> Row {
        let text = std::str::from_utf8(bytes).expect("the scenarios write text");
        word_row(key, text.rsplit(' ').next().unwrap_or_default())
    }

    fn decode(&self, _key: &str, stored: &Bytes) -> Decoded {
        Decoded {
            draft: Draft::new(stored.to_vec(), GAP),
            form: StoredForm::Current,
            adapted_from: None,
        }
    }
}

fn word_row(key: &str, word: &str) -> Row {
    Row::new([("word", word)], [key])
}

/// The key of a thing.
#[must_use]
pub fn key(name: &str) -> Arc<str> {
    format!("{THINGS}{name}").into()
}

/// Offset of the revision in the bytes of a word.
const GAP: usize = 9;

/// The draft of `word`, with the revision in front.
#[must_use]
pub fn draft(word: &str) -> Draft {
    Draft::new(format!("revision  {word}").into_bytes(), GAP)
}

/// The bytes of `word` as written at `revision`.
#[must_use]
pub fn text(revision: Revision, word: &str) -> String {
    format!("revision {revision} {word}")
}

/// Writes `word` as the state of the thing `name`.
///
/// # Errors
///
/// Errors of the store.
pub async fn put(things: &Arc<Collection>, name: &str, word: &str, expect: Expect) -> WriteResult {
    let key = format!("{}{name}", things.prefix());
    let row = word_row(&key, word);
    things
        .write(Op::Put {
            key: key.into(),
            draft: draft(word),
            row,
            expect,
            ttl: None,
        })
        .await
}

/// Writes `word`, whatever the previous state.
///
/// # Panics
///
/// The store refuses the write.
pub async fn set(things: &Arc<Collection>, name: &str, word: &str) -> Arc<Entry> {
    put(things, name, word, Expect::Any)
        .await
        .expect("the write is accepted")
        .entry
}

/// Deletes the thing `name`.
///
/// # Errors
///
/// Errors of the store.
pub async fn delete(things: &Arc<Collection>, name: &str, expect: Expect) -> WriteResult {
    let key = format!("{}{name}", things.prefix()).into();
    things
        .write(Op::Delete {
            key,
            expect,
            last: None,
        })
        .await
}

/// An entry as `name=word@revision`.
#[must_use]
pub fn show(entry: &Entry) -> String {
    let name = entry.key().rsplit('/').next().unwrap_or_default();
    let bytes = entry.bytes();
    let text = std::str::from_utf8(&bytes).expect("the scenarios write text");
    let word = text.rsplit(' ').next().unwrap_or_default();
    assert_eq!(text, self::text(entry.revision(), word), "the bytes show the revision");
    assert_eq!(
        entry.row(),
        word_row(entry.key(), word).view(),
        "the row is the bytes' row"
    );
    format!("{name}={word}@{}", entry.revision())
}

/// Events as `+` (created), `~` (changed) or `-` (deleted), and the entry.
#[must_use]
pub fn show_events(events: &[Arc<Event>]) -> Vec<String> {
    let show_one = |event: &Arc<Event>| {
        let sign = match event.kind() {
            EventKind::Put { created: true } => '+',
            EventKind::Put { created: false } => '~',
            EventKind::Delete => '-',
        };
        assert_eq!(
            event.kind() == EventKind::Put { created: true },
            event.previous().is_none()
        );
        format!("{sign}{}", show(event.entry()))
    };
    events.iter().map(show_one).collect()
}

/// Reads from `watcher` until it has `count` events.
///
/// # Panics
///
/// The watch ends before.
pub async fn read(watcher: &mut Watcher, count: usize) -> Vec<Arc<Event>> {
    let mut events = Vec::new();
    while events.len() < count {
        events.extend(watcher.next().await.expect("the watch goes on"));
    }
    events
}

//! The engine agrees with a model that has every state of every key.

use std::collections::BTreeMap;
use std::sync::Arc;

use planesmith_store::conformance::{THINGS, WordIndex, delete, put, show, show_events};
use planesmith_store::{
    At, Collection, Expect, ListQuery, MemoryLog, Revision, Storage, StorageOptions, WatchError, WatchFrom, WriteError,
};
use proptest::prelude::{Just, Strategy, any, prop_oneof, proptest};

/// One step of a client, of an operator, or a restart.
#[derive(Clone, Debug)]
enum Step {
    Put { name: u8, expect: Guess },
    Delete { name: u8, expect: Guess },
    Compact { back: u8 },
    Restart,
}

/// A client's assumption about the key.
#[derive(Clone, Copy, Debug)]
enum Guess {
    Absent,
    Present,
    Anything,
    /// The client's revision: correct, or this much too old.
    Revision {
        stale: u8,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let guess = || {
        prop_oneof![
            1 => Just(Guess::Absent),
            1 => Just(Guess::Present),
            3 => Just(Guess::Anything),
            2 => (0..2_u8).prop_map(|stale| Guess::Revision { stale }),
        ]
    };
    let step = prop_oneof![
        8 => (0..6_u8, guess()).prop_map(|(name, expect)| Step::Put { name, expect }),
        4 => (0..6_u8, guess()).prop_map(|(name, expect)| Step::Delete { name, expect }),
        1 => any::<u8>().prop_map(|back| Step::Compact { back: back % 20 }),
        1 => Just(Step::Restart),
    ];
    proptest::collection::vec(step, 1..60)
}

/// All states in the history.
#[derive(Default)]
struct Model {
    /// The list after each revision, from revision 0: entries by name.
    lists: Vec<BTreeMap<String, String>>,
    /// The event of each revision.
    events: Vec<String>,
    /// Never decreases while the store is open.
    floor: u64,
}

impl Model {
    fn current(&self) -> &BTreeMap<String, String> {
        self.lists.last().unwrap()
    }

    fn revision(&self) -> u64 {
        self.events.len() as u64
    }

    fn revision_of(&self, name: &str) -> Option<u64> {
        let (_, revision) = self.current().get(name)?.split_once('@')?;
        revision.parse().ok()
    }

    fn record(&mut self, name: &str, word: Option<&str>) {
        let revision = self.revision() + 1;
        let mut list = self.current().clone();
        let event = match word {
            Some(word) => {
                let shown = format!("{name}={word}@{revision}");
                let sign = if list.insert(name.to_owned(), shown.clone()).is_some() {
                    '~'
                } else {
                    '+'
                };
                format!("{sign}{shown}")
            }
            None => {
                let last = list.remove(name).unwrap();
                format!("-{}@{revision}", last.split_once('@').unwrap().0)
            }
        };
        self.events.push(event);
        self.lists.push(list);
    }

    /// The expectation for the guess now, and true if it is met.
    fn expect(&self, name: &str, guess: Guess) -> (Expect, bool) {
        let current = self.revision_of(name);
        match guess {
            Guess::Absent => (Expect::Absent, current.is_none()),
            Guess::Present => (Expect::Present, current.is_some()),
            Guess::Anything => (Expect::Any, true),
            Guess::Revision { stale } => {
                let believed = current.unwrap_or(1).saturating_sub(stale.into());
                (Expect::Revision(Revision(believed)), current == Some(believed))
            }
        }
    }
}

struct World {
    log: MemoryLog,
    options: StorageOptions,
    storage: Storage,
    things: Arc<Collection>,
    model: Model,
}

impl World {
    fn new(log: MemoryLog, options: StorageOptions) -> Self {
        let (storage, things) = Self::open(&log, &options);
        let model = Model {
            lists: vec![BTreeMap::new()],
            ..Model::default()
        };
        Self {
            log,
            options,
            storage,
            things,
            model,
        }
    }

    fn open(log: &MemoryLog, options: &StorageOptions) -> (Storage, Arc<Collection>) {
        let storage = Storage::open(log.clone(), options).unwrap();
        let things = storage.collection(THINGS, Arc::new(WordIndex));
        (storage, things)
    }

    async fn step(&mut self, number: usize, step: Step) {
        match step {
            Step::Put { name, expect } => {
                let (name, word) = (format!("n{name}"), format!("w{number}"));
                let (expect, right) = self.model.expect(&name, expect);
                let result = put(&self.things, &name, &word, expect).await;
                self.compare(&name, right, &result);
                if right {
                    self.model.record(&name, Some(&word));
                }
            }
            Step::Delete { name, expect } => {
                let name = format!("n{name}");
                let (expect, right) = self.model.expect(&name, expect);
                let right = right && self.model.current().contains_key(&name);
                let result = delete(&self.things, &name, expect).await;
                self.compare(&name, right, &result);
                if right {
                    self.model.record(&name, None);
                }
            }
            Step::Compact { back } => {
                let revision = self.model.revision().saturating_sub(back.into());
                self.storage.compact(Revision(revision));
                self.storage.compacted(Revision(revision)).await;
                self.model.floor = self.model.floor.max(revision);
            }
            Step::Restart => {
                self.storage.close().await;
                (self.storage, self.things) = Self::open(&self.log, &self.options);
                // A store may have more history after a restart than before, never less.
                assert!(self.storage.oldest().0 <= self.model.floor);
                self.model.floor = self.storage.oldest().0;
            }
        }
    }

    /// Compares an answer with the model's state before the write.
    fn compare(&self, name: &str, right: bool, result: &planesmith_store::WriteResult) {
        match result {
            Ok(written) => {
                assert!(right);
                assert_eq!(written.revision().0, self.model.revision() + 1);
                assert_eq!(
                    written.previous.as_ref().map(|entry| show(entry)).as_ref(),
                    self.model.current().get(name)
                );
            }
            Err(WriteError::Conflict { current }) => {
                assert!(!right);
                assert_eq!(
                    current.as_ref().map(|entry| show(entry)).as_ref(),
                    self.model.current().get(name)
                );
            }
            Err(other) => panic!("{other}"),
        }
    }

    /// Compares every possible list and watch.
    fn check(&self) {
        assert_eq!(self.storage.revision().0, self.model.revision());
        for revision in 0..=self.model.revision() {
            let query = ListQuery {
                at: At::Exact(Revision(revision)),
                ..ListQuery::all(THINGS)
            };
            let list = self.things.list(&query);
            let watch = self.things.watch(THINGS, WatchFrom::After(Revision(revision)));
            if revision < self.model.floor {
                assert!(list.is_err());
                assert!(matches!(watch, Err(WatchError::Compacted { oldest }) if oldest.0 == self.model.floor));
                continue;
            }
            let position = usize::try_from(revision).unwrap();
            let list: Vec<_> = list.unwrap().entries.iter().map(|entry| show(entry)).collect();
            assert_eq!(list, self.model.lists[position].values().cloned().collect::<Vec<_>>());
            let mut watch = watch.unwrap();
            let mut events = Vec::new();
            loop {
                let next = watch.try_next().unwrap();
                if next.is_empty() {
                    break;
                }
                events.extend(next);
            }
            assert_eq!(show_events(&events), self.model.events[position..]);
        }
    }
}

proptest! {
    #[test]
    fn the_engine_agrees_with_a_model(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        runtime.block_on(async {
            let mut world = World::new(MemoryLog::new(), StorageOptions::default());
            for (number, step) in steps.clone().into_iter().enumerate() {
                world.step(number, step).await;
            }
            world.check();
            // The same when most of the history is read back.
            let options = StorageOptions { history_bytes: 5000, ..StorageOptions::default() };
            let mut world = World::new(MemoryLog::new().keeping_history(), options);
            for (number, step) in steps.into_iter().enumerate() {
                world.step(number, step).await;
            }
            world.check();
        });
    }
}

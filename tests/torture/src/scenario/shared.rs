//! Two servers on one backend in memory, in which others write, too.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result};
use fastrand::Rng;
use planesmith_store::Storage;
use planesmith_store::backend::Backend;
use planesmith_store::conformance::{REGISTRY, SeveralWriters, key};

use super::{FIRST_TIME, Round, Tally, runtime};
use crate::history::{History, Promises, Recorder};
use crate::payload;
use crate::record::{Answer, Call, Precondition};
use crate::target::{self, Load, Target};
use planesmith_store::ManualClock;

pub(super) fn run(round: &Round<'_>, random: &mut Rng, tally: &mut Tally) -> Result<History> {
    let recorder = Arc::new(Recorder::new(1));
    let clock = Arc::new(ManualClock::new(FIRST_TIME));
    let backend = SeveralWriters::default();
    let load = Load {
        jumps: false,
        ..Load::random(random, round.calls)
    };
    runtime()?.block_on(async {
        for _ in 0..random.usize(1..3) {
            let one = open(Arc::new(backend.clone()), &clock, &recorder, &load).await?;
            let other = open(Arc::new(backend.clone()), &clock, &recorder, &load).await?;
            let troubles = Troubles {
                backend: backend.clone(),
                recorder: Arc::clone(&recorder),
                random: random.fork(),
                load,
            };
            let (end, ended) = tokio::sync::watch::channel(false);
            let troubles = tokio::spawn(troubles.run(ended));
            let (mut first, mut second) = (random.fork(), random.fork());
            let lives = tokio::join!(one.live(&load, &mut first), other.live(&load, &mut second));
            lives.0.and(lives.1)?;
            end.send_replace(true);
            tally.faults += troubles.await.context("the troubles panicked")?;
            one.observe().await;
            other.observe().await;
            one.storage.close().await;
            other.storage.close().await;
        }
        anyhow::Ok(())
    })?;
    Ok(History {
        promises: Promises::SHARED,
        records: recorder.take(),
    })
}

/// Opens a server's store on `backend`.
pub(super) async fn open(
    backend: Arc<dyn Backend>,
    clock: &Arc<ManualClock>,
    recorder: &Arc<Recorder>,
    load: &Load,
) -> Result<Target> {
    let options = target::options(clock, load);
    let storage = Storage::connect(backend, REGISTRY, &options).await?;
    Ok(Target::opened(storage, clock, recorder))
}

/// The others, and the faults of the backend.
struct Troubles {
    backend: SeveralWriters,
    recorder: Arc<Recorder>,
    random: Rng,
    load: Load,
}

impl Troubles {
    /// Makes trouble until the clients have `ended`. Returns the number of faults.
    async fn run(mut self, ended: tokio::sync::watch::Receiver<bool>) -> usize {
        let mut faults = 0;
        while !*ended.borrow() {
            match self.random.u8(0..12) {
                0..6 => self.write_several(),
                6 | 7 => self.backend.lose_feeds(),
                8 | 9 => self.backend.lose_next_answer(),
                10 => {
                    self.backend.hold(true);
                    self.pause().await;
                    self.backend.hold(false);
                }
                _ if self.load.compacts => self.backend.compact_all(),
                _ => {}
            }
            faults += 1;
            self.pause().await;
        }
        self.backend.hold(false);
        faults
    }

    /// Writes several keys with one revision.
    fn write_several(&mut self) {
        let mut names: Vec<usize> = (0..self.load.names).collect();
        self.random.shuffle(&mut names);
        names.truncate(self.random.usize(1..5));
        let mut ids = Vec::new();
        let mut changes = Vec::new();
        for name in names {
            let name = format!("n{name}");
            let mut word = String::new();
            ids.push(self.recorder.call(|id| {
                word = payload::name(id, 10);
                Call::Put {
                    name: name.clone(),
                    word: word.clone(),
                    expect: Precondition::Any,
                    ttl: None,
                }
            }));
            changes.push((key(&name), payload::content(&word)));
        }
        let changes: Vec<_> = changes
            .iter()
            .map(|(key, content)| (Arc::clone(key), Some(&**content)))
            .collect();
        let revision = self.backend.write_all(&changes).0;
        for id in ids {
            let previous = None;
            self.recorder.answer(id, Answer::Written { revision, previous });
        }
    }

    async fn pause(&mut self) {
        tokio::time::sleep(Duration::from_micros(self.random.u64(0..3000))).await;
    }
}

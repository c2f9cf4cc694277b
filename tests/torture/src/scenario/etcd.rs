//! Two servers on three members of etcd, which are killed, stopped and cut off.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use fastrand::Rng;
use planesmith_store_etcd::{Config, Etcd};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::shared::open;
use super::{FIRST_TIME, Round, Tally};
use crate::cluster::{Cluster, MEMBERS, Mode};
use crate::history::{History, Promises, Recorder};
use crate::machine;
use crate::record::Record;
use crate::target::{Load, Target};
use planesmith_store::ManualClock;

/// Time within which a write succeeds again while a member is missing, beside the time for which the machine is busy otherwise.
const SERVICE: Duration = Duration::from_secs(5);

pub(super) fn run(round: &Round<'_>, random: &mut Rng, tally: &mut Tally) -> Result<History> {
    let cluster = round.cluster.context("the members of etcd are needed")?;
    let recorder = Arc::new(Recorder::new(1));
    let clock = Arc::new(ManualClock::new(FIRST_TIME));
    let load = Load {
        jumps: false,
        ..Load::random(random, round.calls)
    };
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime.worker_threads(2).enable_all().build()?;
    runtime.block_on(async {
        let config = Config {
            endpoints: cluster.endpoints(),
            // A round may be repeated on the same cluster.
            prefix: format!("/torture-{}", fastrand::u64(..)),
            compaction_interval: Duration::ZERO,
            ..Config::default()
        };
        let mut targets = Vec::new();
        for _ in 0..2 {
            let etcd = Etcd::connect(&config).await.context("etcd does not answer")?;
            targets.push(open(Arc::new(etcd), &clock, &recorder, &load).await?);
        }
        let [one, other] = &targets[..] else {
            anyhow::bail!("two servers are opened");
        };
        let (end, ended) = watch::channel(false);
        let (mut first, mut second) = (random.fork(), random.fork());
        let lives = async {
            // Until the trouble is over, so that each one meets clients.
            while !*ended.borrow() {
                let lives = tokio::join!(one.live(&load, &mut first), other.live(&load, &mut second));
                lives.0.and(lives.1)?;
            }
            anyhow::Ok(())
        };
        let troubles = async {
            let mut troubles = Troubles {
                cluster,
                random: random.fork(),
                slowest: Duration::ZERO,
            };
            let caused = troubles.run(&targets).await;
            end.send_replace(true);
            caused.map(|caused| (caused, troubles.slowest))
        };
        let (lives, troubles) = tokio::join!(lives, troubles);
        lives?;
        let (caused, slowest) = troubles?;
        tally.faults += caused;
        tally.slowest = tally.slowest.max(slowest);
        for target in &targets {
            target.observe().await;
            target.storage.close().await;
        }
        anyhow::Ok(())
    })?;
    Ok(History {
        promises: Promises::SHARED,
        records: recorder.take(),
    })
}

/// The pause between two writes that find out if there is service.
const PROBE: Duration = Duration::from_millis(200);

/// The trouble of one member at a time.
struct Troubles<'a> {
    cluster: &'a Cluster,
    random: Rng,
    /// The longest time without a successful write.
    slowest: Duration,
}

impl Troubles<'_> {
    /// Causes some trouble, and waits each time until all `targets` serve again. Returns the number of faults.
    async fn run(&mut self, targets: &[Target]) -> Result<usize> {
        let count = self.random.usize(1..4);
        for _ in 0..count {
            let member = self.random.usize(0..MEMBERS);
            let kind = self.random.u8(0..5);
            let pause = Duration::from_millis([20, 200, 1500][self.random.usize(0..3)]);
            self.set(member, kind, true)?;
            let served = self.served(targets, (member, kind)).await;
            tokio::time::sleep(pause).await;
            self.set(member, kind, false)?;
            served?;
            self.served(targets, (member, kind)).await?;
            self.cluster.check()?;
            self.cluster.rejoined(member).await?;
        }
        Ok(count)
    }

    fn set(&self, member: usize, kind: u8, on: bool) -> Result<()> {
        let mode = |bad| if on { bad } else { Mode::Open };
        match (kind, on) {
            (0, true) => self.cluster.kill(member)?,
            (0, false) => self.cluster.run(member)?,
            (1, _) => self.cluster.stop(member, on)?,
            (2, _) => self.cluster.link_clients(member, mode(Mode::Cut)),
            (3, _) => self.cluster.link_clients(member, mode(Mode::Paused)),
            _ => {
                self.cluster.link_clients(member, mode(Mode::Cut));
                self.cluster.link_peers(member, mode(Mode::Cut));
            }
        }
        Ok(())
    }

    /// Writes on each of `targets` until that succeeds.
    async fn served(&mut self, targets: &[Target], trouble: (usize, u8)) -> Result<()> {
        let begin = Instant::now();
        let mut serving = JoinSet::new();
        for target in targets {
            let (target, mut random) = (target.clone(), self.random.fork());
            serving.spawn(async move {
                let served = machine::within(SERVICE, serves(&target, &mut random)).await;
                if served.is_none() {
                    let taken = begin.elapsed();
                    let reason = format!("no write succeeded for {taken:?} after trouble {trouble:?}");
                    target.recorder.note(Record::Stuck { reason });
                }
            });
        }
        while let Some(served) = serving.join_next().await {
            served.context("a probe panicked")?;
        }
        self.slowest = self.slowest.max(begin.elapsed());
        Ok(())
    }
}

/// Returns once a write on `target` succeeds. Writes begin one after the other, and do not wait for those that get no answer.
async fn serves(target: &Target, random: &mut Rng) {
    let mut probes = JoinSet::new();
    loop {
        let (target, mut random) = (target.clone(), random.fork());
        probes.spawn(async move { target.probe(&mut random).await });
        let answered = async {
            while let Some(answer) = probes.join_next().await {
                if answer.is_ok_and(|is_written| is_written) {
                    return;
                }
            }
            std::future::pending::<()>().await;
        };
        if tokio::time::timeout(PROBE, answered).await.is_ok() {
            probes.detach_all();
            return;
        }
    }
}

//! The life of an open store: clients and watchers, until it is closed or dies.

use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use fastrand::Rng;
use planesmith_store::conformance::THINGS;
use planesmith_store::{Clock as _, ListQuery, WatchFrom};

use crate::client::Client;
use crate::payload;
use crate::record::{Answer, Call, Record};
use crate::target::{Load, Target};
use crate::watch_client::{self, WatchClient};

/// Time after which a store counts as stuck.
const TIMEOUT: Duration = Duration::from_secs(60);

impl Target {
    /// Runs clients and watches until the clients are done and the watches have delivered everything.
    ///
    /// # Errors
    ///
    /// A client panicked, or the store is stuck.
    pub async fn live(&self, load: &Load, random: &mut Rng) -> Result<()> {
        let (end, ended) = tokio::sync::watch::channel(false);
        let clients: Vec<_> = (0..load.clients)
            .map(|_| tokio::spawn(Client::new(self.clone(), *load, random.fork()).run()))
            .collect();
        let mut watches: Vec<_> = (0..load.watches)
            .map(|_| WatchClient::new(self.clone(), random.fork()).run(ended.clone()))
            .map(tokio::spawn)
            .collect();
        // One that never begins again, so that all changes are known.
        let complete = WatchClient::new(self.clone(), random.fork());
        watches.push(tokio::spawn(complete.follow(ended)));
        self.joined(clients, "clients are not answered").await?;
        end.send_replace(true);
        self.joined(watches, "watches do not deliver everything").await
    }

    /// Writes once; true if the write was answered as performed.
    pub(crate) async fn probe(&self, random: &mut Rng) -> bool {
        let load = Load {
            names: 2,
            largest: 10,
            // Leases of etcd end by its own clock.
            jumps: false,
            ..Load::random(random, 1)
        };
        Client::new(self.clone(), load, random.fork()).probe().await
    }

    async fn joined(&self, tasks: Vec<tokio::task::JoinHandle<()>>, reason: &str) -> Result<()> {
        let all = async {
            for task in tasks {
                task.await.context("a client panicked")?;
            }
            anyhow::Ok(())
        };
        match tokio::time::timeout(TIMEOUT, all).await {
            Ok(joined) => joined,
            Err(_) => {
                let reason = reason.to_owned();
                self.recorder.note(Record::Stuck { reason });
                Ok(())
            }
        }
    }

    /// Reads everything: all keys, and all history.
    pub async fn observe(&self) {
        if self.storage.fresh(TIMEOUT).await.is_err() {
            let reason = "the newest state does not arrive".to_owned();
            self.recorder.note(Record::Stuck { reason });
            return;
        }
        let id = self.recorder.call(|_| Call::List {
            at: None,
            after: None,
            limit: None,
        });
        let answer = match self.things.list(&ListQuery::all(THINGS)) {
            Ok(page) => Answer::Page {
                revision: page.revision.0,
                entries: page.entries.iter().map(|entry| payload::state(THINGS, entry)).collect(),
                more: page.more,
                remaining: page.remaining,
            },
            Err(compacted) => Answer::Compacted {
                oldest: compacted.oldest.0,
            },
        };
        self.recorder.answer(id, answer);
        let from = WatchFrom::After(self.storage.oldest());
        if let Some((id, mut watcher)) = watch_client::start(self, from).await {
            watch_client::drain(self, id, &mut watcher);
        }
    }

    /// Waits until everything has expired that can.
    ///
    /// # Errors
    ///
    /// The store does not delete it in time.
    pub async fn expire(&self) -> Result<()> {
        let now = self.clock.unix_millis() + (1 << 40);
        self.recorder.set_clock(&self.clock, now);
        self.storage.recheck_clock();
        let expired = async {
            let expires = |query| -> Result<bool> {
                let page = self.things.list(&query)?;
                Ok(page.entries.iter().any(|entry| entry.expires().is_some()))
            };
            while expires(ListQuery::all(THINGS))? {
                let next = self.storage.revision().next();
                self.storage.wait_for(next, Duration::from_millis(100)).await;
            }
            anyhow::Ok(())
        };
        match tokio::time::timeout(TIMEOUT, expired).await {
            Ok(expired) => expired,
            Err(_) => bail!("objects do not expire"),
        }
    }
}

//! Two servers on three members of etcd, under load: members and servers are killed, stopped and cut off, one after the other.
//!
//! Clients and informers go to the other server when theirs does not answer. All that they observe is recorded, and checked as
//! the torture checks its stores: no acknowledged write is lost, no event is lost or repeated, and writes succeed again soon, within
//! five seconds in the long form.

mod client;
mod informer;
mod servers;
mod troubles;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use fastrand::Rng;
use http::Method;
use planesmith_e2e::Binary;
use planesmith_torture::check::check;
use planesmith_torture::cluster::Cluster;
use planesmith_torture::history::{History, Promises, Recorder};
use planesmith_torture::record::{Answer, Call, Kind, Precondition, Record};
use planesmith_torture::scenario::Failure;
use tokio::sync::watch;
use tokio::task::JoinSet;

use self::client::Client;
use self::informer::Informer;
use self::servers::Servers;
use self::troubles::Troubles;

/// The namespace of all objects.
const NAMESPACE: &str = "torture";

const CLIENTS: usize = 6;
const INFORMERS: usize = 3;

/// Names in each episode.
const NAMES: usize = 8;

/// Episodes of the short form; `PLANESMITH_CLUSTER_MINUTES=60` runs for an hour.
const EPISODES: usize = 2;

/// Time within which writes succeed again, and the same in the short form, which shares its processors with other tests.
const SERVICE: Duration = Duration::from_secs(5);
const SHORT_SERVICE: Duration = Duration::from_secs(20);

/// The time limit for informers to receive the last event.
const DELIVERED_WITHIN: Duration = Duration::from_secs(20);

/// Counts of a run.
#[derive(Debug, Default)]
struct Tally {
    episodes: usize,
    calls: usize,
    events: usize,
    troubles: usize,
    /// Watches that had to begin anew with a list.
    expired: usize,
    slowest: Duration,
}

/// The collection path of all objects.
fn collection() -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/configmaps")
}

#[test]
fn members_and_servers_fail_without_a_lost_write_or_event() {
    let minutes: f64 = std::env::var("PLANESMITH_CLUSTER_MINUTES").map_or(0.0, |text| text.parse().unwrap());
    let seed =
        std::env::var("PLANESMITH_CLUSTER_SEED").map_or_else(|_| fastrand::u64(..), |text| text.parse().unwrap());
    println!("PLANESMITH_CLUSTER_SEED={seed} repeats the choices of this run");
    let mut random = Rng::with_seed(seed);
    let binary = Binary::Planesmith.path().unwrap();
    let cluster = Cluster::start().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let ran = runtime.block_on(async {
        let mut servers = Servers::start(&binary, &cluster).await?;
        make_namespace(&servers).await?;
        let service = if minutes > 0.0 { SERVICE } else { SHORT_SERVICE };
        let mut tally = Tally::default();
        let begin = Instant::now();
        while tally.episodes < EPISODES || begin.elapsed().as_secs_f64() < minutes * 60.0 {
            episode(&mut servers, &mut random, service, &mut tally).await?;
            println!("{} s: {tally:?}", begin.elapsed().as_secs());
        }
        servers.check_logs()
    });
    ran.unwrap();
}

async fn make_namespace(servers: &Servers<'_>) -> Result<()> {
    let body =
        serde_json::json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}).to_string();
    let connection = servers.connect(0).await?;
    connection
        .call(Method::POST, "/api/v1/namespaces", body)
        .await?
        .expect(201)?;
    Ok(())
}

/// Some troubles, with clients and informers of their own, whose observations are checked.
async fn episode(servers: &mut Servers<'_>, random: &mut Rng, service: Duration, tally: &mut Tally) -> Result<()> {
    let recorder = Arc::new(Recorder::new(1));
    recorder.note(Record::Opened { revision: 0, oldest: 0 });
    let prefix = format!("e{}-", tally.episodes);
    let endpoints = servers.endpoints();
    let client = |random: &mut Rng, server| Client::new(endpoints.clone(), server, &recorder, &prefix, random.fork());
    let (stop, stopped) = watch::channel(None);
    let (end, ended) = watch::channel(None);
    let mut clients: JoinSet<()> = (0..CLIENTS)
        .map(|number| client(random, number % 2).run(NAMES, stopped.clone()))
        .collect();
    let mut informers: JoinSet<usize> = (0..INFORMERS)
        .map(|number| Informer::new(client(random, number % 2)).run(ended.clone()))
        .collect();
    let probes = [client(random, 0), client(random, 1)];
    let mut last = client(random, 0);
    let mut troubles = Troubles::new(servers, probes, &recorder, tally.episodes, random.fork(), service);
    troubles.run().await?;
    tally.troubles += troubles.count;
    tally.slowest = tally.slowest.max(troubles.slowest);

    // Before the last write, so that informers receive everything that they have written.
    stop.send_replace(Some(0));
    while let Some(joined) = clients.join_next().await {
        joined?;
    }
    let revision = last
        .write_last()
        .await
        .context("both servers serve after the troubles")?;
    end.send_replace(Some(revision));
    let delivered = tokio::time::timeout(DELIVERED_WITHIN, async {
        let mut expired = 0;
        while let Some(joined) = informers.join_next().await {
            expired += joined?;
        }
        anyhow::Ok(expired)
    });
    match delivered.await {
        Ok(expired) => tally.expired += expired?,
        Err(_) => recorder.note(Record::Stuck {
            reason: format!("informers do not receive revision {revision}"),
        }),
    }
    informers.shutdown().await;
    for mut reader in [client(random, 0), client(random, 1)] {
        reader.list().await;
    }
    tally.episodes += 1;
    verify(recorder.take(), tally)
}

/// Checks the observations of an episode.
fn verify(mut records: Vec<Record>, tally: &mut Tally) -> Result<()> {
    complete_deletions(&mut records);
    for record in &records {
        match record {
            Record::Call { .. } => tally.calls += 1,
            Record::Batch { events, .. } => tally.events += events.len(),
            _ => {}
        }
    }
    let history = History {
        promises: Promises::SHARED,
        records,
    };
    let findings = check(&history);
    if findings.is_empty() {
        return Ok(());
    }
    let moment = String::new();
    bail!(
        "{}",
        Failure {
            findings,
            history,
            moment
        }
    )
}

/// Adds the revisions of deletions, which answers do not have: that of the next event of the key.
fn complete_deletions(records: &mut Vec<Record>) {
    let mut deletions: BTreeMap<(String, u64), ()> = BTreeMap::new();
    let mut deleted = BTreeMap::new();
    for record in records.iter() {
        match record {
            Record::Batch { events, .. } => {
                let removed = events.iter().filter(|event| event.kind == Kind::Deleted);
                deletions.extend(removed.map(|event| ((event.state.name.clone(), event.state.revision), ())));
            }
            Record::Call {
                id,
                call:
                    Call::Delete {
                        name,
                        expect: Precondition::Revision(before),
                    },
            } => {
                deleted.insert(*id, (name.clone(), *before));
            }
            _ => {}
        }
    }
    let mut lost = Vec::new();
    for record in records.iter_mut() {
        let Record::Return {
            id,
            answer: Answer::Written { revision, .. },
        } = record
        else {
            continue;
        };
        let Some((name, before)) = deleted.get(id) else {
            continue;
        };
        let after = deletions
            .range((name.clone(), *before)..(name.clone(), u64::MAX))
            .next();
        match after {
            Some(((_, found), ())) => *revision = *found,
            None => lost.push(Record::Stuck {
                reason: format!("the deletion of {name} at {before} was answered, but no informer received it"),
            }),
        }
    }
    records.extend(lost);
}

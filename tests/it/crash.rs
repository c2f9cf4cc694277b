//! `kill -9` during the writes of 16 clients, repeatedly on the same data folder.
//!
//! Acknowledged writes must survive, no resourceVersion may ever refer to two different writes, and a watch resumed after the
//! crash must not miss any event.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};

use fastrand::Rng;
use http::Method;
use planesmith_e2e::{Binary, Connection, Home, Server};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::objects::{CONFIG_MAPS, config_map, name, path, revision, value};

const WRITERS: usize = 16;
const KEYS_PER_WRITER: usize = 6;

/// The number of crashes; `PLANESMITH_CRASH_ROUNDS=100` is the full run.
const ROUNDS: usize = 4;

/// The history of the store: the write of each resourceVersion.
#[derive(Debug, Default)]
struct History(HashMap<u64, String>);

impl History {
    /// Records that `revision` is the write `what`; fails if it was another one before.
    fn record(&mut self, revision: u64, what: &str) {
        let first = self.0.entry(revision).or_insert_with(|| what.to_owned());
        assert_eq!(*first, what, "resourceVersion {revision} was given out twice");
    }
}

/// The known state of an object: its value after the last acknowledged write and, if a write was in progress at the crash, its
/// value if that write succeeded. `None` means absent.
#[derive(Clone, Debug, Default)]
struct ObjectState {
    acknowledged: Option<String>,
    attempted: Option<Option<String>>,
}

/// A writer and the state of its own objects, which no other writer modifies.
#[derive(Debug)]
struct Writer {
    rng: Rng,
    objects: BTreeMap<String, ObjectState>,
    written: usize,
}

impl Writer {
    fn new(number: usize, rng: Rng) -> Self {
        let names = (0..KEYS_PER_WRITER).map(|key| (format!("writer-{number}-{key}"), ObjectState::default()));
        Self {
            rng,
            objects: names.collect(),
            written: 0,
        }
    }

    /// Writes until the server is killed. Every acknowledged write is added to `history` and `count`.
    async fn run(mut self, connection: Connection, history: Arc<Mutex<History>>, count: watch::Sender<usize>) -> Self {
        loop {
            let names: Vec<_> = self.objects.keys().cloned().collect();
            let name = names[self.rng.usize(..names.len())].clone();
            let there = self.objects[&name].acknowledged.is_some();
            let (method, path, after) = match (there, self.rng.u8(..10)) {
                (false, _) => (Method::POST, CONFIG_MAPS.to_owned(), Some(())),
                (true, 0) => (Method::DELETE, path(&name), None),
                (true, _) => (Method::PUT, path(&name), Some(())),
            };
            self.written += 1;
            let padding = "x".repeat(self.rng.usize(..3000));
            let after = after.map(|()| format!("{} {name} {padding}", self.written));
            let body = after
                .as_deref()
                .map(|after| config_map(&name, after))
                .unwrap_or_default();
            self.state(&name).attempted = Some(after.clone());
            let Ok(answer) = connection.call(method.clone(), &path, body).await else {
                return self;
            };
            assert!(
                answer.status.is_success(),
                "{method} {path}: {} {}",
                answer.status,
                answer.excerpt()
            );
            if after.is_some() {
                let revision = revision(&answer.json().unwrap());
                history
                    .lock()
                    .unwrap()
                    .record(revision, &written(&name, after.as_deref()));
            }
            *self.state(&name) = ObjectState {
                acknowledged: after,
                attempted: None,
            };
            count.send_modify(|count| *count += 1);
        }
    }

    fn state(&mut self, name: &str) -> &mut ObjectState {
        self.objects
            .get_mut(name)
            .expect("a writer writes its own objects only")
    }

    /// Compares the known with the stored state, and determines the outcome of writes in progress.
    fn settle(&mut self, stored: &BTreeMap<String, String>) {
        for (name, known) in &mut self.objects {
            let found = stored.get(name).cloned();
            let attempted = known.attempted.take();
            assert!(
                found == known.acknowledged || Some(&found) == attempted.as_ref(),
                "{name}: found {found:?}\nacknowledged {:?}\nattempted {attempted:?}",
                known.acknowledged
            );
            known.acknowledged = found;
        }
    }
}

fn written(name: &str, value: Option<&str>) -> String {
    value.map_or_else(|| format!("{name} deleted"), |value| format!("{name} = {value}"))
}

/// A client that watches all the time, and must receive all events.
#[derive(Debug)]
struct Follower {
    since: u64,
    objects: BTreeMap<String, String>,
}

impl Follower {
    /// Resumes the watch and follows it until the stream breaks or `last` arrives.
    async fn follow(&mut self, connection: &Connection, history: &Mutex<History>, last: Option<u64>) {
        let path = format!("{CONFIG_MAPS}?watch=1&resourceVersion={}", self.since);
        let mut watch = match connection.watch(&path).await {
            Ok(watch) => watch,
            Err(error) if last.is_some() => panic!("resuming from {}: {error:#}", self.since),
            Err(_) => return,
        };
        while last.is_none_or(|last| self.since < last) {
            let event = match watch.event().await {
                Ok(Some(event)) => event,
                other if last.is_some() => panic!("the resumed watch ended: {other:?}"),
                _ => return,
            };
            let (object, revision) = (&event["object"], revision(&event["object"]));
            assert!(revision > self.since, "{revision} arrives after {}", self.since);
            self.since = revision;
            let name = name(object).to_owned();
            let (known, now) = match event["type"].as_str() {
                Some("ADDED") => (false, Some(value(object).to_owned())),
                Some("MODIFIED") => (true, Some(value(object).to_owned())),
                Some("DELETED") => (true, None),
                _ => panic!("{event}"),
            };
            assert_eq!(
                self.objects.contains_key(&name),
                known,
                "a change before this was missed: {event}"
            );
            history
                .lock()
                .unwrap()
                .record(revision, &written(&name, now.as_deref()));
            match now {
                Some(now) => self.objects.insert(name, now),
                None => self.objects.remove(&name),
            };
        }
    }
}

/// Returns all config maps with their values, and the resourceVersion of the list.
async fn list(connection: &Connection) -> (BTreeMap<String, String>, u64) {
    let list = connection.get_json(CONFIG_MAPS).await.unwrap();
    let items = list["items"].as_array().unwrap();
    let objects = items.iter().filter(|item| item["data"]["value"].is_string());
    (
        objects
            .map(|item| (name(item).to_owned(), value(item).to_owned()))
            .collect(),
        revision(&list),
    )
}

/// Runs 16 writers, and kills the server after `writes` acknowledged writes.
async fn write_until_killed(
    server: Server,
    writers: Vec<Writer>,
    mut follower: Follower,
    history: &Arc<Mutex<History>>,
    writes: usize,
) -> (Vec<Writer>, Follower) {
    let (count, mut counted) = watch::channel(0);
    let mut running = JoinSet::new();
    for writer in writers {
        let connection = server.connect().await.unwrap();
        running.spawn(writer.run(connection, Arc::clone(history), count.clone()));
    }
    let watched = server.connect().await.unwrap();
    let watching = {
        let history = Arc::clone(history);
        tokio::spawn(async move {
            follower.follow(&watched, &history, None).await;
            follower
        })
    };
    drop(count);
    counted
        .wait_for(|count| *count >= writes)
        .await
        .expect("a writer failed, see above");
    server.kill().await.unwrap();
    (running.join_all().await, watching.await.unwrap())
}

#[tokio::test]
async fn acknowledged_writes_survive_kill_9() {
    let rounds = std::env::var("PLANESMITH_CRASH_ROUNDS").map_or(ROUNDS, |text| text.parse().unwrap());
    let seed = std::env::var("PLANESMITH_CRASH_SEED").map_or_else(|_| fastrand::u64(..), |text| text.parse().unwrap());
    println!("PLANESMITH_CRASH_SEED={seed} repeats the choices of this run");
    let mut rng = Rng::with_seed(seed);
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let history = Arc::new(Mutex::new(History::default()));
    let mut writers: Vec<_> = (0..WRITERS).map(|number| Writer::new(number, rng.fork())).collect();

    let mut server = home.start(&binary, &[]).await.unwrap();
    let (objects, since) = list(&server.connect().await.unwrap()).await;
    let mut follower = Follower { since, objects };
    for round in 0..rounds {
        let writes = rng.usize(1..800);
        (writers, follower) = write_until_killed(server, writers, follower, &history, writes).await;

        server = home.start(&binary, &[]).await.unwrap();
        let connection = server.connect().await.unwrap();
        let (stored, _) = list(&connection).await;
        writers.iter_mut().for_each(|writer| writer.settle(&stored));

        // A marker object shows when the resumed watch has caught up.
        let marker = format!("round-{round}");
        let made = connection
            .call(Method::POST, CONFIG_MAPS, config_map(&marker, "over"))
            .await
            .unwrap();
        let made = made.expect(201).unwrap().json().unwrap();
        history
            .lock()
            .unwrap()
            .record(revision(&made), &written(&marker, Some("over")));
        follower.follow(&connection, &history, Some(revision(&made))).await;
        assert_eq!(
            follower.objects,
            list(&connection).await.0,
            "the resumed watch missed a change"
        );
    }
    assert!(!home.log().contains("panicked"), "{}", home.log());
}

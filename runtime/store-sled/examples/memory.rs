//! Measures the memory of a store beside the bytes of its objects, which resemble those of a server, and the processor time of reads.
//!
//! `cargo run --release -p planesmith-store-sled --example memory -- fill FOLDER OBJECTS SHAPE`, then `open FOLDER SHAPE` in a process
//! of its own. SHAPE is `small` (486 bytes, no labels), `large` (1.4 KB), `pod` (3 KB), or a number of bytes, most of which are random.
//! The ratio is that of the resident memory, without that of an empty store, five seconds after the last write or after the start.

#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

#[path = "measured/process.rs"]
mod process;
#[path = "measured/writers.rs"]
mod writers;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use planesmith_store::{Collection, Draft, Entry, Expect, Indexer, ListQuery, Op, Row, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

use self::process::{Failure, processor_time, resident};

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PREFIX: &str = "/registry/configmaps/";
const NAMESPACE: &str = "bench-read";

#[derive(Clone, Copy, Debug)]
enum Shape {
    Small,
    Large,
    Pod,
    Random(usize),
}

impl Shape {
    fn of(text: &str) -> Result<Self, Failure> {
        Ok(match text {
            "small" => Self::Small,
            "large" => Self::Large,
            "pod" => Self::Pod,
            bytes => Self::Random(bytes.parse()?),
        })
    }

    fn labels(self, number: usize) -> Vec<(&'static str, &'static str)> {
        match self {
            Self::Small | Self::Random(_) => Vec::new(),
            Self::Pod => vec![("app", "bench"), ("role", "worker")],
            Self::Large if number % 16 == 15 => vec![("app", "bench"), ("tier", "gold")],
            Self::Large => vec![("app", "bench"), ("tier", "silver")],
        }
    }

    /// The object as a server stores it.
    fn draft(self, number: usize, turn: usize) -> Draft {
        let mut random = Random((number * 31 + turn) as u64 | 1);
        let name = name(number);
        let mut text = format!(
            r#"{{"kind":"ConfigMap","apiVersion":"v1","metadata":{{"name":"{name}","namespace":"{NAMESPACE}","uid":"{}","resourceVersion":""#,
            random.uid()
        );
        let gap = text.len();
        let second = number / 5000;
        let time = format!(
            "2026-11-30T{:02}:{:02}:{:02}Z",
            second / 3600,
            second / 60 % 60,
            second % 60
        );
        write!(text, r#"","creationTimestamp":"{time}""#).expect("texts grow");
        let labels: Vec<_> = self
            .labels(number)
            .into_iter()
            .map(|(key, value)| format!("\"{key}\":\"{value}\""))
            .collect();
        if !labels.is_empty() {
            write!(text, r#","labels":{{{}}}"#, labels.join(",")).expect("texts grow");
        }
        write!(
            text,
            r#","managedFields":[{{"manager":"bench","operation":"Update","apiVersion":"v1","time":"{time}","fieldsType":"FieldsV1","fieldsV1":{{"f:data":{{".":{{}},"f:line":{{}},"f:turn":{{}}}}}}}}]}},"data":{{"#
        )
        .expect("texts grow");
        let letters = "abcdefghijklmnopqrstuvwxyz";
        match self {
            Self::Small => write!(text, r#""line":"one line of {name}: {letters}""#),
            Self::Large => (0..9).try_for_each(|line| {
                let comma = if line == 0 { "" } else { "," };
                write!(text, r#"{comma}"line-{line:02}":"line {line} of {name}: {letters}{letters}""#)
            }),
            Self::Pod => (0..12).try_for_each(|part| {
                let comma = if part == 0 { "" } else { "," };
                write!(
                    text,
                    r#"{comma}"part-{part:02}":{{"image":"registry.example.com/bench/worker:1.4.2","args":["--listen","0.0.0.0:80{part:02}"],"resources":{{"limits":{{"memory":"64Mi"}}}},"node":"node-{:03}"}}"#,
                    random.next() % 1000
                )
            }),
            Self::Random(bytes) => {
                text.push_str("\"line\":\"");
                while text.len() + 20 < bytes {
                    text.push(char::from(b'a' + (random.next() % 26) as u8));
                }
                write!(text, "\"")
            }
        }
        .expect("texts grow");
        write!(text, r#","turn":"{turn}"}}}}"#).expect("texts grow");
        Draft::new(text.into_bytes(), gap)
    }
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn uid(&mut self) -> String {
        let (one, two) = (self.next(), self.next());
        format!(
            "{:08x}-{:04x}-4{:03x}-a{:03x}-{:012x}",
            one & 0xffff_ffff,
            one >> 32 & 0xffff,
            two & 0xfff,
            two >> 12 & 0xfff,
            self.next() & 0xffff_ffff_ffff
        )
    }
}

/// Makes the rows that a server has for a ConfigMap.
struct Names(Shape);

impl Indexer for Names {
    fn row(&self, key: &str, _bytes: &[u8]) -> Row {
        row(self.0, key)
    }
}

fn row(shape: Shape, key: &str) -> Row {
    let name = key.rsplit('/').next().unwrap_or_default();
    let number = name.rsplit('-').next().and_then(|number| number.parse().ok());
    Row::new(shape.labels(number.unwrap_or_default()), [name, NAMESPACE])
}

fn name(number: usize) -> String {
    format!("settings-{number:05}")
}

fn key(number: usize) -> String {
    format!("{PREFIX}{NAMESPACE}/{}", name(number))
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["fill", folder, objects, shape] => fill(folder, objects.parse()?, Shape::of(shape)?).await,
        ["open", folder, shape] => open(folder, Shape::of(shape)?).await,
        _ => Err("fill FOLDER OBJECTS SHAPE, or open FOLDER SHAPE".into()),
    }
}

async fn fill(folder: &str, objects: usize, shape: Shape) -> Result<(), Failure> {
    let storage = Storage::open(SledLog::open(folder)?, &StorageOptions::default())?;
    let things = storage.collection(PREFIX, Arc::new(Names(shape)));
    let empty = resident()?;
    let busy = processor_time()?;
    write_all(&things, objects, move |number| (number, 0, shape)).await?;
    println!(
        "create: {:?} of processor time each",
        (processor_time()? - busy) / u32::try_from(objects)?
    );
    report("all writes are history", &things, empty).await?;
    reads(&things, objects)?;
    let (busy, updates) = (processor_time()?, objects / 5);
    write_all(&things, updates, move |number| {
        (scattered(number) % objects, number, shape)
    })
    .await?;
    println!(
        "update: {:?} of processor time each",
        (processor_time()? - busy) / u32::try_from(updates)?
    );
    report("after updates of a fifth", &things, empty).await?;
    storage.close().await;
    Ok(())
}

async fn open(folder: &str, shape: Shape) -> Result<(), Failure> {
    let temporary = tempfile::tempdir()?;
    let storage = Storage::open(SledLog::open(temporary.path())?, &StorageOptions::default())?;
    let empty = resident()?;
    storage.close().await;
    let (started, busy) = (Instant::now(), processor_time()?);
    let storage = Storage::open(SledLog::open(folder)?, &StorageOptions::default())?;
    let things = storage.collection(PREFIX, Arc::new(Names(shape)));
    println!(
        "open: {:?}, {:?} of processor time",
        started.elapsed(),
        processor_time()? - busy
    );
    report("after a start", &things, empty).await?;
    reads(&things, things.stats().entries)?;
    storage.close().await;
    Ok(())
}

async fn write_all(
    things: &Arc<Collection>,
    writes: usize,
    of: impl Fn(usize) -> (usize, usize, Shape) + Send + Copy + 'static,
) -> Result<(), Failure> {
    let things = Arc::clone(things);
    let put = move |number| {
        let (things, (number, turn, shape)) = (Arc::clone(&things), of(number));
        async move {
            let key = key(number);
            let (row, draft) = (row(shape, &key), shape.draft(number, turn));
            let op = Op::Put {
                key: key.into(),
                draft,
                row,
                expect: Expect::Any,
                ttl: None,
            };
            things.write(op).await
        }
    };
    writers::write_all(writes, put)
        .await?
        .into_iter()
        .try_for_each(|written| Ok(written.map(drop)?))
}

/// Processor time of reads that copy the bytes, as those of clients do.
fn reads(things: &Arc<Collection>, objects: usize) -> Result<(), Failure> {
    for _ in 0..3 {
        let busy = processor_time()?;
        let (mut found, gets) = (0, 500_000);
        for number in 0..gets {
            let entry = things.get(&key(scattered(number) % objects));
            found += entry.map_or(0, |entry| {
                entry
                    .to_bytes()
                    .iter()
                    .step_by(64)
                    .filter(|byte| **byte == b'"')
                    .count()
            });
        }
        let get = (processor_time()? - busy) / u32::try_from(gets)?;
        let (busy, pages) = (processor_time()?, 1000);
        let mut out = Vec::with_capacity(1 << 20);
        for number in 0..pages {
            let start = key(scattered(number) % objects);
            let query = ListQuery {
                start: Some(&start),
                limit: Some(500),
                ..ListQuery::all(PREFIX)
            };
            for entries in things.list(&query)?.entries.chunks(8) {
                Entry::prefetch(entries);
                entries.iter().for_each(|entry| entry.push_bytes(0, &mut out));
            }
            found += out.len();
            out.clear();
        }
        let page = (processor_time()? - busy) / u32::try_from(pages)?;
        println!("get: {get:?}, page of 500: {page:?} ({found})");
    }
    Ok(())
}

fn scattered(number: usize) -> usize {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

async fn report(what: &str, things: &Arc<Collection>, empty: u64) -> Result<(), Failure> {
    tokio::time::sleep(Duration::from_secs(5)).await;
    let stats = things.stats();
    let own = resident()?.saturating_sub(empty);
    println!(
        "{what}: {} entries of {} bytes, {} changes in the history, {own} bytes resident: {:.3}",
        stats.entries,
        stats.bytes / stats.entries.max(1),
        stats.events,
        own as f64 / stats.bytes.max(1) as f64
    );
    Ok(())
}

//! Measures a large state: its start, its memory, its reads, and the bytes that updates write.
//!
//! `cargo run --release -p planesmith-store-sled --example state -- fill FOLDER OBJECTS BYTES`, then with the same folder
//! `open FOLDER`, `update FOLDER WRITES uniform|hot|grow`, `history FOLDER WRITES` or `read OBJECTS BYTES` (without a folder).

#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

#[path = "measured/process.rs"]
mod process;
#[path = "measured/writers.rs"]
mod writers;

use std::sync::Arc;
use std::time::{Duration, Instant};

use planesmith_store::{
    At, Collection, Draft, Expect, Indexer, ListQuery, MemoryLog, Op, Revision, Row, Storage, StorageOptions, WatchFrom,
};
use planesmith_store_sled::SledLog;

use self::process::{Failure, processor_time, resident, value};

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PREFIX: &str = "/registry/configmaps/";

/// Makes the rows that a server has for a ConfigMap with a label.
struct Names;

impl Indexer for Names {
    fn row(&self, key: &str, _bytes: &[u8]) -> Row {
        row(key)
    }
}

fn row(key: &str) -> Row {
    let name = key.rsplit('/').next().unwrap_or_default();
    Row::new([("app", "shop")], ["default", name])
}

fn key(number: usize) -> String {
    format!("{PREFIX}default/object-{number:07}")
}

fn draft(number: usize, round: usize, size: usize) -> Draft {
    let mut bytes = br#"{"kind":"ConfigMap","metadata":{"resourceVersion":""},"data":{"a":""#.to_vec();
    let mut state = (number * 31 + round) as u64 | 1;
    while bytes.len() < size - 10 {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.push(b'a' + (state % 26) as u8);
    }
    bytes.extend_from_slice(br#""}}"#);
    Draft::new(bytes, 50)
}

async fn put(things: &Arc<Collection>, number: usize, round: usize, size: usize) -> Result<Duration, Failure> {
    let key = key(number);
    let (row, draft) = (row(&key), draft(number, round, size));
    let started = Instant::now();
    let op = Op::Put {
        key: key.into(),
        draft,
        row,
        expect: Expect::Any,
        ttl: None,
    };
    things.write(op).await?;
    Ok(started.elapsed())
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["fill", folder, objects, bytes] => fill(folder, objects.parse()?, bytes.parse()?).await,
        ["open", folder] => open(folder).await,
        ["update", folder, writes, pattern] => update(folder, writes.parse()?, pattern).await,
        ["history", folder, writes] => history(folder, writes.parse()?).await,
        ["read", objects, bytes] => read(objects.parse()?, bytes.parse()?).await,
        _ => Err("fill, open, update, history or read, and their arguments".into()),
    }
}

fn start(folder: &str) -> Result<(Storage, Arc<Collection>), Failure> {
    let storage = Storage::open(SledLog::open(folder)?, &StorageOptions::default())?;
    let things = storage.collection(PREFIX, Arc::new(Names));
    Ok((storage, things))
}

/// Writes `objects` with several writers, and settles them.
async fn fill(folder: &str, objects: usize, size: usize) -> Result<(), Failure> {
    let (storage, things) = start(folder)?;
    write(&things, objects, move |number| (number, 0, size)).await?;
    report("filled", &things)?;
    storage.compact(storage.revision());
    storage.compacted(storage.revision()).await;
    println!("settled: {} bytes on disk", storage.stats().disk_bytes);
    report("settled", &things)?;
    storage.close().await;
    Ok(())
}

async fn write(
    things: &Arc<Collection>,
    writes: usize,
    of: impl Fn(usize) -> (usize, usize, usize) + Send + Copy + 'static,
) -> Result<Vec<(Instant, Duration)>, Failure> {
    let things = Arc::clone(things);
    let put = move |number| {
        let (things, (number, round, size)) = (Arc::clone(&things), of(number));
        async move {
            let latency = put(&things, number, round, size).await?;
            Ok::<_, Failure>((Instant::now(), latency))
        }
    };
    writers::write_all(writes, put).await?.into_iter().collect()
}

async fn open(folder: &str) -> Result<(), Failure> {
    let (started, busy) = (Instant::now(), processor_time()?);
    let storage = Storage::open(SledLog::open(folder)?, &StorageOptions::default())?;
    println!(
        "loaded: {:?}, {:?} of processor time, {}",
        started.elapsed(),
        processor_time()? - busy,
        memory("VmRSS")?
    );
    let things = storage.collection(PREFIX, Arc::new(Names));
    println!(
        "open: {:?}, {:?} of processor time",
        started.elapsed(),
        processor_time()? - busy
    );
    report("open", &things)?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    report("after 2 s", &things)?;
    println!("{}", memory("VmHWM")?);
    storage.close().await;
    Ok(())
}

async fn update(folder: &str, writes: usize, pattern: &str) -> Result<(), Failure> {
    let (storage, things) = start(folder)?;
    let stats = things.stats();
    let (count, size) = (stats.entries, stats.bytes / stats.entries);
    let hot = match pattern {
        "uniform" => count,
        "hot" => count / 100,
        "grow" => 0,
        _ => return Err("uniform, hot or grow".into()),
    };
    let pick = move |number: usize| match hot {
        0 => (count + number, 1, size),
        hot => ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % hot, number, size),
    };
    let (started, busy, before) = (Instant::now(), processor_time()?, written()?);
    let most = Arc::new(std::sync::atomic::AtomicU64::new(0));
    let watch = {
        let (storage, most) = (storage.clone(), Arc::clone(&most));
        tokio::spawn(async move {
            loop {
                most.fetch_max(storage.stats().disk_bytes, std::sync::atomic::Ordering::Relaxed);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
    };
    let mut latencies = write(&things, writes, pick).await?;
    watch.abort();
    let changed = (writes * size) as f64;
    let after = written()?;
    println!(
        "{writes} writes of {size} bytes in {:?}: {:?} of processor time",
        started.elapsed(),
        processor_time()? - busy
    );
    println!(
        "bytes written per byte of changes: {:.2} to files, {:.2} to the disk; most on disk {:.2} of the live data",
        (after.0 - before.0) as f64 / changed,
        (after.1 - before.1) as f64 / changed,
        most.load(std::sync::atomic::Ordering::Relaxed) as f64 / things.stats().bytes as f64,
    );
    latencies.sort_unstable_by_key(|(at, _)| *at);
    for second in
        latencies.chunk_by(|(one, _), (next, _)| (*one - started).as_secs() / 2 == (*next - started).as_secs() / 2)
    {
        let mut sorted: Vec<_> = second.iter().map(|(_, latency)| *latency).collect();
        sorted.sort_unstable();
        println!(
            "  {:>7} writes, p50 {:?}, p99 {:?}",
            sorted.len(),
            sorted[sorted.len() / 2],
            sorted[sorted.len() * 99 / 100]
        );
    }
    report("updated", &things)?;
    storage.close().await;
    Ok(())
}

/// Costs of the history of `writes` uniform updates: its memory, a watch of all of it, and old pages.
async fn history(folder: &str, writes: usize) -> Result<(), Failure> {
    let (storage, things) = start(folder)?;
    report("open", &things)?;
    let stats = things.stats();
    let (count, size) = (stats.entries, stats.bytes / stats.entries);
    let pick = move |number: usize| ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % count, number, size);
    write(&things, writes, pick).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    report("written", &things)?;
    let (stats, oldest) = (things.stats(), storage.oldest());
    println!("history: {} events, {} of them spilled", stats.events, stats.spilled);
    for (what, needs_previous) in [("without", false), ("with", true)] {
        let mut watcher = things.watch(PREFIX, WatchFrom::After(oldest))?;
        if !needs_previous {
            watcher = watcher.without_previous();
        }
        let (started, busy) = (Instant::now(), processor_time()?);
        let mut seen = 0;
        while seen < stats.events / 4 {
            seen += watcher.next().await?.len();
        }
        let (took, busy) = (started.elapsed(), processor_time()? - busy);
        println!("watch of {seen} {what} their previous states: {took:?}, {busy:?} of processor time");
    }
    let (first, quarter) = (key(0), oldest.0 + (storage.revision().0 - oldest.0) / 4);
    for page in 0..3 {
        let (started, busy) = (Instant::now(), processor_time()?);
        let query = ListQuery {
            at: At::Exact(Revision(quarter)),
            start: Some(&first),
            limit: Some(500),
            ..ListQuery::all(PREFIX)
        };
        let found = things.list(&query)?.entries.len();
        let (took, busy) = (started.elapsed(), processor_time()? - busy);
        println!("page {page} of {found} at revision {quarter}: {took:?}, {busy:?} of processor time");
    }
    report("read", &things)?;
    storage.close().await;
    Ok(())
}

/// Costs of reads and updates in memory.
async fn read(objects: usize, size: usize) -> Result<(), Failure> {
    let storage = Storage::open(MemoryLog::new(), &StorageOptions::default())?;
    let things = storage.collection(PREFIX, Arc::new(Names));
    write(&things, objects, move |number| (number, 0, size)).await?;
    storage.compact(storage.revision());
    storage.compacted(storage.revision()).await;
    report("filled", &things)?;
    let picks: Vec<String> = (0..200_000)
        .map(|number: usize| key((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % objects))
        .collect();
    let mut found = 0;
    let busy = Instant::now();
    for key in &picks {
        found += things
            .get(key)
            .map_or(0, |entry| usize::from(entry.bytes()[entry.bytes().len() / 2]));
    }
    println!("get: {:?} each ({found})", busy.elapsed() / picks.len() as u32);
    let busy = Instant::now();
    for key in picks.iter().take(2000) {
        let query = ListQuery {
            start: Some(key),
            limit: Some(500),
            ..ListQuery::all(PREFIX)
        };
        let page = things.list(&query)?;
        found += page
            .entries
            .iter()
            .map(|entry| usize::from(entry.bytes()[entry.bytes().len() / 2]))
            .sum::<usize>();
    }
    println!("page of 500: {:?} each ({found})", busy.elapsed() / 2000);
    let busy = processor_time()?;
    write(&things, 100_000, move |number| {
        (
            (number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20) % objects,
            number,
            size,
        )
    })
    .await?;
    println!("update: {:?} each", (processor_time()? - busy) / 100_000);
    report("updated", &things)?;
    storage.close().await;
    Ok(())
}

fn report(what: &str, things: &Arc<Collection>) -> Result<(), Failure> {
    let stats = things.stats();
    let resident = resident()?;
    println!(
        "{what}: {} entries of {} bytes, resident {:.2} of their bytes",
        stats.entries,
        stats.bytes,
        resident as f64 / stats.bytes.max(1) as f64
    );
    Ok(())
}

/// Bytes that were written to files, and those that reach the disk because they were not removed before.
fn written() -> Result<(u64, u64), Failure> {
    let bytes = |name| value("/proc/self/io", name);
    let disk = bytes("write_bytes:")? - bytes("cancelled_write_bytes:")?;
    Ok((bytes("wchar:")?, disk))
}

fn memory(name: &str) -> Result<String, Failure> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with(name));
    Ok(line.unwrap_or_default().replace('\t', " "))
}

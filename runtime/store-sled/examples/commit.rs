//! Measures durable writes: processor time with 16 writers, latency with one.
//!
//! `cargo run --release -p planesmith-store-sled --example commit [writes] [folder]`

#![expect(clippy::print_stdout, reason = "the figures are what this program is for")]

#[path = "measured/process.rs"]
mod process;

use std::sync::Arc;
use std::time::{Duration, Instant};

use planesmith_store::{Collection, Draft, Expect, ListQuery, NoIndex, Op, Row, Storage, StorageOptions, WatchFrom};
use planesmith_store_sled::SledLog;

use self::process::{Failure, processor_time, resident};

/// The allocator of the server.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

const PREFIX: &str = "/registry/configmaps/";
const WRITERS: usize = 16;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let writes: usize = arguments.next().map_or(Ok(20_000), |count| count.parse())?;
    let temporary = tempfile::tempdir_in(".")?;
    let folder = arguments
        .next()
        .map_or_else(|| temporary.path().join("store"), Into::into);

    let started = Instant::now();
    let storage = Storage::open(SledLog::open(&folder)?, &StorageOptions::default())?;
    let collection = storage.collection(PREFIX, Arc::new(NoIndex));
    println!(
        "open with {} entries: {:?}, {}",
        collection.stats().entries,
        started.elapsed(),
        memory()?
    );

    let raw = fdatasync_alone(&folder, 500)?;
    println!("fdatasync alone: p50 {raw:?}");
    let mut latencies = write(&collection, "single", 2000.min(writes)).await?;
    latencies.sort_unstable();
    println!(
        "1 writer: p50 {:?}, p99 {:?}",
        latencies[latencies.len() / 2],
        latencies[latencies.len() * 99 / 100]
    );

    let (started, busy) = (Instant::now(), processor_time()?);
    let writers = (0..WRITERS).map(|writer| {
        let collection = Arc::clone(&collection);
        tokio::spawn(async move {
            write(&collection, &format!("w{writer}"), writes / WRITERS)
                .await
                .is_ok()
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        assert!(writer.await?, "a write was refused");
    }
    let (elapsed, busy) = (started.elapsed(), processor_time()? - busy);
    println!(
        "{WRITERS} writers: {:.0} writes/s, {:.1} us of processor time per write, {}",
        writes as f64 / elapsed.as_secs_f64(),
        busy.as_secs_f64() * 1e6 / writes as f64,
        memory()?,
    );

    let started = Instant::now();
    let page = collection.list(&ListQuery::all(PREFIX))?;
    println!("list of {}: {:?}", page.entries.len(), started.elapsed());
    let watcher = collection.watch(PREFIX, WatchFrom::Now)?;
    println!("watching after {}", watcher.progress());

    let busy = processor_time()?;
    storage.compact(storage.revision());
    while storage.oldest() < storage.revision() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let before = storage.stats().disk_bytes;
    let mut settled = before;
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let now = storage.stats().disk_bytes;
        if std::mem::replace(&mut settled, now) == now {
            break;
        }
    }
    let busy = processor_time()? - busy;
    println!(
        "compacting: {before} to {settled} bytes on disk, {busy:?} of processor time, {}",
        memory()?
    );
    let busy = processor_time()?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    println!("idle for 2 s: {:?} of processor time", processor_time()? - busy);
    storage.close().await;
    Ok(())
}

async fn write(
    collection: &Arc<Collection>,
    writer: &str,
    count: usize,
) -> Result<Vec<Duration>, planesmith_store::WriteError> {
    let mut latencies = Vec::with_capacity(count);
    for number in 0..count {
        let key = format!("{PREFIX}default/{writer}-{number:06}");
        let mut bytes = br#"{"kind":"ConfigMap","metadata":{"resourceVersion":""},"data":{"a":""#.to_vec();
        bytes.resize(1390, b'a' + (number % 26) as u8);
        bytes.extend_from_slice(br#""}}"#);
        let row = Row::new([("app", writer)], ["default"]);
        let draft = Draft::new(bytes, 50);
        let started = Instant::now();
        let op = Op::Put {
            key: key.into(),
            draft,
            row,
            expect: Expect::Any,
            ttl: None,
        };
        collection.write(op).await?;
        latencies.push(started.elapsed());
    }
    Ok(latencies)
}

/// Duration of `fdatasync` after overwriting 1.4 KB, without a store.
fn fdatasync_alone(folder: &std::path::Path, count: usize) -> std::io::Result<Duration> {
    use std::os::unix::fs::FileExt;
    let path = folder.join("probe");
    let file = std::fs::File::create(&path)?;
    file.write_all_at(&vec![1; 1400 * count], 0)?;
    file.sync_all()?;
    let mut latencies = Vec::with_capacity(count);
    for number in 0..count {
        let started = Instant::now();
        file.write_all_at(&[2; 1400], 1400 * number as u64)?;
        file.sync_data()?;
        latencies.push(started.elapsed());
    }
    latencies.sort_unstable();
    std::fs::remove_file(path)?;
    Ok(latencies[count / 2])
}

fn memory() -> Result<String, Failure> {
    Ok(format!("{} KB resident", resident()? / 1024))
}

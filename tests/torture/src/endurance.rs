//! Updates without end on a small disk, which another program then fills.

mod mounted;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use fastrand::Rng;
use planesmith_store::conformance::{THINGS, WordIndex, key};
use planesmith_store::{AlarmKind, Collection, Expect, ListQuery, Op, Storage, StorageOptions, WriteError, Written};
use planesmith_store_sled::SledLog;
use tokio::task::JoinSet;

use self::mounted::{FileSystem, MountedDisk};
use crate::payload;

/// Writers at the same time. Each has objects of its own.
const WRITERS: usize = 64;

/// The interval of lines of progress.
const INTERVAL: Duration = Duration::from_secs(10);

/// Refused writes after which a disk counts as full.
const REFUSED: usize = 20;

/// Time within which writes succeed again once there is space.
const HEALED_WITHIN: Duration = Duration::from_secs(5);

/// Updates objects on a disk of a few times their size, without a refused write; then fills the disk as another program does,
/// and frees it again.
///
/// Needs the rights to mount a file system.
#[derive(Clone, Debug, clap::Args)]
pub struct Endurance {
    /// The number of objects.
    #[arg(long, default_value_t = 20_000)]
    objects: usize,
    /// Bytes of an object on average; each has between a half and one and a half times as many.
    #[arg(long, default_value_t = 1400)]
    bytes: usize,
    /// The number of updates.
    #[arg(long, default_value_t = 5_000_000)]
    updates: usize,
    /// The size of the disk, as a multiple of the bytes of the objects and their keys.
    #[arg(long, default_value_t = 4.0)]
    times: f64,
    /// The file system of the disk.
    #[arg(long, value_enum, default_value_t = FileSystem::Ext4)]
    disk: FileSystem,
    /// The seed of the lengths of the objects.
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Counts of all writers.
#[derive(Debug, Default)]
struct Counts {
    /// Calls so far; each object's content follows from its number.
    calls: AtomicU64,
    updates: AtomicUsize,
    /// The slowest write, in microseconds.
    slowest: AtomicU64,
}

/// A writer, and the words of its objects.
#[derive(Debug)]
struct Writer {
    things: Arc<Collection>,
    counts: Arc<Counts>,
    random: Rng,
    bytes: usize,
    first: usize,
    words: Vec<String>,
}

impl Endurance {
    /// Runs, and reports lines of progress and figures.
    ///
    /// # Errors
    ///
    /// A promise was broken, or a file system cannot be mounted.
    pub fn run(&self, report: &mut (dyn FnMut(&str) + Send)) -> Result<()> {
        let live = self.objects * (self.bytes + key_length());
        let disk = MountedDisk::mount(self.disk, (live as f64 * self.times) as u64)?;
        report(&format!(
            "{} objects, {live} bytes with their keys; a disk of {} bytes, {:.2} times as many ({:?})",
            self.objects,
            disk.size()?,
            disk.size()? as f64 / live as f64,
            self.disk,
        ));
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(self.endure(&disk, report))
    }

    async fn endure(&self, disk: &MountedDisk, report: &mut (dyn FnMut(&str) + Send)) -> Result<()> {
        let (storage, things) = open(disk)?;
        let counts = Arc::new(Counts::default());
        let writers = self.writers(&things, &counts).into_iter();
        let writers = joined(writers.map(Writer::create_all)).await?;
        let share = self.updates.div_ceil(writers.len());
        let begin = Instant::now();
        let updating = joined(writers.into_iter().map(|writer| writer.update(share)));
        let mut updating = std::pin::pin!(updating);
        let mut writers = loop {
            tokio::select! {
                writers = &mut updating => break writers?,
                () = tokio::time::sleep(INTERVAL) => report(&self.progress(&counts, disk, begin)?),
            }
        };
        let alarms = storage.alarms();
        ensure!(alarms.is_empty(), "updates without end raise alarms: {alarms:?}");
        report(&self.progress(&counts, disk, begin)?);
        report("no write was refused");
        drop(things);
        storage.close().await;
        drop(storage);

        let begin = Instant::now();
        let (storage, things) = open(disk)?;
        report(&format!("opened again after {:.2} s", begin.elapsed().as_secs_f64()));
        for writer in &mut writers {
            writer.things = Arc::clone(&things);
            writer.compare()?;
        }
        report("all objects have the bytes of their last acknowledged write");
        fill_and_free(disk, &storage, &things, &writers, report).await?;
        storage.close().await;
        drop((storage, things));
        let (storage, things) = open(disk)?;
        for writer in &mut writers {
            writer.things = Arc::clone(&things);
            writer.compare()?;
        }
        storage.close().await;
        Ok(())
    }

    fn writers(&self, things: &Arc<Collection>, counts: &Arc<Counts>) -> Vec<Writer> {
        let mut random = Rng::with_seed(self.seed);
        let share = self.objects.div_ceil(WRITERS);
        let writers = (0..self.objects).step_by(share.max(1)).map(|first| Writer {
            things: Arc::clone(things),
            counts: Arc::clone(counts),
            random: random.fork(),
            bytes: self.bytes,
            first,
            words: vec![String::new(); share.min(self.objects - first)],
        });
        writers.collect()
    }

    fn progress(&self, counts: &Counts, disk: &MountedDisk, begin: Instant) -> Result<String> {
        let updates = counts.updates.load(Ordering::Relaxed);
        Ok(format!(
            "{} s: {updates} of {} updates, {:.0} a second; {} of {} bytes of the disk are free; the slowest write took {:.2} s",
            begin.elapsed().as_secs(),
            self.updates,
            updates as f64 / begin.elapsed().as_secs_f64(),
            disk.free()?,
            disk.size()?,
            counts.slowest.load(Ordering::Relaxed) as f64 / 1e6,
        ))
    }
}

/// Bytes of each key.
fn key_length() -> usize {
    key(&name(0)).len()
}

fn name(number: usize) -> String {
    format!("object-{number:07}")
}

fn open(disk: &MountedDisk) -> Result<(Storage, Arc<Collection>)> {
    let log = SledLog::open(disk.folder().join("store"))?;
    let storage = Storage::open(log, &StorageOptions::default())?;
    let things = storage.collection(THINGS, Arc::new(WordIndex));
    Ok((storage, things))
}

/// Runs the work of all writers at the same time, and returns them.
async fn joined(
    work: impl Iterator<Item = impl Future<Output = Result<Writer>> + Send + 'static>,
) -> Result<Vec<Writer>> {
    let mut tasks: JoinSet<Result<Writer>> = work.collect();
    let mut writers = Vec::new();
    while let Some(writer) = tasks.join_next().await {
        writers.push(writer.context("a writer panicked")??);
    }
    Ok(writers)
}

impl Writer {
    async fn create_all(mut self) -> Result<Self> {
        for index in 0..self.words.len() {
            self.put(index, Expect::Absent).await?;
        }
        Ok(self)
    }

    /// Updates its objects in a random order.
    async fn update(mut self, updates: usize) -> Result<Self> {
        for _ in 0..updates {
            let index = self.random.usize(0..self.words.len());
            self.put(index, Expect::Present).await?;
            self.counts.updates.fetch_add(1, Ordering::Relaxed);
        }
        Ok(self)
    }

    async fn put(&mut self, index: usize, expect: Expect) -> Result<()> {
        let id = self.counts.calls.fetch_add(1, Ordering::Relaxed);
        let word = payload::name(id, self.random.usize(self.bytes / 2..=self.bytes * 3 / 2));
        let name = name(self.first + index);
        let begin = Instant::now();
        let written = put(&self.things, &name, &word, expect).await;
        let taken = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
        self.counts.slowest.fetch_max(taken, Ordering::Relaxed);
        written.with_context(|| format!("call {id} on {name} is refused"))?;
        self.words[index] = word;
        Ok(())
    }

    /// Checks that each object is that of its last acknowledged write.
    fn compare(&self) -> Result<()> {
        for (index, word) in self.words.iter().enumerate() {
            check_is(&self.things, &name(self.first + index), word)?;
        }
        Ok(())
    }
}

async fn put(things: &Arc<Collection>, name: &str, word: &str, expect: Expect) -> Result<Written, WriteError> {
    let (key, draft) = (key(name), payload::draft(word));
    let row = things.indexer().row(&key, draft.bytes());
    let op = Op::Put {
        key,
        draft,
        row,
        expect,
        ttl: None,
    };
    things.write(op).await
}

fn check_is(things: &Collection, name: &str, word: &str) -> Result<()> {
    let found = things.get(&key(name)).map(|entry| payload::state(THINGS, &entry).word);
    ensure!(
        found.as_deref() == Some(word),
        "{name} is {found:?}, but {word} was acknowledged"
    );
    Ok(())
}

/// Fills the disk as another program does: writes are refused with a reason, reads go on, objects can be deleted, and writes
/// succeed again soon after the space is free.
async fn fill_and_free(
    disk: &MountedDisk,
    storage: &Storage,
    things: &Arc<Collection>,
    writers: &[Writer],
    report: &mut (dyn FnMut(&str) + Send),
) -> Result<()> {
    let count = things.list(&ListQuery::all(THINGS))?.entries.len();
    disk.fill()?;
    let (mut added, mut refused) = (Vec::new(), 0);
    for number in 0.. {
        let (name, word) = (format!("added-{number:07}"), payload::name(u64::MAX - number, 2000));
        match put(things, &name, &word, Expect::Absent).await {
            Ok(_) => added.push((name, word)),
            Err(WriteError::Full) => refused += 1,
            Err(other) => bail!("a write on a full disk fails otherwise: {other}"),
        }
        if refused == REFUSED {
            break;
        }
        ensure!(added.len() < 1_000_000, "a full disk takes writes without end");
    }
    let alarms = storage.alarms();
    let reason = alarms.iter().find(|alarm| alarm.kind == AlarmKind::NoSpace);
    let reason = reason.with_context(|| format!("writes are refused without a reason: {alarms:?}"))?;
    report(&format!(
        "a full disk took {} more objects, then: {}",
        added.len(),
        reason.reason
    ));
    for writer in writers {
        writer.compare()?;
    }
    for (name, word) in &added {
        check_is(things, name, word)?;
    }
    let listed = things.list(&ListQuery::all(THINGS))?.entries.len();
    ensure!(
        listed == count + added.len(),
        "{listed} objects are listed on a full disk"
    );
    report("reads go on");
    if let Some((name, _)) = added.pop() {
        let (key, expect, last) = (key(&name), Expect::Present, None);
        let deleted = things.write(Op::Delete { key, expect, last }).await;
        deleted.context("a deletion is refused on a full disk")?;
    }

    disk.free_again()?;
    let begin = Instant::now();
    let mut healed = None;
    while healed.is_none() || storage.alarms().iter().any(|alarm| alarm.kind == AlarmKind::NoSpace) {
        let (name, word) = ("after".to_owned(), payload::name(0, 2000));
        if healed.is_none() && put(things, &name, &word, Expect::Absent).await.is_ok() {
            healed = Some(begin.elapsed());
        }
        ensure!(
            begin.elapsed() < HEALED_WITHIN,
            "{HEALED_WITHIN:?} after there is space, a write succeeded after {healed:?}, and the alarms are {:?}",
            storage.alarms()
        );
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let healed = healed.unwrap_or_default().as_secs_f64();
    report(&format!(
        "with space again, a write succeeded after {healed:.3} s, and the alarm ended after {:.3} s",
        begin.elapsed().as_secs_f64()
    ));
    Ok(())
}

//! The state of every key before the journal, in sled, on a thread of its own.
//!
//! After a failed write sled may panic, or wait forever for an event that will not come. Neither
//! may reach the store, so nobody but this thread calls sled, and nobody waits for it forever.

mod database;

use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::Duration;

use planesmith_store::Revision;
use planesmith_store::log::{LogError, Record};

use self::database::Database;
pub(crate) use self::database::Meta;
use crate::folder::{damaged, failed};

/// How long sled may take for one small step before it counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

/// States that are read in one step.
const READ: usize = 512;

type Job = Box<dyn FnOnce(&mut Database) + Send>;

/// The way to the database.
#[derive(Debug)]
pub(crate) struct Settled {
    path: PathBuf,
    meta: Meta,
    /// `None` while it is not needed, as sled takes ten times the memory of its cache; and after an
    /// error, as sled then refuses everything until it is opened again.
    worker: Option<Worker>,
    /// sled never came back from a call. It keeps its files locked until the process ends.
    stuck: bool,
}

#[derive(Debug)]
struct Worker {
    jobs: Sender<Job>,
    /// Disconnected once the database is closed.
    ended: Receiver<()>,
}

impl Settled {
    /// Opens the database; there is none before something is settled.
    pub(crate) fn open(path: &Path) -> Result<Self, LogError> {
        let mut settled = Self {
            path: path.to_owned(),
            meta: Meta::default(),
            worker: None,
            stuck: false,
        };
        if path.exists() {
            settled.call(|_| Ok(()))?;
        }
        Ok(settled)
    }

    /// What the database says about itself.
    pub(crate) fn meta(&self) -> Meta {
        self.meta
    }

    /// Hands over every settled state, and checks that none is missing.
    pub(crate) fn load(&mut self, mut visit: impl FnMut(Record)) -> Result<(), LogError> {
        if !self.path.exists() {
            return Ok(());
        }
        let mut digest = 0_u64;
        let mut after: Option<Vec<u8>> = None;
        loop {
            let records = self.call(move |database| database.read(after.as_deref(), READ))?;
            after = records.last().map(|record| record.key.as_bytes().to_vec());
            if after.is_none() {
                break;
            }
            for record in records {
                digest = digest.wrapping_add(database::digest(&record));
                visit(record);
            }
        }
        if self.meta.is_complete(digest) {
            return Ok(());
        }
        Err(damaged(
            &self.path,
            "settled objects are missing or older than they should be",
        ))
    }

    /// Notes that history up to `floor` is about to go.
    pub(crate) fn begin(&mut self, floor: Revision) -> Result<(), LogError> {
        self.apply(Vec::new(), move |meta| meta.floor = meta.floor.max(floor))
    }

    /// Makes `records` the state of their keys. Durable when this returns.
    pub(crate) fn settle(&mut self, records: &[Record]) -> Result<(), LogError> {
        self.apply(records.to_vec(), |_| {})
    }

    /// Notes that everything up to `through` is settled.
    pub(crate) fn finish(&mut self, through: Revision) -> Result<(), LogError> {
        self.apply(Vec::new(), move |meta| meta.through = meta.through.max(through))
    }

    /// Bytes on disk of the database at `path`.
    pub(crate) fn size(path: &Path) -> u64 {
        std::fs::metadata(path.join("db")).map_or(0, |file| file.len())
    }

    /// Lets go of the files, and of the memory that sled uses; the next call opens them again.
    pub(crate) fn close(&mut self) {
        let Some(Worker { jobs, ended }) = self.worker.take() else {
            return;
        };
        drop(jobs);
        // Everything is on the disk already, so closing cannot lose anything.
        self.stuck = ended.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
    }

    fn apply(&mut self, records: Vec<Record>, change: impl FnOnce(&mut Meta)) -> Result<(), LogError> {
        // Known once the database is open.
        self.call(|_| Ok(()))?;
        let mut meta = self.meta;
        change(&mut meta);
        self.call(move |database| database.apply(&records, &meta))
    }

    /// Runs `work` on the worker. After an error, the database is opened again next time.
    fn call<T: Send + 'static>(
        &mut self,
        work: impl FnOnce(&mut Database) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let worker = match self.worker.take() {
            Some(worker) => worker,
            None => self.start()?,
        };
        let (reply, answer) = mpsc::channel();
        let job: Job = Box::new(move |database| {
            let result = work(database);
            // Nobody listens any more when this took too long.
            let _ = reply.send((result, database.meta()));
        });
        let sent = worker.jobs.send(job).map_err(|_| self.panicked());
        self.worker = Some(worker);
        match sent.and_then(|()| self.wait(&answer)) {
            Ok((Ok(value), meta)) => {
                self.meta = meta;
                Ok(value)
            }
            Ok((Err(error), _)) | Err(error) => {
                if self.stuck {
                    self.worker = None;
                } else {
                    self.close();
                }
                Err(error)
            }
        }
    }

    /// Opens the database on a new thread.
    fn start(&mut self) -> Result<Worker, LogError> {
        if self.stuck {
            return Err(LogError::Io {
                context: format!(
                    "sled hangs in {}; restart to give its disk space back",
                    self.path.display()
                ),
                source: std::io::ErrorKind::TimedOut.into(),
            });
        }
        let (jobs, inbox) = mpsc::channel::<Job>();
        let (end, ended) = mpsc::channel::<()>();
        let (ready, opened) = mpsc::channel();
        let path = self.path.clone();
        let body = move || {
            // Dropped last, also by a panic: then the files are free again.
            let _end = end;
            match Database::open(&path) {
                Ok(mut database) => {
                    let _ = ready.send(Ok(()));
                    inbox.into_iter().for_each(|job| job(&mut database));
                }
                Err(error) => {
                    let _ = ready.send(Err(error));
                }
            }
        };
        let thread = std::thread::Builder::new().name("store-settle".to_owned()).spawn(body);
        thread.map_err(failed("start a thread for", &self.path))?;
        self.wait(&opened)??;
        Ok(Worker { jobs, ended })
    }

    fn wait<T>(&mut self, answer: &Receiver<T>) -> Result<T, LogError> {
        answer.recv_timeout(PATIENCE).map_err(|error| match error {
            RecvTimeoutError::Timeout => {
                self.stuck = true;
                LogError::Io {
                    context: format!("sled does not come back from {}", self.path.display()),
                    source: std::io::ErrorKind::TimedOut.into(),
                }
            }
            RecvTimeoutError::Disconnected => self.panicked(),
        })
    }

    fn panicked(&self) -> LogError {
        damaged(&self.path, "sled panicked")
    }
}

impl Drop for Settled {
    fn drop(&mut self) {
        self.close();
    }
}

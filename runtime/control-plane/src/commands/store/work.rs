//! Long work at a terminal: its progress, and its interruption.

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use clap::ArgMatches;
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_server::stores::RegistryCodec;
use planesmith_store::{Amount, Clock as _, Progress, SystemClock, TransferError};
use rustix::process::{Signal, getpid, kill_process};
use tokio::runtime::Handle;

use crate::process::Process;
use crate::program::Program;

/// Time between two reports: on a terminal, and in a log.
const ON_TERMINAL: Duration = Duration::from_millis(200);
const IN_LOG: Duration = Duration::from_secs(10);

/// A command that may take long.
pub(super) struct Work<'a> {
    pub(super) program: &'a Program,
    /// The flags of the command, those of components included.
    pub(super) matches: &'a ArgMatches,
    runtime: &'a Handle,
    is_interrupted: Arc<AtomicBool>,
}

impl<'a> Work<'a> {
    /// Begins the command in `process`: from here on SIGINT and SIGTERM end the work in order. A second signal ends the process at
    /// once.
    pub(super) fn begin(program: &'a Program, matches: &'a ArgMatches, process: &'a Process) -> Result<Self> {
        let is_interrupted = Arc::new(AtomicBool::new(false));
        let flag = Arc::clone(&is_interrupted);
        let received = process.on_stop_signal(move || {
            if flag.swap(true, Ordering::Relaxed) {
                // Destructors would wait for the work.
                let _ = kill_process(getpid(), Signal::KILL);
            }
        });
        received.context("signals cannot be received")?;
        Ok(Self {
            program,
            matches,
            runtime: process.runtime(),
            is_interrupted,
        })
    }

    pub(super) fn runtime(&self) -> &'a Handle {
        self.runtime
    }

    /// The time, in milliseconds since 1970.
    pub(super) fn now(&self) -> u64 {
        SystemClock.unix_millis()
    }

    /// The codecs of the program's kinds, which write in `media_type`.
    pub(super) fn codec(&self, media_type: StorageMediaType) -> RegistryCodec {
        let mut scheme = self.program.scheme();
        scheme.set_storage_media_type(media_type);
        RegistryCodec::new(&scheme)
    }

    /// Succeeds unless the person at the terminal has ended the work.
    pub(super) fn check(&self) -> Result<(), TransferError> {
        match self.is_interrupted.load(Ordering::Relaxed) {
            true => Err(TransferError::Interrupted),
            false => Ok(()),
        }
    }

    /// Begins a part of the work that is shown as `title`, with `total` bytes; 0 if these are not known.
    pub(super) fn part(&self, title: &'static str, total: u64) -> Part<'_> {
        let is_terminal = std::io::stderr().is_terminal();
        Part {
            work: self,
            title,
            total,
            started: Instant::now(),
            reported: Duration::ZERO,
            is_terminal,
            is_printed: false,
            counts_revisions: false,
            done: Amount::default(),
        }
    }
}

/// A part of the work, with its progress on the standard error output: one line that changes on a terminal, a line every ten
/// seconds elsewhere.
pub(super) struct Part<'a> {
    work: &'a Work<'a>,
    title: &'static str,
    total: u64,
    started: Instant,
    reported: Duration,
    is_terminal: bool,
    is_printed: bool,
    /// True if the work is to assign revisions.
    counts_revisions: bool,
    done: Amount,
}

impl Part<'_> {
    /// Records that `done` is done. An error says that the work is to end.
    pub(super) fn note(&mut self, done: Amount) -> Result<(), TransferError> {
        self.done = done;
        // The clock is read for every 64th object only.
        if !done.objects.is_multiple_of(64) {
            return Ok(());
        }
        self.report()
    }

    /// As [`Self::note`], with the approximate bytes in all.
    pub(super) fn note_of(&mut self, done: Amount, total: u64) -> Result<(), TransferError> {
        self.total = total;
        self.note(done)
    }

    /// Records that `done` of `total` revisions were assigned. An error says that the work is to end.
    pub(super) fn note_revisions(&mut self, done: u64, total: u64) -> Result<(), TransferError> {
        self.counts_revisions = true;
        self.total = total;
        self.done = Amount {
            objects: 0,
            bytes: done,
        };
        self.report()
    }

    fn report(&mut self) -> Result<(), TransferError> {
        self.work.check()?;
        let elapsed = self.started.elapsed();
        let interval = if self.is_terminal { ON_TERMINAL } else { IN_LOG };
        if elapsed >= self.reported + interval {
            self.reported = elapsed;
            self.show(elapsed);
        }
        Ok(())
    }

    /// Records that `done` of `total` bytes is done, where each step takes long. An error says that the work is to end.
    pub(super) fn note_step(&mut self, done: Amount, total: u64) -> Result<(), TransferError> {
        (self.done, self.total) = (done, total);
        self.report()
    }

    fn show(&mut self, elapsed: Duration) {
        let progress = Progress {
            done: self.done,
            total: self.total,
            elapsed,
        };
        let shown = match (self.counts_revisions, progress.left()) {
            (false, _) => progress.to_string(),
            (true, None) => format!("{} of {}", self.done.bytes, self.total),
            (true, Some(left)) => format!(
                "{} of {}, {:.0} s left",
                self.done.bytes,
                self.total,
                left.as_secs_f64()
            ),
        };
        let mut error = std::io::stderr().lock();
        // A terminal that is gone does not end the work.
        let _ = match self.is_terminal {
            true => write!(error, "\r\x1b[K{}: {shown}", self.title),
            false => writeln!(error, "{}: {shown}", self.title),
        };
        let _ = error.flush();
        self.is_printed = true;
    }
}

impl Drop for Part<'_> {
    fn drop(&mut self) {
        if self.is_printed && self.is_terminal {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

//! Losses of power, one after the other, at any moment, with and without failing calls.

use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail, ensure};
use fastrand::Rng;
use tempfile::TempDir;

use super::child::{self, Child};
use super::{Failure, Round, Tally, store_in, stuck, verdict};
use crate::history::{History, Promises};
use crate::power::disk::{Disk, Outage};
use crate::power::trace::{self, Call};
use crate::record::Record;
use crate::temporary;

/// Cuts in each life, beside those at the steps of settling.
const CUTS: usize = 10;

/// The calls of the operating system that are made to fail.
const FAILING: [&str; 11] = [
    "fsync",
    "fdatasync",
    "pwrite64",
    "ftruncate",
    "rename,renameat,renameat2",
    "unlink,unlinkat",
    "mkdir,mkdirat",
    "openat",
    "fallocate",
    "read,pread64",
    "write",
];

/// The store between two lives.
struct Between {
    folder: TempDir,
    disk: Disk,
    records: Vec<Record>,
    promises: Promises,
}

pub(super) fn run(round: &Round<'_>, random: &mut Rng, tally: &mut Tally) -> Result<Option<Failure>> {
    let folder = temporary::folder()?;
    let disk = Disk::new(folder.path())?;
    let mut between = Between {
        folder,
        disk,
        records: Vec::new(),
        promises: Promises::EMBEDDED,
    };
    for life in 0..random.usize(2..5) {
        // The first one without, so that there is a store.
        let fault = match round.fault {
            Some(fault) => Some(fault.to_owned()),
            None => (life > 0 && random.u8(0..3) == 0).then(|| fault(random)),
        };
        // A full disk has no space for history.
        let is_full = fault.as_ref().is_some_and(|fault| fault.contains("ENOSPC"));
        between.promises.keeps_history &= !is_full;
        // Nor can it be read back from a disk that fails to open or to read files.
        let is_readable = |fault: &String| !fault.contains("read") && !fault.contains("openat");
        between.promises.reads_history &= !is_full && fault.as_ref().is_none_or(is_readable);
        let child = Child::after(&between.records, between.folder.path(), random, round.calls);
        let trace = match traced(round, &child, fault.as_deref())? {
            Traced::Calls(trace) => trace,
            Traced::Panicked(text) => {
                return Ok(stuck(between.records, text, format!("life {life}, {fault:?}")));
            }
        };
        tally.faults += usize::from(fault.is_some());
        let moment = format!("life {life}, fault {fault:?}");
        match cut(trace::parse(&trace)?, between, fault.is_none(), &moment, random, tally)? {
            Ok(next) => between = next,
            Err(mut failure) => {
                // Threads do not overlap in the same way again.
                let path = std::env::temp_dir().join(format!("torture-{}.trace", round.seed));
                std::fs::write(&path, trace)?;
                write!(failure.moment, "; the trace is in {}", path.display())?;
                return Ok(Some(failure));
            }
        }
    }
    tally.note(&between.records);
    Ok(None)
}

/// One or more failures of one kind of call.
fn fault(random: &mut Rng) -> String {
    let call = FAILING[random.usize(0..FAILING.len())];
    let error = if random.bool() { "EIO" } else { "ENOSPC" };
    // A program that does not start shows nothing.
    let first = if matches!(call, "openat" | "read,pread64") {
        60
    } else {
        1
    };
    let when = first + random.usize(0..40);
    let until = ["", "", "..", "+3"][random.usize(0..4)];
    let until = match until {
        ".." => format!("..{}", when + random.usize(0..6)),
        other => other.to_owned(),
    };
    format!("inject={call}:error={error}:when={when}{until}")
}

enum Traced {
    /// The trace.
    Calls(String),
    /// The child panicked, with this message.
    Panicked(String),
}

/// Runs `child` under `strace`.
fn traced(round: &Round<'_>, child: &Child, fault: Option<&str>) -> Result<Traced> {
    let temporary = temporary::folder()?;
    let log = temporary.path().join("trace");
    let mut command = Command::new("strace");
    command.args(["-f", "-qq", "-xx", "-s", "16777216", "-e", trace::CALLS]);
    if let Some(fault) = fault {
        command.args(["-e", fault]);
    }
    command.arg("-o").arg(&log).arg(round.program);
    child.pass_to(&mut command);
    let output = command
        .stdout(Stdio::null())
        .output()
        .context("strace is needed; install it")?;
    let errors = String::from_utf8_lossy(&output.stderr);
    if let Some(panic) = errors.lines().find(|line| is_own_panic(line)) {
        return Ok(Traced::Panicked(format!("the child panicked: {panic}")));
    }
    let trace = std::fs::read_to_string(&log)?;
    let is_alive = trace::parse(&trace)?
        .iter()
        .any(|call| matches!(call, Call::Observed(_)));
    ensure!(
        is_alive || fault.is_some(),
        "strace has to be allowed to trace, and the child to start: {errors}"
    );
    if fault.is_none() && !output.status.success() {
        return Ok(Traced::Panicked(format!("the child failed: {errors}")));
    }
    Ok(Traced::Calls(trace))
}

/// True if `line` reports a panic outside of sled, whose panics the store expects.
fn is_own_panic(line: &str) -> bool {
    line.contains("panicked at") && !line.contains("/sled-")
}

/// Cuts the power at many moments of `calls`, and checks each time what is left. Returns the result of one of the cuts.
fn cut(
    calls: Vec<Call>,
    between: Between,
    is_exact: bool,
    moment: &str,
    random: &mut Rng,
    tally: &mut Tally,
) -> Result<Result<Between, Failure>> {
    let Between {
        folder,
        mut disk,
        mut records,
        promises,
    } = between;
    let every = (calls.len() / CUTS).max(1);
    let offset = random.usize(0..every);
    let last = calls.len() / 4 + random.usize(0..=calls.len() / 2);
    let steps = store_in(folder.path()).join("state");
    let mut next = None;
    for (number, call) in calls.into_iter().enumerate() {
        let is_step = disk.is_step_in(&steps, &call) && random.u8(0..12) == 0;
        disk.apply(&call)?;
        if let Call::Observed(record) = call {
            records.push(record);
        }
        if !is_step && number % every != offset && number != last {
            continue;
        }
        let outage = outage(random);
        let copy = temporary::folder()?;
        disk.restore(copy.path(), outage)?;
        tally.cuts += 1;
        tally.settling_cuts += usize::from(is_settling(&store_in(copy.path()).join("state")));
        let mut after = records.clone();
        child::observe(copy.path(), &mut after)?;
        let history = History {
            promises,
            records: after,
        };
        if let Some(failure) = verdict(history, format!("{moment}, call {number}, {outage:?}")) {
            return Ok(Err(failure));
        }
        if number == last {
            let copy = temporary::folder()?;
            disk.restore(copy.path(), outage)?;
            let disk = match outage {
                Outage::Killed => disk.after_kill(copy.path()),
                _ => Disk::new(copy.path())?,
            };
            next = Some(Between {
                folder: copy,
                disk,
                records: records.clone(),
                promises,
            });
        }
    }
    if is_exact {
        disk.check()?;
    }
    match next {
        Some(next) => Ok(Ok(next)),
        None => bail!("a trace without calls"),
    }
}

fn outage(random: &mut Rng) -> Outage {
    match random.u8(0..8) {
        0 => Outage::Synced,
        1 => Outage::Eager,
        2 => Outage::EagerJournal,
        3 => Outage::Killed,
        _ => Outage::Random(random.u64(..)),
    }
}

/// True if the folder of the state has an incomplete generation.
fn is_settling(state: &Path) -> bool {
    let names = std::fs::read_dir(state).into_iter().flatten().flatten();
    names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .any(|name| name.contains('.'))
}

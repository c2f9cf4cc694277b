//! `kill -9` at any moment, one after the other.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result};
use fastrand::Rng;

use super::child::{self, Child};
use super::{Failure, Round, Tally, verdict};
use crate::history::{self, History, Promises};
use crate::record::Record;
use crate::temporary;

/// More calls than a child can make before it is killed.
const ENDLESS: usize = 100_000;

pub(super) fn run(round: &Round<'_>, random: &mut Rng, tally: &mut Tally) -> Result<Option<Failure>> {
    let folder = temporary::folder()?;
    let mut records: Vec<Record> = Vec::new();
    for life in 0..random.usize(2..6) {
        let child = Child::after(&records, folder.path(), random, ENDLESS);
        // After some observations and some time, so that it also dies where no client observes anything.
        let observed = random.usize(0..round.calls);
        let pause = Duration::from_micros(random.u64(0..20_000));
        records.extend(killed(round, &child, observed, pause)?);
        tally.kills += 1;
        if random.bool() {
            child::observe(folder.path(), &mut records)?;
        }
        let history = History {
            promises: Promises::EMBEDDED,
            records: records.clone(),
        };
        if let Some(failure) = verdict(history, format!("life {life}")) {
            return Ok(Some(failure));
        }
    }
    child::observe(folder.path(), &mut records)?;
    tally.note(&records);
    let history = History {
        promises: Promises::EMBEDDED,
        records,
    };
    Ok(verdict(history, String::new()))
}

/// Runs `child`, kills it, and returns its observations.
fn killed(round: &Round<'_>, child: &Child, observed: usize, pause: Duration) -> Result<Vec<Record>> {
    let mut command = Command::new(round.program);
    child.pass_to(&mut command);
    let mut process = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("{} does not start", round.program.display()))?;
    let output = process.stdout.take().context("the child has an output")?;
    let mut lines = BufReader::new(output).lines();
    let mut records = Vec::new();
    let mut is_open = true;
    while is_open && records.len() < observed {
        match lines.next() {
            Some(line) => records.extend(history::parse(&line?)),
            None => is_open = false,
        }
    }
    if is_open {
        let killer = std::thread::spawn(move || {
            std::thread::sleep(pause);
            let killed = process.kill();
            killed.and_then(|()| process.wait())
        });
        for line in lines {
            // The last one may be cut off.
            records.extend(line.ok().and_then(|line| history::parse(&line)));
        }
        killer
            .join()
            .map_err(|_| anyhow::anyhow!("killing panicked"))?
            .context("the child is killed")?;
    } else {
        let status = process.wait()?;
        let reason = format!("the child ended by itself: {status}");
        records.push(Record::Stuck { reason });
    }
    Ok(records)
}

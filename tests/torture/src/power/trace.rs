//! The trace of `strace`: the calls that change files, in the order in which they take effect.

use std::collections::HashMap;

use anyhow::{Context as _, Result, bail};

use crate::history;
use crate::record::Record;

/// The calls to trace.
pub(crate) const CALLS: &str = "trace=openat,close,write,pwrite64,ftruncate,lseek,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir";

/// A call that succeeded, or a failed sync.
#[derive(Debug)]
pub(crate) enum Call {
    Open {
        path: String,
        create: bool,
        truncate: bool,
        append: bool,
        file: i64,
    },
    Close {
        file: i64,
    },
    Write {
        file: i64,
        bytes: Vec<u8>,
    },
    WriteAt {
        file: i64,
        bytes: Vec<u8>,
        offset: usize,
    },
    Seek {
        file: i64,
        offset: usize,
    },
    Truncate {
        file: i64,
        length: usize,
    },
    /// The start of a sync: later writes may not be covered.
    SyncBegin {
        file: i64,
    },
    /// The end of a sync: earlier writes have reached the disk.
    SyncEnd {
        file: i64,
    },
    /// The end of a sync that has failed.
    SyncFailed {
        file: i64,
    },
    Rename {
        from: String,
        to: String,
    },
    Remove {
        path: String,
    },
    MakeFolder {
        path: String,
    },
    /// The process recorded an observation.
    Observed(Record),
}

/// Reads a trace of `strace -f -xx`.
pub(crate) fn parse(trace: &str) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    // The starts of calls that were interrupted by calls of another thread.
    let mut unfinished: HashMap<&str, &str> = HashMap::new();
    for line in trace.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(start) = rest.strip_suffix(" <unfinished ...>") {
            begin(start, &mut calls);
            unfinished.insert(thread, start);
        } else if let Some(end) = rest.strip_prefix("<... ") {
            let (_, end) = end.split_once(" resumed>").context("a resumed call")?;
            let start = unfinished.remove(thread).context("the start of a resumed call")?;
            finish(&format!("{start}{end}"), &mut calls)?;
        } else {
            begin(rest, &mut calls);
            finish(rest, &mut calls)?;
        }
    }
    Ok(calls)
}

/// The effects at the start of a call.
fn begin(call: &str, calls: &mut Vec<Call>) {
    if let Some((name, arguments)) = call.split_once('(') {
        let file = number(arguments.split(')').next().unwrap_or_default());
        match name {
            "fsync" | "fdatasync" => calls.push(Call::SyncBegin { file }),
            // Another thread may get the same descriptor before this one sees the end of its call.
            "close" => calls.push(Call::Close { file }),
            _ => {}
        }
    }
}

/// The effects at the end of a call.
fn finish(call: &str, calls: &mut Vec<Call>) -> Result<()> {
    let Some((front, result)) = call.rsplit_once(" = ") else {
        return Ok(());
    };
    let Some((name, arguments)) = front
        .trim_end()
        .strip_suffix(')')
        .and_then(|front| front.split_once('('))
    else {
        return Ok(());
    };
    let result = number(result.split(' ').next().unwrap_or_default());
    let file = number(arguments.split(',').next().unwrap_or_default());
    let is_sync = matches!(name, "fsync" | "fdatasync");
    // A sync that was left out has no effect, even if it is said to have succeeded.
    if result < 0 || (is_sync && call.ends_with("(INJECTED)")) {
        if is_sync {
            calls.push(Call::SyncFailed { file });
        }
        return Ok(());
    }
    let last = || usize::try_from(number(arguments.rsplit(", ").next().unwrap_or_default()));
    let mut texts = texts(arguments);
    let mut text = || texts.pop().context("a call without a path");
    let result_length = usize::try_from(result)?;
    calls.push(match name {
        "openat" => Call::Open {
            path: text()?,
            create: arguments.contains("O_CREAT"),
            truncate: arguments.contains("O_TRUNC"),
            append: arguments.contains("O_APPEND"),
            file: result,
        },
        "close" => return Ok(()),
        "write" | "pwrite64" => {
            let mut bytes = bytes(arguments).pop().unwrap_or_default();
            bytes.truncate(result_length);
            match (name, observed(&bytes)) {
                (_, Some(record)) => Call::Observed(record),
                ("write", None) => Call::Write { file, bytes },
                _ => Call::WriteAt {
                    file,
                    bytes,
                    offset: last()?,
                },
            }
        }
        "lseek" => Call::Seek {
            file,
            offset: result_length,
        },
        "ftruncate" => Call::Truncate { file, length: last()? },
        _ if is_sync => Call::SyncEnd { file },
        "rename" | "renameat" | "renameat2" => {
            let to = text()?;
            Call::Rename { from: text()?, to }
        }
        "unlink" | "unlinkat" | "rmdir" => Call::Remove { path: text()? },
        "mkdir" | "mkdirat" => Call::MakeFolder { path: text()? },
        other => bail!("{other} is not among the traced calls"),
    });
    Ok(())
}

fn observed(bytes: &[u8]) -> Option<Record> {
    history::parse(std::str::from_utf8(bytes).ok()?.trim_end())
}

fn number(text: &str) -> i64 {
    text.trim().parse().unwrap_or(-1)
}

fn texts(arguments: &str) -> Vec<String> {
    bytes(arguments)
        .into_iter()
        .filter_map(|bytes| String::from_utf8(bytes).ok())
        .collect()
}

/// The quoted arguments, which consist of `\x` and two digits per byte.
fn bytes(arguments: &str) -> Vec<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap_or_default() as u8;
    let quoted = arguments.split('"').skip(1).step_by(2);
    quoted
        .map(|text| {
            text.as_bytes()
                .chunks_exact(4)
                .map(|byte| (digit(byte[2]) << 4) | digit(byte[3]))
                .collect()
        })
        .collect()
}

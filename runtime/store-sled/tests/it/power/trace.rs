//! The trace of `strace`: the calls that change files, in the order in which they take effect.

use std::collections::HashMap;

/// The calls to trace.
pub(super) const CALLS: &str = "trace=openat,close,write,pwrite64,ftruncate,lseek,fsync,fdatasync,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir";

/// The form of an answer in the trace: an attempt to remove a file of this name.
const ANSWER: &str = "/nonexistent-answer/";

/// A call that succeeded.
#[derive(Debug)]
pub(super) enum Call {
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
    /// The client's write was answered.
    Answer {
        name: String,
        number: usize,
        revision: u64,
    },
}

/// Records an answer in the trace of this process.
pub(super) fn answer(name: &str, number: usize, revision: u64) {
    std::fs::remove_file(format!("{ANSWER}{name}/{number}/{revision}")).unwrap_err();
}

/// Reads a trace of `strace -f -xx`.
pub(super) fn parse(trace: &str) -> Vec<Call> {
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
            let (_, end) = end.split_once(" resumed>").unwrap();
            let start = unfinished.remove(thread).unwrap();
            finish(&format!("{start}{end}"), &mut calls);
        } else {
            begin(rest, &mut calls);
            finish(rest, &mut calls);
        }
    }
    calls
}

/// The effects at the start of a call.
fn begin(call: &str, calls: &mut Vec<Call>) {
    let Some((name, arguments)) = call.split_once('(') else {
        return;
    };
    if matches!(name, "fsync" | "fdatasync") {
        let file = number(
            arguments
                .trim_end_matches(|sign: char| !sign.is_ascii_digit())
                .split(')')
                .next()
                .unwrap(),
        );
        calls.push(Call::SyncBegin { file });
    }
    if matches!(name, "unlink" | "unlinkat") {
        let path = texts(arguments).pop().unwrap_or_default();
        let answer: Vec<_> = path
            .strip_prefix(ANSWER)
            .into_iter()
            .flat_map(|answer| answer.split('/'))
            .collect();
        if let [name, number, revision] = answer[..] {
            calls.push(Call::Answer {
                name: name.to_owned(),
                number: number.parse().unwrap(),
                revision: revision.parse().unwrap(),
            });
        }
    }
}

/// The effects at the end of a call.
fn finish(call: &str, calls: &mut Vec<Call>) {
    let Some((front, result)) = call.rsplit_once(" = ") else {
        return;
    };
    let Some((name, arguments)) = front
        .trim_end()
        .strip_suffix(')')
        .and_then(|front| front.split_once('('))
    else {
        return;
    };
    let result = number(result.split(' ').next().unwrap());
    if result < 0 {
        return;
    }
    let file = || number(arguments.split(',').next().unwrap());
    let last = || usize::try_from(number(arguments.rsplit(", ").next().unwrap())).unwrap();
    let texts = || texts(arguments);
    let written = || bytes(arguments).pop().unwrap_or_default()[..usize::try_from(result).unwrap()].to_vec();
    calls.push(match name {
        "openat" => Call::Open {
            path: texts().remove(0),
            create: arguments.contains("O_CREAT"),
            truncate: arguments.contains("O_TRUNC"),
            append: arguments.contains("O_APPEND"),
            file: result,
        },
        "close" => Call::Close { file: file() },
        "write" => Call::Write {
            file: file(),
            bytes: written(),
        },
        "pwrite64" => Call::WriteAt {
            file: file(),
            bytes: written(),
            offset: last(),
        },
        "lseek" => Call::Seek {
            file: file(),
            offset: usize::try_from(result).unwrap(),
        },
        "ftruncate" => Call::Truncate {
            file: file(),
            length: last(),
        },
        "fsync" | "fdatasync" => Call::SyncEnd { file: file() },
        "rename" | "renameat" | "renameat2" => {
            let mut texts = texts();
            let to = texts.pop().unwrap();
            Call::Rename {
                from: texts.pop().unwrap(),
                to,
            }
        }
        "unlink" | "unlinkat" | "rmdir" => Call::Remove {
            path: texts().remove(0),
        },
        "mkdir" | "mkdirat" => Call::MakeFolder {
            path: texts().remove(0),
        },
        other => panic!("{other} is not among the traced calls"),
    });
}

fn number(text: &str) -> i64 {
    text.trim().parse().unwrap_or(-1)
}

fn texts(arguments: &str) -> Vec<String> {
    bytes(arguments)
        .into_iter()
        .map(|bytes| String::from_utf8(bytes).unwrap())
        .collect()
}

/// The quoted arguments, which consist of `\x` and two digits per byte.
fn bytes(arguments: &str) -> Vec<Vec<u8>> {
    let digit = |digit: u8| char::from(digit).to_digit(16).unwrap() as u8;
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

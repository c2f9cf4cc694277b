//! The audit log: events as lines of a file, or of standard output.

use std::fmt;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;

use crate::destination::Destination;
use crate::options::AuditOptions;
use crate::rotation::{Limits, RotatedFile};

/// A log of events, a line each.
pub(crate) struct LogFile {
    // Locked while lines are written, so that they are not mixed.
    lines: Mutex<Lines>,
}

struct Lines {
    target: Target,
    /// The lines that are being written; its memory is used again.
    text: Vec<u8>,
}

enum Target {
    File(RotatedFile),
    StandardOutput,
}

/// The most bytes of memory that the next lines use again.
const MAX_REUSED: usize = 64 << 10;

impl LogFile {
    /// Opens the log at `path`; `-` is standard output.
    ///
    /// # Errors
    ///
    /// The file cannot be created or appended to.
    pub(crate) fn open(path: &str, options: &AuditOptions) -> io::Result<Self> {
        let limits = Limits {
            bytes: match options.audit_log_maxsize {
                0 => Limits::DEFAULT_BYTES,
                megabytes => megabytes.saturating_mul(1 << 20),
            },
            days: options.audit_log_maxage,
            files: options.audit_log_maxbackup,
            compress: options.audit_log_compress,
        };
        let target = match path {
            "-" => Target::StandardOutput,
            path => Target::File(RotatedFile::open(Path::new(path), limits)?),
        };
        let text = Vec::new();
        Ok(Self {
            lines: Mutex::new(Lines { target, text }),
        })
    }
}

impl Lines {
    /// Writes lines, and begins a new file where they do not fit any more.
    fn write(&mut self, events: &[Bytes]) -> io::Result<()> {
        let Self { target, text } = self;
        text.reserve(events.iter().map(|event| event.len() + 1).sum());
        for event in events {
            if !text.is_empty() && !target.fits(text.len() + event.len() + 1) {
                target.append(text)?;
                text.clear();
            }
            text.extend_from_slice(event);
            text.push(b'\n');
        }
        target.append(text)
    }
}

impl Target {
    fn fits(&self, bytes: usize) -> bool {
        match self {
            Target::File(file) => file.fits(bytes),
            Target::StandardOutput => true,
        }
    }

    fn append(&mut self, lines: &[u8]) -> io::Result<()> {
        match self {
            Target::File(file) => file.append(lines),
            Target::StandardOutput => io::stdout().lock().write_all(lines),
        }
    }
}

impl Destination for LogFile {
    fn deliver(&self, events: &[Bytes]) -> Result<(), String> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let written = lines.write(events);
        lines.text.clear();
        lines.text.shrink_to(MAX_REUSED);
        written.map_err(|error| error.to_string())
    }

    fn joins_requests(&self) -> bool {
        true
    }
}

impl fmt::Debug for LogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogFile").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn lines_that_are_written_together_continue_in_a_new_file_where_one_is_full() {
        const LIMITS: Limits = Limits {
            bytes: 12,
            days: 0,
            files: 0,
            compress: false,
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.log");
        let log = LogFile {
            lines: Mutex::new(Lines {
                target: Target::File(RotatedFile::open(&path, LIMITS).unwrap()),
                text: Vec::new(),
            }),
        };
        let events =
            ["1", "four", "5", "a longer one than fits", "2", "3"].map(|event| Bytes::from_static(event.as_bytes()));
        log.deliver(&events).unwrap();
        let contents = fs::read_dir(folder.path())
            .unwrap()
            .map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
        let mut contents: Vec<String> = contents.collect();
        contents.sort();
        assert_eq!(contents, ["1\nfour\n5\n", "2\n3\n", "a longer one than fits\n"]);
    }
}

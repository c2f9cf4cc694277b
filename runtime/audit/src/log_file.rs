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

impl Destination for LogFile {
    fn deliver(&self, events: &[Bytes]) -> Result<(), String> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let Lines { target, text } = &mut *lines;
        text.reserve(events.iter().map(|event| event.len() + 1).sum());
        for event in events {
            text.extend_from_slice(event);
            text.push(b'\n');
        }
        let written = match target {
            Target::File(file) => file.append(text),
            Target::StandardOutput => io::stdout().lock().write_all(text),
        };
        text.clear();
        text.shrink_to(MAX_REUSED);
        written.map_err(|error| error.to_string())
    }
}

impl fmt::Debug for LogFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogFile").finish_non_exhaustive()
    }
}

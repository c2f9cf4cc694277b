//! The log: `tracing` events on standard error.

use std::io;

use tracing::Level;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::fmt;
use tracing_subscriber::fmt::writer::{BoxMakeWriter, MakeWriterExt as _};

use crate::options::LogFormat;

/// Sends events to standard error in `format`, as many as `verbosity` selects (0 warnings ... 8 all
/// that the build contains: release builds have none of the level TRACE). If it `splits`, only errors go there, and all others go
/// to standard output.
///
/// A second call in one process changes nothing.
pub fn start_logging(format: LogFormat, verbosity: u8, splits: bool) {
    let level = match verbosity {
        0 | 1 => LevelFilter::WARN,
        2 | 3 => LevelFilter::INFO,
        4..=7 => LevelFilter::DEBUG,
        _ => LevelFilter::TRACE,
    };
    let writer = match splits {
        true => BoxMakeWriter::new(io::stderr.with_max_level(Level::ERROR).or_else(io::stdout)),
        false => BoxMakeWriter::new(io::stderr),
    };
    let builder = fmt().with_max_level(level).with_writer(writer);
    // A process that already logs, such as a test, keeps its subscriber.
    let _ = match format {
        LogFormat::Text => tracing::subscriber::set_global_default(builder.with_ansi(false).finish()),
        LogFormat::Json => tracing::subscriber::set_global_default(builder.json().finish()),
    };
}

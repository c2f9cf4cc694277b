//! Files of text lines that end with their own checksum.

use std::io::Write;
use std::path::Path;

use planesmith_store::log::LogError;

use crate::disk::Disk;
use crate::errors::failed;
use crate::file_system::create_file;

/// A format of such files. The first line has its name and a version.
#[derive(Debug)]
pub(crate) struct Checksummed {
    /// The text in front of the version.
    pub(crate) format: &'static str,
    /// The version that is written.
    pub(crate) version: &'static str,
    /// Earlier versions that can be read.
    pub(crate) earlier: &'static [&'static str],
}

/// Returns two hexadecimal digits for each byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The content of a file.
#[derive(Debug)]
pub(crate) enum Content<'a> {
    /// The version, and the lines after it.
    Lines(&'a str, std::str::Lines<'a>),
    /// The file has an unknown version.
    Unknown(&'a str),
    /// The file is cut off or changed.
    Damaged,
}

impl Checksummed {
    /// The text with `lines`, each of which ends with a line break, under the version `version`.
    pub(crate) fn encode(&self, version: &str, lines: &str) -> String {
        let mut text = format!("{}{version}\n{lines}", self.format);
        let checksum = crc32fast::hash(text.as_bytes());
        text.push_str(&format!("end {checksum:08x}\n"));
        text
    }

    /// Checks and splits `text`.
    pub(crate) fn decode<'a>(&self, text: &'a str) -> Content<'a> {
        let version = text.lines().next().and_then(|line| line.strip_prefix(self.format));
        let Some(version) = version else {
            return Content::Damaged;
        };
        if version != self.version && !self.earlier.contains(&version) {
            return Content::Unknown(version);
        }
        let front = text.rfind("end ").and_then(|end| text.split_at_checked(end));
        match front {
            Some((front, end)) if end == format!("end {:08x}\n", crc32fast::hash(front.as_bytes())) => {
                let mut lines = front.lines();
                lines.next();
                Content::Lines(version, lines)
            }
            _ => Content::Damaged,
        }
    }
}

/// Writes `text` to the new file `path`; its content is durable when this returns.
pub(crate) fn write(path: &Path, text: &str, disk: &Disk) -> Result<(), LogError> {
    let mut file = create_file(path)?;
    let written = file.write_all(text.as_bytes());
    let written = written.and_then(|()| disk.sync_all(&file, path));
    written.map_err(failed("write", path))
}

/// Reads the file `path`, which counts as empty if it is not text; `None` when there is no such file.
pub(crate) fn read(path: &Path) -> Result<Option<String>, LogError> {
    match std::fs::read(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed("read", path)(error)),
        Ok(text) => Ok(Some(String::from_utf8(text).unwrap_or_default())),
    }
}

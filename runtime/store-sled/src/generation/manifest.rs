//! The checksums of a generation's files when they were synced, and the places of the blocks in them.
//!
//! sled does not check all bytes that it reads, and panics on some; so it only gets exactly the bytes that it wrote.

use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::path::Path;

use planesmith_store::Revision;
use planesmith_store::log::LogError;

use super::places::BlockPlace;
use super::summary::Summary;
use crate::checksummed::{self, Checksummed, Content, hex};
use crate::disk::Disk;
use crate::errors::{damaged, failed, unknown_format};
use crate::file_system::create_file;
use crate::worker::Pulse;

pub(super) const NAME: &str = "manifest";
const FORMAT: Checksummed = Checksummed {
    format: "planesmith-generation ",
    version: "3",
    earlier: &[FIRST, UNPLACED],
};

/// The version of databases of the first format.
const FIRST: &str = "1";

/// The version without the places of blocks.
const UNPLACED: &str = "2";

/// The list of a generation's files, and their summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) is_first_format: bool,
    pub(super) summary: Summary,
    pub(super) files: Vec<ManifestFile>,
    /// The blocks in sled's file `db`. Empty if sled has to read them: in earlier formats.
    pub(super) places: Vec<BlockPlace>,
}

/// A file of sled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ManifestFile {
    pub(super) name: String,
    pub(super) bytes: u64,
    /// CRC-32.
    pub(super) checksum: u32,
}

impl ManifestFile {
    /// The file `name`, which has `bytes`.
    pub(super) fn new(name: &str, bytes: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            bytes: bytes.len() as u64,
            checksum: crc32fast::hash(bytes),
        }
    }

    fn decode(text: &str) -> Option<Self> {
        let mut parts = text.splitn(3, ' ');
        Some(Self {
            bytes: parts.next()?.parse().ok()?,
            checksum: u32::from_str_radix(parts.next()?, 16).ok()?,
            name: parts.next()?.to_owned(),
        })
    }

    /// Reads the file in `folder`, if its checksum still matches.
    pub(super) fn read(&self, folder: &Path) -> Result<Vec<u8>, LogError> {
        let path = folder.join(&self.name);
        let bytes = match std::fs::read(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(self.missing(folder)),
            read => read.map_err(failed("read", &path))?,
        };
        let is_same = bytes.len() as u64 == self.bytes && crc32fast::hash(&bytes) == self.checksum;
        is_same.then_some(bytes).ok_or_else(|| self.changed(folder))
    }

    fn missing(&self, folder: &Path) -> LogError {
        damaged(folder, &format!("its file {} is missing", self.name))
    }

    fn changed(&self, folder: &Path) -> LogError {
        damaged(folder, &format!("its file {} is cut off, or changed", self.name))
    }

    /// Copies the file from one folder to another, if its checksum still matches.
    pub(super) fn copy(&self, from: &Path, to: &Path, pulse: &Pulse) -> Result<(), LogError> {
        let (source, target) = (from.join(&self.name), to.join(&self.name));
        if !source.is_file() {
            return Err(self.missing(from));
        }
        let mut file = create_file(&target)?;
        let copied = copy(&source, &mut file, &target, pulse)?;
        if copied == (self.bytes, self.checksum) {
            Ok(())
        } else {
            Err(self.changed(from))
        }
    }
}

/// Copies a file; returns its length and checksum.
fn copy(from: &Path, to: &mut File, to_path: &Path, pulse: &Pulse) -> Result<(u64, u32), LogError> {
    let mut file = File::open(from).map_err(failed("open", from))?;
    let mut hasher = crc32fast::Hasher::new();
    let mut buffer = vec![0; 256 << 10];
    let mut bytes = 0;
    loop {
        pulse.beat()?;
        let read = file.read(&mut buffer).map_err(failed("read", from))?;
        if read == 0 {
            return Ok((bytes, hasher.finalize()));
        }
        hasher.update(&buffer[..read]);
        to.write_all(&buffer[..read]).map_err(failed("write", to_path))?;
        bytes += read as u64;
    }
}

impl Manifest {
    /// Bytes of all listed files.
    pub(super) fn size(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    /// Writes the manifest into `folder`; its content is durable when this returns.
    pub(super) fn write(&self, folder: &Path, disk: &Disk) -> Result<(), LogError> {
        checksummed::write(&folder.join(NAME), &self.encode(), disk)
    }

    /// Reads the manifest of the generation in `folder`.
    pub(super) fn read(folder: &Path) -> Result<Self, LogError> {
        let text = checksummed::read(&folder.join(NAME))?;
        let text = text.ok_or_else(|| damaged(folder, "its file manifest is missing"))?;
        if let Content::Unknown(version) = FORMAT.decode(&text) {
            return Err(unknown_format(folder, version, FORMAT.version));
        }
        let changed = || damaged(folder, "its file manifest is cut off, or changed");
        Self::decode(&text).ok_or_else(changed)
    }

    /// CRC-32 of the manifest.
    pub(super) fn checksum(&self) -> u32 {
        crc32fast::hash(self.encode().as_bytes())
    }

    fn encode(&self) -> String {
        let Summary {
            through,
            keys,
            bytes,
            digest,
        } = self.summary;
        let digest = hex(&digest);
        let mut text = format!("revision {through}\nkeys {keys}\nbytes {bytes}\nsha256 {digest}\n");
        for ManifestFile { name, bytes, checksum } in &self.files {
            text.push_str(&format!("file {bytes} {checksum:08x} {name}\n"));
        }
        for BlockPlace { offset, length } in &self.places {
            text.push_str(&format!("block {offset} {length}\n"));
        }
        let version = match self.is_first_format {
            true => FIRST,
            false if self.places.is_empty() => UNPLACED,
            false => FORMAT.version,
        };
        FORMAT.encode(version, &text)
    }

    fn decode(text: &str) -> Option<Self> {
        let Content::Lines(version, mut lines) = FORMAT.decode(text) else {
            return None;
        };
        let is_first_format = version == FIRST;
        let mut value = |name: &str| lines.next()?.strip_prefix(name)?.strip_prefix(' ');
        let summary = Summary {
            through: Revision(value("revision")?.parse().ok()?),
            keys: value("keys")?.parse().ok()?,
            bytes: value("bytes")?.parse().ok()?,
            digest: digest(value("sha256")?)?,
        };
        let (mut files, mut places) = (Vec::new(), Vec::new());
        for line in lines {
            match line.split_once(' ')? {
                ("file", file) if places.is_empty() => files.push(ManifestFile::decode(file)?),
                ("block", place) if version == FORMAT.version => places.push(decode_place(place)?),
                _ => return None,
            }
        }
        Some(Self {
            is_first_format,
            summary,
            files,
            places,
        })
    }
}

fn decode_place(text: &str) -> Option<BlockPlace> {
    let (offset, length) = text.split_once(' ')?;
    Some(BlockPlace {
        offset: offset.parse().ok()?,
        length: length.parse().ok()?,
    })
}

fn digest(text: &str) -> Option<[u8; 32]> {
    let mut digest = [0; 32];
    for (number, byte) in digest.iter_mut().enumerate() {
        *byte = u8::from_str_radix(text.get(2 * number..2 * number + 2)?, 16).ok()?;
    }
    (text.len() == 64).then_some(digest)
}

#[cfg(test)]
mod tests {
    use super::{BlockPlace, Manifest, ManifestFile, Summary};
    use planesmith_store::Revision;

    #[test]
    fn a_manifest_is_read_back_and_every_change_is_seen() {
        let unplaced = Manifest {
            is_first_format: false,
            summary: Summary {
                through: Revision(17),
                keys: 3,
                bytes: 4000,
                digest: [0xa5; 32],
            },
            files: vec![ManifestFile {
                name: "db".to_owned(),
                bytes: 524_288,
                checksum: 7,
            }],
            places: Vec::new(),
        };
        let place = |offset| BlockPlace { offset, length: 2000 };
        let manifest = Manifest {
            places: [400, 2500].map(place).to_vec(),
            ..unplaced.clone()
        };
        let earlier = unplaced.encode();
        assert!(earlier.starts_with("planesmith-generation 2\n"), "{earlier}");
        assert_eq!(Manifest::decode(&earlier), Some(unplaced));
        let text = manifest.encode();
        assert_eq!(Manifest::decode(&text), Some(manifest));
        for position in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[position] ^= 1;
            let changed = String::from_utf8(changed).unwrap_or_default();
            assert_eq!(Manifest::decode(&changed), None, "changed at {position}");
            assert_eq!(Manifest::decode(&text[..position]), None, "cut at {position}");
        }
    }
}

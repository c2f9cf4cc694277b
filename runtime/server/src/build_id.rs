//! The identity of the running program, from its own file.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::sync::LazyLock;

/// Maximum number of program headers that are read.
const HEADERS: usize = 64;

/// Maximum bytes of a segment of notes.
const NOTES: usize = 4096;

/// The type of a program header of notes.
const PT_NOTE: u32 = 4;

/// The type and the name of the note with the linker's build ID.
const NT_GNU_BUILD_ID: u32 = 3;
const GNU: &[u8] = b"GNU\0";

/// Returns the build ID of the running program: a digest of its content, which the linker added. `None` if there is none, or the
/// operating system does not show it.
pub(crate) fn build_id() -> Option<&'static [u8]> {
    static ID: LazyLock<Option<Vec<u8>>> = LazyLock::new(|| read(&File::open("/proc/self/exe").ok()?));
    ID.as_deref()
}

/// Reads the notes of an ELF file of 64 bits in the byte order of this machine.
fn read(file: &File) -> Option<Vec<u8>> {
    let mut header = [0; 64];
    file.read_exact_at(&mut header, 0).ok()?;
    let order = if cfg!(target_endian = "little") { 1 } else { 2 };
    if header[..6] != [0x7f, b'E', b'L', b'F', 2, order] {
        return None;
    }
    let (start, size, count) = (u64_at(&header, 32)?, u16_at(&header, 54)?, u16_at(&header, 56)?);
    for number in 0..usize::from(count).min(HEADERS) {
        let mut entry = [0; 56];
        let offset = start.checked_add(number as u64 * u64::from(size))?;
        file.read_exact_at(&mut entry, offset).ok()?;
        if u32_at(&entry, 0)? != PT_NOTE {
            continue;
        }
        let length = usize::try_from(u64_at(&entry, 32)?).ok()?.min(NOTES);
        let mut notes = vec![0; length];
        file.read_exact_at(&mut notes, u64_at(&entry, 8)?).ok()?;
        if let Some(id) = find(&notes) {
            return Some(id.to_vec());
        }
    }
    None
}

/// The build ID among `notes`: each has the lengths of its name and its content, its type, and both, padded to four bytes.
fn find(mut notes: &[u8]) -> Option<&[u8]> {
    loop {
        let (name, content) = (u32_at(notes, 0)? as usize, u32_at(notes, 4)? as usize);
        let kind = u32_at(notes, 8)?;
        let rest = notes.get(12..)?;
        let start = name.next_multiple_of(4);
        let found = rest.get(start..)?.get(..content)?;
        if kind == NT_GNU_BUILD_ID && rest.get(..name)? == GNU && !found.is_empty() {
            return Some(found);
        }
        notes = rest.get(start + content.next_multiple_of(4)..)?;
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at + 2)?.try_into().ok()?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(bytes.get(at..at + 8)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn note(kind: u32, name: &[u8], content: &[u8]) -> Vec<u8> {
        let mut note = Vec::new();
        for number in [name.len() as u32, content.len() as u32, kind] {
            note.extend_from_slice(&number.to_ne_bytes());
        }
        for part in [name, content] {
            note.extend_from_slice(part);
            note.resize(note.len().next_multiple_of(4), 0);
        }
        note
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let id = b"0123456789abcdefghij";
        let others = [note(1, b"GNU\0", &[0; 16]), note(3, b"Go\0", b"other")].concat();
        assert_eq!(find(&[&others[..], &note(3, b"GNU\0", id)].concat()), Some(&id[..]));
        assert_eq!(find(&others), None);
        let whole = note(3, b"GNU\0", id);
        for length in 0..whole.len() {
            assert_eq!(find(&whole[..length]), None, "cut off after {length}");
        }
        assert_eq!(find(&[0xff; 64]), None);
    }

    #[test]
    fn other_files_have_none() {
        for content in [&b""[..], b"#!/bin/sh\n", &[0x7f, b'E', b'L', b'F', 2, 1], &[0xff; 200]] {
            let mut file = tempfile::tempfile().unwrap();
            file.write_all(content).unwrap();
            assert_eq!(read(&file), None);
        }
    }

    #[test]
    fn a_program_is_always_the_same() {
        assert_eq!(build_id(), read(&File::open("/proc/self/exe").unwrap()).as_deref());
    }
}

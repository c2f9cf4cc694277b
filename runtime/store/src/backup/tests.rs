use bytes::Bytes;

use super::{BackupEncoder, BackupError, BackupHeader, BackupReader};
use crate::Revision;
use crate::log::{Change, Record};
use crate::transformer::is_encrypted;

fn record(revision: u64, length: usize) -> Record {
    Record {
        revision: Revision(revision),
        key: format!("/things/{revision}").into(),
        change: Change::Put { expires: revision % 3 },
        bytes: Bytes::from(vec![b'1'; length]),
        gap: (length > 20).then_some(3),
    }
}

fn encode(records: &[Record]) -> (BackupHeader, Vec<u8>) {
    let header = BackupHeader {
        revision: Revision(10_000),
        at: 17,
        program: "test".to_owned(),
        objects: records.len() as u64,
        bytes: records.iter().map(Record::size).sum(),
        has_encrypted: records.iter().any(|record| is_encrypted(&record.bytes)),
    };
    let mut encoder = BackupEncoder::new(&header);
    let mut bytes = Vec::new();
    for record in records {
        encoder.push(record);
        if encoder.pending() > 1000 {
            bytes.extend(encoder.take());
        }
    }
    bytes.extend(encoder.finish());
    (header, bytes)
}

fn read(bytes: &[u8]) -> Result<Vec<Record>, BackupError> {
    let mut reader = BackupReader::open(bytes)?;
    let mut records = Vec::new();
    while let Some(record) = reader.next()? {
        records.push(record);
    }
    assert!(reader.next()?.is_none(), "the end is final");
    Ok(records)
}

#[test]
fn objects_of_any_size_are_read_back() {
    let large: Vec<Record> = (1..)
        .zip([0, 1, 300 << 10, 30, 3 << 20])
        .map(|(r, n)| record(r, n))
        .collect();
    let many: Vec<Record> = (1..3000).map(|revision| record(revision, 500)).collect();
    for records in [Vec::new(), large, many] {
        let (header, bytes) = encode(&records);
        assert_eq!(BackupReader::open(&bytes[..]).unwrap().header(), &header);
        assert_eq!(read(&bytes).unwrap(), records);
    }
}

#[test]
fn every_changed_byte_and_every_cut_is_refused() {
    let records: Vec<Record> = (1..4).map(|revision| record(revision, 40)).collect();
    let (_, bytes) = encode(&records);
    for at in 0..bytes.len() {
        let mut changed = bytes.clone();
        changed[at] ^= 4;
        assert!(read(&changed).is_err(), "changed at {at}");
        let error = read(&bytes[..at]).unwrap_err();
        let is_torn = matches!(error, BackupError::Torn(_) | BackupError::NoBackup);
        assert!(is_torn, "cut at {at}: {error}");
    }
    let longer = [&bytes[..], b"?"].concat();
    assert!(read(&longer).unwrap_err().to_string().contains("behind its end"));
}

#[test]
fn missing_repeated_and_misplaced_blocks_are_refused() {
    let records: Vec<Record> = (1..=3).map(|revision| record(revision, 300 << 10)).collect();
    let (_, bytes) = encode(&records);
    // The header block ends where the first block of objects begins: three of equal length, and the end.
    let end = bytes.len() - (16 + 48);
    let block = 16 + 28 + "/things/1".len() + (300 << 10);
    let first = end - 3 * block;
    let cases: [(&str, &[usize]); 3] = [("missing", &[1]), ("swapped", &[2, 1]), ("repeated", &[0, 0, 2])];
    for (what, blocks) in cases {
        let mut changed = bytes[..first].to_vec();
        for number in blocks {
            let start = first + number * block;
            changed.extend_from_slice(&bytes[start..start + block]);
        }
        changed.extend_from_slice(&bytes[end..]);
        let error = read(&changed).unwrap_err().to_string();
        assert!(
            error.contains("a block is missing, or in another place"),
            "{what}: {error}"
        );
    }
}

#[test]
fn another_version_and_another_file_are_told_apart() {
    let (_, mut bytes) = encode(&[]);
    assert!(matches!(
        read(b"apiVersion: v1\nkind: List\n"),
        Err(BackupError::NoBackup)
    ));
    assert!(matches!(read(b""), Err(BackupError::NoBackup)));
    bytes[8] = 3;
    assert!(matches!(read(&bytes), Err(BackupError::UnknownVersion(3))));
}

#[test]
fn objects_out_of_order_are_refused() {
    for revisions in [[2, 1], [1, 10_001]] {
        let records = revisions.map(|revision| record(revision, 10));
        let (_, bytes) = encode(&records);
        let error = read(&bytes).unwrap_err().to_string();
        assert!(error.contains("not in the order of their revisions"), "{error}");
    }
}

#[test]
fn only_a_backup_with_encrypted_objects_has_the_later_version() {
    let plain = record(1, 40);
    let encrypted = Record {
        bytes: Bytes::from_static(b"k8s:enc:aesgcm:v1:one:sealed"),
        ..record(2, 0)
    };
    for (records, version) in [(vec![plain.clone()], 1), (vec![plain, encrypted], 2)] {
        let (header, bytes) = encode(&records);
        assert_eq!(bytes[8..12], u32::to_le_bytes(version));
        assert_eq!(BackupReader::open(&bytes[..]).unwrap().header(), &header);
        assert_eq!(read(&bytes).unwrap(), records);
    }
}

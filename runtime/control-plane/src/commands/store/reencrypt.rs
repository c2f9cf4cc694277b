//! `store reencrypt`: writes objects anew whose stored bytes are not those that a write would store now.

use std::sync::Arc;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Parser;
use http::Method;
use planesmith_machinery::scheme::{Scheme, StorageMediaType};
use planesmith_server::stores::RegistryCodec;
use planesmith_store::{Amount, Collection, Indexer, Loaded, Row, Storage, StorageOptions};
use planesmith_store_sled::SledLog;

use super::encrypted_values::EncryptedValues;
use super::folder_store::FolderStore;
use super::remote::ServerFlags;
use super::report;
use super::work::Work;
use crate::storage::STORE;
use crate::store_api::REENCRYPT;

/// Encrypts all stored objects as the configuration says now: those that are in clear, or encrypted with another key than the one
/// that writes, are written anew.
///
/// The server goes on meanwhile. The command can be interrupted and repeated. Afterwards `store compact` removes what history has of
/// the former bytes.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Reencrypt {
    #[command(flatten)]
    server: ServerFlags,
}

/// The result of the whole work.
#[derive(Default)]
struct Done {
    amount: Amount,
    unreadable: u64,
}

impl Reencrypt {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<()> {
        if let Some(server) = self.server.server()? {
            let mut done = Done::default();
            let mut part = work.part("encrypting", 0);
            loop {
                let answer = server.json(Method::POST, REENCRYPT, work)?;
                let number = |name: &str| answer[name].as_u64().unwrap_or_default();
                done.amount.objects += number("objects");
                done.amount.bytes += number("bytes");
                done.unreadable = number("unreadable");
                let left = number("left");
                if left == 0 {
                    drop(part);
                    return say(&server.description, &done);
                }
                if number("objects") == 0 {
                    bail!("{}: {left} objects are left that are not written", server.description);
                }
                let share = done.amount.bytes / done.amount.objects.max(1);
                let total = done.amount.bytes + share * left;
                part.note_step(done.amount, total)?;
            }
        }
        self.in_folder(work)
    }

    /// Encrypts the store of a stopped server.
    fn in_folder(&self, work: &Work<'_>) -> Result<()> {
        let data_dir = &self.server.data_dir;
        let store = data_dir.join(STORE);
        if !store.is_dir() {
            bail!("there is no store in {}", data_dir.display());
        }
        let values = EncryptedValues::of(work)?;
        let transformers = values
            .transformers()
            .cloned()
            .ok_or_else(|| anyhow!("no server runs on {}; {}", data_dir.display(), values.advice()))?;
        let mut folder = FolderStore::new(data_dir, false, work);
        folder.lock()?;
        let place = store.display().to_string();
        let log = SledLog::open(&store).with_context(|| place.clone())?;
        let options = StorageOptions {
            transformers: Some(transformers),
            ..StorageOptions::default()
        };
        let storage = Storage::open(log, &options).with_context(|| place.clone())?;
        let scheme = work.program.scheme();
        let codec = Arc::new(work.codec(StorageMediaType::default()));
        let opened = open_all(&storage, &scheme, &codec);
        let result = work.runtime().block_on(rewrite(&storage, work));
        drop(opened);
        work.runtime().block_on(storage.close());
        say(&place, &result.with_context(|| place.clone())?)
    }
}

/// Reads objects of one prefix as they are stored: they are written as they are, and rows are not stored.
struct StoredBytes {
    prefix: String,
    codec: Arc<RegistryCodec>,
}

impl Indexer for StoredBytes {
    fn row(&self, _key: &str, _bytes: &[u8]) -> Row {
        Row::default()
    }

    /// A wrong key of a cipher without authentication may decrypt an object to bytes that are none. Written anew, they would replace it.
    fn loaded(&self, bytes: &[u8]) -> Loaded {
        match self.codec.is_object(&self.prefix, bytes) {
            true => Loaded::AsStored,
            false => Loaded::Unreadable,
        }
    }
}

/// Opens the collections of the kinds in `scheme`, and those of all other keys.
fn open_all(storage: &Storage, scheme: &Scheme, codec: &Arc<RegistryCodec>) -> Vec<Arc<Collection>> {
    let open = |prefix: &str| {
        let indexer = StoredBytes {
            prefix: prefix.to_owned(),
            codec: Arc::clone(codec),
        };
        storage.collection(prefix, Arc::new(indexer))
    };
    let hubs = scheme.iter().filter(|facts| facts.is_hub());
    let mut opened: Vec<_> = hubs.map(|facts| open(&facts.storage_prefix())).collect();
    opened.extend(storage.unopened_prefixes().iter().map(|prefix| open(prefix)));
    opened
}

async fn rewrite(storage: &Storage, work: &Work<'_>) -> Result<Done> {
    let mut stale = storage.stale_objects();
    let mut done = Done {
        unreadable: stale.unreadable() as u64,
        ..Done::default()
    };
    let mut part = work.part("encrypting", 0);
    while let Some(step) = stale.step().await? {
        done.amount.objects += step.objects as u64;
        done.amount.bytes += step.bytes;
        let share = done.amount.bytes / done.amount.objects.max(1);
        part.note_step(done.amount, done.amount.bytes + share * stale.left() as u64)?;
    }
    drop(part);
    Ok(done)
}

fn say(place: &str, done: &Done) -> Result<()> {
    report::say(&format!(
        "{place}: {} objects were written anew, {}",
        done.amount.objects,
        report::size(done.amount.bytes)
    ))?;
    if done.unreadable > 0 {
        bail!(
            "{place}: {} objects cannot be decrypted or decoded and stay as they are; the server's log names them when it starts",
            done.unreadable
        );
    }
    if done.amount.objects > 0 {
        report::say("`store compact` removes what history has of the former bytes")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use planesmith_store::{Draft, Expect, ListQuery, MemoryLog, NoIndex, Op};

    use super::*;
    use crate::commands::store::encrypted_values::tests::Unauthenticated;

    const PREFIX: &str = "/registry/example.com/things/";

    fn open(log: &MemoryLog, key: u8) -> Storage {
        let options = StorageOptions {
            transformers: Some(Arc::new(Unauthenticated(key))),
            ..StorageOptions::default()
        };
        Storage::open(log.clone(), &options).unwrap()
    }

    async fn write_all_anew(storage: &Storage) -> usize {
        let mut stale = storage.stale_objects();
        while stale.step().await.unwrap().is_some() {}
        stale.unreadable()
    }

    #[tokio::test]
    async fn a_wrong_key_of_a_cipher_without_authentication_destroys_no_object() {
        let log = MemoryLog::new();
        let storage = open(&log, 1);
        let things = storage.collection(PREFIX, Arc::new(NoIndex));
        let put = Op::Put {
            key: format!("{PREFIX}one").into(),
            draft: Draft::new(br#"{"metadata":{"resourceVersion":""}}"#.to_vec(), 32),
            row: Row::default(),
            expect: Expect::Absent,
            ttl: None,
        };
        things.write(put).await.unwrap();
        storage.close().await;

        let codec = Arc::new(RegistryCodec::new(&Scheme::new()));
        for (key, unreadable) in [(2, 1), (1, 0), (2, 1), (1, 0)] {
            let storage = open(&log, key);
            let opened = open_all(&storage, &Scheme::new(), &codec);
            assert_eq!(opened.len(), 1);
            assert_eq!(write_all_anew(&storage).await, unreadable);
            let entries = opened[0].list(&ListQuery::all(PREFIX)).unwrap().entries;
            assert_eq!(entries[0].is_readable(), unreadable == 0);
            drop(opened);
            storage.close().await;
        }
    }
}

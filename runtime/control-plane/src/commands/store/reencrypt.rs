//! `store reencrypt`: writes objects anew whose stored bytes are not those that a write would store now.

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Parser;
use http::Method;
use planesmith_store::{Amount, NoIndex, Storage, StorageOptions};
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
                    return say(&server.shown, &done);
                }
                if number("objects") == 0 {
                    bail!("{}: {left} objects are left that are not written", server.shown);
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
        let transformers = values.transformers().cloned().ok_or_else(|| {
            anyhow!(
                "no server runs on {}; add --encryption-provider-config with the file of its keys",
                data_dir.display()
            )
        })?;
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
        // Rows are not stored, and bytes are written as they are.
        let open = |prefix: &str| storage.collection(prefix, std::sync::Arc::new(NoIndex));
        let mut opened: Vec<_> = scheme
            .iter()
            .filter(|facts| facts.is_hub())
            .map(|facts| open(&facts.storage_prefix()))
            .collect();
        opened.extend(storage.unopened_prefixes().iter().map(|prefix| open(prefix)));
        let result = work.runtime().block_on(rewrite(&storage, work));
        drop(opened);
        work.runtime().block_on(storage.close());
        say(&place, &result.with_context(|| place.clone())?)
    }
}

async fn rewrite(storage: &Storage, work: &Work<'_>) -> Result<Done> {
    let mut stale = storage.stale_objects();
    let mut done = Done {
        unreadable: stale.unreadable() as u64,
        ..Done::default()
    };
    let mut part = work.part("encrypting", 0);
    while let Some(step) = stale.step(|_| None).await? {
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
            "{place}: {} objects cannot be decrypted and stay as they are; the server's log names them when it starts",
            done.unreadable
        );
    }
    if done.amount.objects > 0 {
        report::say("`store compact` removes what history has of the former bytes")?;
    }
    Ok(())
}

//! `store check`: the damage of a stopped store.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;
use planesmith_machinery::scheme::StorageMediaType;
use planesmith_server::stores::RegistryCodec;
use planesmith_store::is_encrypted;
use planesmith_store::log::Record;
use planesmith_store_sled::Inspection;

use super::encrypted_values::EncryptedValues;
use super::folder_store::FolderStore;
use super::report;
use super::work::Work;
use crate::storage::STORE;

/// The exit code for damage.
const DAMAGED: u8 = 3;

/// Reads all files of a stopped server's store, and compares them with their checksums; decodes every object, encrypted ones only
/// with the flag of their keys.
///
/// Lists the files, and the keys and revisions that are lost. Changes nothing. Exits with 0 if all is well, with 3 if something
/// is damaged or an object cannot be decoded, and with 1 if the store cannot be checked, e.g. because its server runs.
#[derive(Debug, Parser)]
#[command(disable_version_flag = true)]
pub(super) struct Check {
    /// Folder of the server.
    #[arg(long, default_value = "planesmith-data", value_name = "DIR")]
    data_dir: PathBuf,
}

impl Check {
    pub(super) fn run(&self, work: &Work<'_>) -> Result<ExitCode> {
        let (inspection, _lock) = inspect(&self.data_dir, work)?;
        let unreadable = undecodable(&inspection, work)?;
        crate::commands::print(report::describe(&inspection, &unreadable).as_bytes())?;
        if !inspection.is_whole() {
            report::say(&format!(
                "`store repair` keeps what is legible and moves the damaged store aside; better restore a backup that is newer than {}",
                inspection.revision
            ))?;
        }
        match inspection.is_whole() && unreadable.is_empty() {
            true => Ok(ExitCode::SUCCESS),
            false => Ok(ExitCode::from(DAMAGED)),
        }
    }
}

/// Reads the store in a data folder, which stays locked until the result is dropped.
pub(super) fn inspect(data_dir: &Path, work: &Work<'_>) -> Result<(Inspection, FolderStore)> {
    let store = data_dir.join(STORE);
    anyhow::ensure!(store.is_dir(), "there is no store in {}", data_dir.display());
    let mut folder = FolderStore::damaged(data_dir, work);
    folder.lock()?;
    let mut part = work.part("checking", 0);
    let inspection = Inspection::of(&store, |done, total| part.note_of(done, total));
    Ok((inspection.with_context(|| store.display().to_string())?, folder))
}

/// The keys of objects that their kind cannot decode.
pub(super) fn undecodable(inspection: &Inspection, work: &Work<'_>) -> Result<Vec<String>> {
    let (codec, values) = (work.codec(StorageMediaType::default()), EncryptedValues::of(work)?);
    let mut part = work.part("decoding", inspection.states.iter().map(|state| state.size()).sum());
    let mut amount = planesmith_store::Amount::default();
    let mut unreadable = Vec::new();
    for state in &inspection.states {
        amount.add(state);
        if !is_legible(state, &codec, &values) {
            unreadable.push(state.key.to_string());
        }
        part.note(amount)?;
    }
    Ok(unreadable)
}

/// True if the kind of `state` can decode it. Of an encrypted object without its key the checksums alone count.
fn is_legible(state: &Record, codec: &RegistryCodec, values: &EncryptedValues) -> bool {
    if !is_encrypted(&state.bytes) {
        return codec.is_legible(&state.key, &state.bytes);
    }
    if values.transformers().is_none() {
        return true;
    }
    let opened = values.open(state.clone(), &state.key, codec);
    opened.is_ok_and(|plain| codec.is_legible(&plain.key, &plain.bytes))
}

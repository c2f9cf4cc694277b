//! Encrypted values of stores that commands read and write.

use std::sync::Arc;

use anyhow::Result;
use planesmith_store::log::Record;
use planesmith_store::{Draft, Reason, TransferError, TransformError, Transformers, is_encrypted};

use super::work::Work;

/// The flag that a person adds.
const FLAG: &str = "--encryption-provider-config";

/// Decrypts and encrypts values by the flags of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct EncryptedValues {
    /// `None` without flags for it.
    transformers: Option<Arc<dyn Transformers>>,
}

impl EncryptedValues {
    /// Returns the values by the flags of the command.
    pub(super) fn of(work: &Work<'_>) -> Result<Self> {
        let scheme = work.program.scheme();
        let mut transformers = None;
        for component in work.program.components {
            if let Some(transformation) = component.store_transformation() {
                transformers = transformation.open(work.matches, &scheme)?.or(transformers);
            }
        }
        Ok(Self { transformers })
    }

    /// The transformers, if flags configure any.
    pub(super) fn transformers(&self) -> Option<&Arc<dyn Transformers>> {
        self.transformers.as_ref()
    }

    /// Returns `record` with its plain bytes. `stored_key` is its key in its store.
    ///
    /// # Errors
    ///
    /// The value is encrypted, and no flag names its key.
    pub(super) fn open(&self, record: Record, stored_key: &str) -> Result<Record, TransferError> {
        if !is_encrypted(&record.bytes) {
            return Ok(record);
        }
        let Some(transformers) = &self.transformers else {
            return Err(TransferError::Target(format!(
                "{} is encrypted; add {FLAG} with the file that has its key",
                record.key
            )));
        };
        if let Some(preparation) = transformers.prepare(&mut std::iter::once(&*record.bytes)) {
            preparation.wait();
        }
        let transformer = transformers.of(&record.key);
        let plain = transformer.open(stored_key, &record.bytes);
        let plain = plain.map_err(|error| failed(&record, &error))?.bytes.into_owned();
        let draft = match record.gap {
            Some(gap) if gap as usize <= plain.len() => Draft::new(plain, gap as usize),
            Some(_) | None => Draft::gapless(plain),
        };
        Ok(record.with_object(draft))
    }

    /// Returns `record` encrypted for a store in which its key is `stored_key`, if flags configure that.
    ///
    /// # Errors
    ///
    /// The value cannot be encrypted.
    pub(super) fn seal(&self, record: Record, stored_key: &str) -> Result<Record, TransferError> {
        let Some(transformers) = &self.transformers else {
            return Ok(record);
        };
        let transformer = transformers.of(&record.key);
        let sealed = match record.gap {
            Some(gap) => {
                let (head, tail) = record.bytes.split_at(gap as usize);
                let bare = [head, &tail[record.revision.digits()..]].concat();
                transformer.seal(stored_key, &bare, Reason::Update)
            }
            None => transformer.seal(stored_key, &record.bytes, Reason::Update),
        };
        let sealed = sealed.map_err(|error| failed(&record, &error))?;
        Ok(match sealed {
            Some(bytes) => Record {
                bytes: bytes.into(),
                ..record
            },
            None => record,
        })
    }
}

fn failed(record: &Record, error: &TransformError) -> TransferError {
    TransferError::Target(format!("{}: {error}", record.key))
}

//! Encrypted values of stores that commands read and write.

use std::sync::Arc;

use anyhow::Result;
use planesmith_server::stores::RegistryCodec;
use planesmith_store::log::Record;
use planesmith_store::{Draft, Reason, TransferError, TransformError, Transformers, is_encrypted};

use super::work::Work;

/// Decrypts and encrypts values by the flags of a command.
#[derive(Clone, Debug, Default)]
pub(super) struct EncryptedValues {
    /// `None` without flags for it.
    transformers: Option<Arc<dyn Transformers>>,
    /// The flag for it; `None` in a program that transforms no values.
    flag: Option<&'static str>,
}

impl EncryptedValues {
    /// Returns the values by the flags of the command.
    pub(super) fn of(work: &Work<'_>) -> Result<Self> {
        let scheme = work.program.scheme();
        let mut transformers: Option<Arc<dyn Transformers>> = None;
        let mut flag = None;
        for component in work.program.components {
            if let Some(transformation) = component.store_transformation() {
                flag = Some(transformation.flag());
                transformers = transformation.open(work.matches, &scheme)?.or(transformers);
            }
        }
        // A plugin encrypts nothing before its first status.
        if let Some(transformers) = &transformers {
            transformers.prepare_blocking(&mut std::iter::empty());
        }
        Ok(Self { transformers, flag })
    }

    /// The next step of a person whose command lacks the keys.
    pub(super) fn advice(&self) -> String {
        match self.flag {
            Some(flag) => format!("add {flag} with the file of the keys"),
            None => "use a program that encrypts objects".to_owned(),
        }
    }

    /// The transformers, if flags configure any.
    pub(super) fn transformers(&self) -> Option<&Arc<dyn Transformers>> {
        self.transformers.as_ref()
    }

    /// Returns `record` with its plain bytes, which are an object. `stored_key` is its key in its store.
    ///
    /// # Errors
    ///
    /// The value is encrypted, and no flag names its key. A wrong key may decrypt a value, because not every cipher authenticates it:
    /// bytes that are no object are an error, too, so that they never replace the value.
    pub(super) fn open(
        &self,
        record: Record,
        stored_key: &str,
        codec: &RegistryCodec,
    ) -> Result<Record, TransferError> {
        if !is_encrypted(&record.bytes) {
            return Ok(record);
        }
        let Some(transformers) = &self.transformers else {
            return Err(TransferError::Target(format!(
                "{} is encrypted; {}",
                record.key,
                self.advice()
            )));
        };
        transformers.prepare_blocking(&mut std::iter::once(&*record.bytes));
        let transformer = transformers.of(&record.key);
        let plain = transformer.open(stored_key, &record.bytes);
        let plain = plain.map_err(|error| failed(&record, &error))?.bytes.into_owned();
        if !codec.is_object(&record.key, &plain) {
            return Err(failed(&record, &TransformError::no_object()));
        }
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

#[cfg(test)]
pub(super) mod tests {
    use planesmith_machinery::scheme::Scheme;
    use planesmith_store::log::Change;
    use planesmith_store::{ENCRYPTED, PlainValue, Revision, Transformer};

    use super::*;

    /// A cipher without authentication: every key decrypts every value, the wrong ones to something else.
    #[derive(Clone, Debug)]
    pub(in super::super) struct Unauthenticated(pub(in super::super) u8);

    impl Transformers for Unauthenticated {
        fn of(&self, _prefix: &str) -> Arc<dyn Transformer> {
            Arc::new(self.clone())
        }
    }

    impl Transformer for Unauthenticated {
        fn seal(&self, _key: &str, plain: &[u8], _reason: Reason) -> Result<Option<Vec<u8>>, TransformError> {
            let bytes = plain.iter().map(|byte| byte.wrapping_add(self.0));
            Ok(Some(ENCRYPTED.iter().copied().chain(bytes).collect()))
        }

        fn open<'s>(&self, _key: &str, stored: &'s [u8]) -> Result<PlainValue<'s>, TransformError> {
            let sealed = stored.strip_prefix(ENCRYPTED);
            let plain = sealed.map(|sealed| sealed.iter().map(|byte| byte.wrapping_sub(self.0)).collect::<Vec<_>>());
            Ok(PlainValue {
                bytes: plain.map_or(stored.into(), Into::into),
                is_stale: true,
            })
        }

        fn writer(&self) -> u64 {
            self.0.into()
        }
    }

    #[test]
    fn a_value_that_a_wrong_key_decrypts_to_no_object_is_refused() {
        let codec = RegistryCodec::new(&Scheme::new());
        let values = |key| EncryptedValues {
            transformers: Some(Arc::new(Unauthenticated(key))),
            flag: None,
        };
        let plain = Record {
            revision: Revision(7),
            key: "/registry/example.com/things/default/one".into(),
            change: Change::Put { expires: 0 },
            bytes: br#"{"metadata":{"resourceVersion":"7"}}"#[..].into(),
            gap: Some(32),
        };
        let sealed = values(1).seal(plain.clone(), &plain.key).unwrap();
        assert!(is_encrypted(&sealed.bytes));
        assert_eq!(values(1).open(sealed.clone(), &plain.key, &codec).unwrap(), plain);
        let error = values(2).open(sealed, &plain.key, &codec).unwrap_err();
        assert!(error.to_string().contains("encrypted with another key"), "{error}");
    }
}

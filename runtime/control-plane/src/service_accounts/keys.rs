//! The keys that sign tokens, and those that verify them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use planesmith_access::authentication::service_account::{
    KeyError, KeyGenerator, KeyRing, PublicKey, SigningKey, TokenIssuer,
};

use crate::options::Options;
use crate::private_file::{make_private, write_private};

/// The file of the key that the server creates for itself, among its certificates.
const OWN_KEY: &str = "sa.key";

/// The keys that sign tokens of service accounts, and those that verify them.
#[derive(Clone, Debug)]
pub struct ServiceAccountKeys {
    /// Signs tokens.
    pub issuer: Arc<TokenIssuer>,
    /// Keys of tokens that are accepted.
    pub keys: KeyRing,
    /// The issuers that are accepted; the first one is in new tokens.
    pub issuers: Vec<String>,
    /// The audiences that stand for the server, also given to tokens that request none.
    pub audiences: Vec<String>,
}

impl ServiceAccountKeys {
    /// Reads the keys that the flags name, and creates the signing key with `generate` if they name none.
    ///
    /// # Errors
    ///
    /// If files cannot be read or written, or contain no keys.
    pub(crate) fn open(options: &Options, generate: KeyGenerator) -> Result<Self> {
        let flags = &options.service_accounts;
        let mut public = Vec::new();
        for path in &flags.service_account_key_file {
            let read = || anyhow::Ok(PublicKey::all_from_pem(&fs::read(path)?)?);
            public.extend(read().with_context(|| format!("--service-account-key-file {}", path.display()))?);
        }
        let keys = match &flags.service_account_signing_key_file {
            Some(path) => {
                let key = read_signing_key(path)
                    .with_context(|| format!("--service-account-signing-key-file {}", path.display()))?;
                KeyRing::new(key, public)
            }
            None => {
                let path = options.cert_dir().join(OWN_KEY);
                own_key(&path, generate, public)
                    .with_context(|| format!("the key of service account tokens {}", path.display()))?
            }
        };
        let issuers = flags.service_account_issuer.clone();
        let audiences = match flags.api_audiences.as_slice() {
            [] => issuers.clone(),
            audiences => audiences.to_vec(),
        };
        let first = issuers.first().cloned().unwrap_or_default();
        Ok(Self {
            issuer: Arc::new(TokenIssuer::new(first, keys.clone())),
            keys,
            issuers,
            audiences,
        })
    }
}

fn read_signing_key(path: &Path) -> Result<SigningKey> {
    Ok(SigningKey::from_pem(&fs::read(path)?)?)
}

/// Returns the key that the server created when it started for the first time; at that start, it is created in the
/// background.
fn own_key(path: &Path, generate: KeyGenerator, others: Vec<PublicKey>) -> Result<KeyRing> {
    match fs::read(path) {
        Ok(pem) => {
            // A copy or an archive may not have kept its permissions.
            make_private(path)?;
            Ok(KeyRing::new(SigningKey::from_pem(&pem)?, others))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let path = path.to_owned();
            Ok(KeyRing::generating(move || make_own_key(&path, generate), others)?)
        }
        Err(error) => Err(error.into()),
    }
}

/// Creates the key and stores it. A key that cannot be stored signs nothing, or the next start would refuse its
/// tokens.
fn make_own_key(path: &Path, generate: KeyGenerator) -> Result<SigningKey, KeyError> {
    let pem = generate()?;
    if let Err(error) = write_private(path, pem.as_bytes()) {
        tracing::error!(path = %path.display(), %error, "the key of service account tokens cannot be saved");
        return Err(KeyError::NotMade);
    }
    SigningKey::from_pem(pem.as_bytes())
}

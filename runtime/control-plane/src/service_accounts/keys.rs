//! The keys that sign tokens, and those that verify them.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use planesmith_access::authentication::service_account::{
    ExternalSigner, KeyError, KeyGenerator, KeyRing, PublicKey, SigningKey, TokenIssuer,
};
use planesmith_machinery::duration;

use crate::options::Options;
use crate::private_file::{make_private, write_private};

/// The file of the key that the server creates for itself, among its certificates.
const OWN_KEY: &str = "sa.key";

/// The lifetime of tokens for programs that do not read their token again.
const EXTENDED_LIFETIME: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A signer of tokens outside of the server.
#[derive(Clone, Debug)]
pub struct TokenSigner {
    /// Signs tokens, and names the keys that verify them.
    pub signer: Arc<dyn ExternalSigner>,
    /// The longest lifetime of its tokens.
    pub max_lifetime: Duration,
}

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
    /// The longest lifetime of a token; `None` without a limit.
    pub max_lifetime: Option<Duration>,
    /// The lifetime of tokens for programs that do not read their token again.
    pub extended_lifetime: Duration,
}

impl ServiceAccountKeys {
    /// Reads the keys that the flags name, and creates the signing key with `generate` if they name none. An `external` signer has
    /// keys of its own.
    ///
    /// # Errors
    ///
    /// If files cannot be read or written, or contain no keys, or if the external signer does not support the longest lifetime.
    pub(crate) fn open(options: &Options, generate: KeyGenerator, external: Option<TokenSigner>) -> Result<Self> {
        let flags = &options.service_accounts;
        let max = flags.service_account_max_token_expiration;
        let max = (!max.is_zero()).then_some(max);
        let Some(TokenSigner { signer, max_lifetime }) = external else {
            return Ok(Self::of_ring(
                options,
                Self::ring(options, generate)?,
                max,
                EXTENDED_LIFETIME,
            ));
        };
        ensure!(
            max.is_none_or(|max| max <= max_lifetime),
            "service-account-max-token-expiration cannot be set longer than the token expiration supported by \
             service-account-signing-endpoint: {} > {}",
            go_duration(max.unwrap_or_default()),
            go_duration(max_lifetime)
        );
        let extended = EXTENDED_LIFETIME.min(max_lifetime);
        let max = Some(max.unwrap_or(max_lifetime));
        Ok(Self::of_ring(options, KeyRing::external(signer), max, extended))
    }

    /// Returns the keys that the flags name.
    fn ring(options: &Options, generate: KeyGenerator) -> Result<KeyRing> {
        let flags = &options.service_accounts;
        let mut public = Vec::new();
        for path in &flags.service_account_key_file {
            let read = || anyhow::Ok(PublicKey::all_from_pem(&fs::read(path)?)?);
            public.extend(read().with_context(|| format!("--service-account-key-file {}", path.display()))?);
        }
        match &flags.service_account_signing_key_file {
            Some(path) => {
                let key = read_signing_key(path)
                    .with_context(|| format!("--service-account-signing-key-file {}", path.display()))?;
                Ok(KeyRing::new(key, public))
            }
            None => {
                let path = options.cert_dir().join(OWN_KEY);
                own_key(&path, generate, public)
                    .with_context(|| format!("the key of service account tokens {}", path.display()))
            }
        }
    }

    fn of_ring(options: &Options, keys: KeyRing, max: Option<Duration>, extended: Duration) -> Self {
        let flags = &options.service_accounts;
        let issuers = flags.service_account_issuer.clone();
        let audiences = match flags.api_audiences.as_slice() {
            [] => issuers.clone(),
            audiences => audiences.to_vec(),
        };
        let first = issuers.first().cloned().unwrap_or_default();
        Self {
            issuer: Arc::new(TokenIssuer::new(first, keys.clone())),
            keys,
            issuers,
            audiences,
            max_lifetime: max,
            extended_lifetime: extended,
        }
    }
}

/// The duration as Go prints it.
fn go_duration(duration: Duration) -> duration::Duration {
    duration::Duration(i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX))
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

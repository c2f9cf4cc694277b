//! The keys of a server, which may still be under generation, or those of an external signer.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use futures_util::future::BoxFuture;

use super::external::{ExternalSigner, key_id_of};
use super::keys::{KeyError, PublicKey, SigningKey};

/// The time for which clients may keep the published keys of a server.
const PUBLISHED_FOR: Duration = Duration::from_secs(60 * 60);

/// The signing key and the verification keys. Clones share the same ring.
///
/// Generating an RSA key takes up to a second. The first start of a server does not wait for it; requests that sign or verify a
/// token in that time do.
#[derive(Clone)]
pub struct KeyRing(Source);

#[derive(Clone)]
enum Source {
    Server(Arc<OnceLock<Result<Keys, KeyError>>>),
    External(Arc<dyn ExternalSigner>),
}

/// The signer of new tokens.
pub(super) enum Signer<'a> {
    Key(&'a SigningKey),
    External(&'a Arc<dyn ExternalSigner>),
}

#[derive(Debug)]
struct Keys {
    signing: SigningKey,
    public: Arc<[PublicKey]>,
}

impl KeyRing {
    /// Creates a ring that signs with `signing` and verifies with it and `others`.
    #[must_use]
    pub fn new(signing: SigningKey, others: Vec<PublicKey>) -> Self {
        let keys = Arc::default();
        put(&keys, Ok(signing), others);
        Self(Source::Server(keys))
    }

    /// Creates a ring whose tokens `signer` signs, with keys that it names.
    #[must_use]
    pub fn external(signer: Arc<dyn ExternalSigner>) -> Self {
        Self(Source::External(signer))
    }

    /// Like [`KeyRing::new`], with a key that `make` generates on its own thread.
    ///
    /// # Errors
    ///
    /// The thread cannot be started.
    pub fn generating<M>(make: M, others: Vec<PublicKey>) -> io::Result<Self>
    where
        M: FnOnce() -> Result<SigningKey, KeyError> + Send + 'static,
    {
        let keys = Arc::default();
        let created = Arc::clone(&keys);
        let maker = thread::Builder::new().name("token-key".to_owned());
        maker.spawn(move || put(&created, make(), others))?;
        Ok(Self(Source::Server(keys)))
    }

    /// True if an external signer has the keys.
    pub(super) fn is_external(&self) -> bool {
        matches!(self.0, Source::External(_))
    }

    /// Returns the signer of new tokens; waits for the generation of its key.
    ///
    /// # Errors
    ///
    /// The key could not be generated.
    pub(super) fn signer(&self) -> Result<Signer<'_>, KeyError> {
        match &self.0 {
            Source::Server(keys) => {
                let keys = keys.wait().as_ref().map_err(KeyError::clone)?;
                Ok(Signer::Key(&keys.signing))
            }
            Source::External(signer) => Ok(Signer::External(signer)),
        }
    }

    /// Returns the verification keys; empty if the signing key could not be generated.
    #[must_use]
    pub fn public(&self) -> Arc<[PublicKey]> {
        match &self.0 {
            Source::Server(keys) => keys
                .wait()
                .as_ref()
                .map_or_else(|_| Arc::default(), |keys| Arc::clone(&keys.public)),
            Source::External(signer) => signer.keys(),
        }
    }

    /// Returns the time for which clients may keep the published keys.
    #[must_use]
    pub fn max_age(&self) -> Duration {
        match &self.0 {
            Source::Server(_) => PUBLISHED_FOR,
            Source::External(signer) => signer.max_age(),
        }
    }

    /// Returns a future that reads the keys of an external signer again, if none of them is the one that `token` names.
    pub(super) fn refresh_for(&self, token: &str) -> Option<BoxFuture<'static, ()>> {
        let Source::External(signer) = &self.0 else { return None };
        let id = key_id_of(token)?;
        let is_known = signer.keys().iter().any(|key| key.id() == id);
        (!is_known).then(|| signer.refresh())
    }
}

fn put(keys: &OnceLock<Result<Keys, KeyError>>, signing: Result<SigningKey, KeyError>, others: Vec<PublicKey>) {
    let created = signing.map(|signing| {
        let mut public = others;
        if public.iter().all(|key| key.id() != signing.public().id()) {
            // The server always accepts its own tokens, even if its key is not among the configured ones.
            public.insert(0, signing.public().clone());
        }
        Keys {
            signing,
            public: public.into(),
        }
    });
    // Only one thread sets the keys.
    let _ = keys.set(created);
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Source::Server(keys) => f.debug_tuple("KeyRing").field(&keys.get()).finish(),
            Source::External(signer) => f.debug_tuple("KeyRing").field(signer).finish(),
        }
    }
}

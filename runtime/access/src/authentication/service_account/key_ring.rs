//! The keys of a server, which may still be under generation.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;

use super::keys::{KeyError, PublicKey, SigningKey};

/// The signing key and the verification keys. Clones share the same ring.
///
/// Generating an RSA key takes up to a second. The first start of a server does not wait for it; requests that sign or verify a
/// token in that time do.
#[derive(Clone)]
pub struct KeyRing {
    keys: Arc<OnceLock<Result<Keys, KeyError>>>,
}

#[derive(Debug)]
struct Keys {
    signing: SigningKey,
    public: Vec<PublicKey>,
}

impl KeyRing {
    /// Creates a ring that signs with `signing` and verifies with it and `others`.
    #[must_use]
    pub fn new(signing: SigningKey, others: Vec<PublicKey>) -> Self {
        let ring = Self { keys: Arc::default() };
        ring.put(Ok(signing), others);
        ring
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
        let ring = Self { keys: Arc::default() };
        let created = ring.clone();
        let maker = thread::Builder::new().name("token-key".to_owned());
        maker.spawn(move || created.put(make(), others))?;
        Ok(ring)
    }

    fn put(&self, signing: Result<SigningKey, KeyError>, others: Vec<PublicKey>) {
        let keys = signing.map(|signing| {
            let mut public = others;
            if public.iter().all(|key| key.id() != signing.public().id()) {
                // The server always accepts its own tokens, even if its key is not among the configured ones.
                public.insert(0, signing.public().clone());
            }
            Keys { signing, public }
        });
        // Only this thread sets the keys.
        let _ = self.keys.set(keys);
    }

    /// Returns the signing key; waits for its generation.
    ///
    /// # Errors
    ///
    /// The key could not be generated.
    pub(super) fn signing(&self) -> Result<&SigningKey, KeyError> {
        let keys = self.keys.wait().as_ref();
        keys.map(|keys| &keys.signing).map_err(KeyError::clone)
    }

    /// Returns the verification keys; empty if the signing key could not be generated.
    #[must_use]
    pub fn public(&self) -> &[PublicKey] {
        let keys = self.keys.wait().as_ref();
        keys.map_or(&[], |keys| &keys.public)
    }
}

impl fmt::Debug for KeyRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyRing").field(&self.keys.get()).finish()
    }
}

//! The keys of a server, which may still be in the making.

use std::fmt;
use std::io;
use std::sync::{Arc, OnceLock};
use std::thread;

use super::keys::{KeyError, PublicKey, SigningKey};

/// What signs tokens, and what checks them. Clones are the same ring.
///
/// An RSA key takes up to a second to make. A server that starts for the first time does not wait for it; whoever asks
/// for a token, or shows one, in that second does.
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
    /// Signs with `signing`, and takes for valid what it or one of `others` signed.
    #[must_use]
    pub fn new(signing: SigningKey, others: Vec<PublicKey>) -> Self {
        let ring = Self { keys: Arc::default() };
        ring.put(Ok(signing), others);
        ring
    }

    /// As [`KeyRing::new`], with a key that `make` makes on a thread of its own.
    ///
    /// # Errors
    ///
    /// When there can be no thread.
    pub fn in_the_making<M>(make: M, others: Vec<PublicKey>) -> io::Result<Self>
    where
        M: FnOnce() -> Result<SigningKey, KeyError> + Send + 'static,
    {
        let ring = Self { keys: Arc::default() };
        let made = ring.clone();
        let maker = thread::Builder::new().name("token-key".to_owned());
        maker.spawn(move || made.put(make(), others))?;
        Ok(ring)
    }

    fn put(&self, signing: Result<SigningKey, KeyError>, others: Vec<PublicKey>) {
        let keys = signing.map(|signing| {
            let mut public = others;
            if public.iter().all(|key| key.id() != signing.public().id()) {
                // What the server signs it also accepts, whatever other keys it is told.
                public.insert(0, signing.public().clone());
            }
            Keys { signing, public }
        });
        // It is set once: a ring has one maker.
        let _ = self.keys.set(keys);
    }

    /// The key that signs.
    ///
    /// # Errors
    ///
    /// When it could not be made.
    pub(super) fn signing(&self) -> Result<&SigningKey, KeyError> {
        let keys = self.keys.wait().as_ref();
        keys.map(|keys| &keys.signing).map_err(KeyError::clone)
    }

    /// The keys of valid tokens; none when the one that signs could not be made.
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

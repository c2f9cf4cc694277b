//! The key that signs tokens of service accounts until a flag names one: RSA, as kubeadm generates it.

use planesmith_access::authentication::service_account::KeyError;
use rsa::RsaPrivateKey;
use rsa::pkcs8::{EncodePrivateKey as _, LineEnding};
use rsa::rand_core::OsRng;

/// The size of the key, in bits.
const BITS: usize = 2048;

/// Generates the key as PEM (PKCS #8).
///
/// # Errors
///
/// The system's random number generator failed.
pub(crate) fn generate() -> Result<String, KeyError> {
    // ring signs with RSA keys, but does not generate them.
    let key = RsaPrivateKey::new(&mut OsRng, BITS).map_err(|_| KeyError::NotMade)?;
    let pem = key.to_pkcs8_pem(LineEnding::LF).map_err(|_| KeyError::NotMade)?;
    Ok(pem.as_str().to_owned())
}

#[cfg(test)]
mod tests {
    use planesmith_access::authentication::service_account::{SigningKey, key_set};

    use super::*;

    #[test]
    fn the_key_is_published_as_kube_apiserver_publishes_one_of_kubeadm() {
        let pem = generate().unwrap();
        let key = SigningKey::from_pem(pem.as_bytes()).unwrap();
        let published = &key_set(std::slice::from_ref(key.public()))["keys"][0];
        assert_eq!((&published["kty"], &published["alg"]), (&"RSA".into(), &"RS256".into()));
        assert_eq!(published["e"], "AQAB");
        assert_eq!(published["n"].as_str().map(str::len), Some(BITS.div_ceil(6)));
    }
}

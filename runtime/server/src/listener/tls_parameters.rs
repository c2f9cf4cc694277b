//! Versions, cipher suites and curves of TLS handshakes.

use rustls::crypto::{CryptoProvider, SupportedKxGroup, ring};
use rustls::version::{TLS12, TLS13};
use rustls::{SupportedCipherSuite, SupportedProtocolVersion};

/// Cipher suites of TLS 1.2 by their names in flags. Those of TLS 1.3 cannot be chosen, as in Go.
const SUITES: [(&str, SupportedCipherSuite); 8] = [
    (
        "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
        ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
        ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305",
        ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
        ring::cipher_suite::TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
        ring::cipher_suite::TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
        ring::cipher_suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    ),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305",
        ring::cipher_suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
    (
        "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
        ring::cipher_suite::TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
    ),
];

/// Suites of TLS 1.3, which are always on and may be named.
const ALWAYS: [&str; 3] = [
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
];

/// Suites that kube-apiserver knows, too weak to be offered here.
const WEAK: [&str; 14] = [
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_ECDSA_WITH_RC4_128_SHA",
    "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA",
    "TLS_ECDHE_RSA_WITH_RC4_128_SHA",
    "TLS_RSA_WITH_3DES_EDE_CBC_SHA",
    "TLS_RSA_WITH_AES_128_CBC_SHA",
    "TLS_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_RSA_WITH_AES_256_CBC_SHA",
    "TLS_RSA_WITH_AES_256_GCM_SHA384",
];

/// Curves by their numbers in TLS.
const CURVES: [(u32, &dyn SupportedKxGroup); 3] = [
    (23, ring::kx_group::SECP256R1),
    (24, ring::kx_group::SECP384R1),
    (29, ring::kx_group::X25519),
];

/// Versions by their names in flags; older ones than 1.2 are not offered.
const VERSIONS: [(&str, bool); 4] = [
    ("VersionTLS10", false),
    ("VersionTLS11", false),
    ("VersionTLS12", false),
    ("VersionTLS13", true),
];

static NEWEST: [&SupportedProtocolVersion; 1] = [&TLS13];
static SAFE: [&SupportedProtocolVersion; 2] = [&TLS13, &TLS12];

/// Versions, cipher suites and curves of handshakes. The default are all that are safe.
#[derive(Clone, Debug, Default)]
pub struct TlsParameters {
    only_newest: bool,
    refuses_http2: bool,
    suites: Vec<SupportedCipherSuite>,
    curves: Vec<&'static dyn SupportedKxGroup>,
}

impl TlsParameters {
    /// Reads the values of flags; empty ones are the defaults. Old versions, weak suites and unknown curves are left out, if
    /// others remain.
    ///
    /// # Errors
    ///
    /// The value that is unknown, or that leaves nothing.
    pub fn parse(oldest: &str, suites: &[String], curves: &[u32]) -> Result<Self, String> {
        let version = VERSIONS.iter().find(|(name, _)| *name == oldest);
        let only_newest = match (oldest, version) {
            ("", _) => false,
            (_, Some((_, only_newest))) => *only_newest,
            (name, None) => {
                let names = VERSIONS.map(|(name, _)| name).join(", ");
                return Err(format!("--tls-min-version is {name}; expected one of {names}"));
            }
        };
        Ok(Self {
            only_newest,
            refuses_http2: false,
            suites: parse_suites(suites)?,
            curves: parse_curves(curves)?,
        })
    }

    /// Offers HTTP/2 beside HTTP/1.1, which is the default, or not.
    #[must_use]
    pub fn with_http2(self, offered: bool) -> Self {
        let refuses_http2 = !offered;
        Self { refuses_http2, ..self }
    }

    /// Returns the protocols that handshakes offer, the preferred one first.
    pub(super) fn protocols(&self) -> Vec<Vec<u8>> {
        let protocols: &[&[u8]] = match self.refuses_http2 {
            true => &[b"http/1.1"],
            false => &[b"h2", b"http/1.1"],
        };
        protocols.iter().map(|protocol| protocol.to_vec()).collect()
    }

    /// Returns the cryptography of handshakes.
    pub(super) fn provider(&self) -> CryptoProvider {
        let mut provider = ring::default_provider();
        if !self.suites.is_empty() {
            let is_chosen = |suite: &SupportedCipherSuite| suite.tls13().is_some() || self.suites.contains(suite);
            provider.cipher_suites.retain(is_chosen);
        }
        if !self.curves.is_empty() {
            provider.kx_groups.clone_from(&self.curves);
        }
        provider
    }

    /// Returns the versions that are offered.
    pub(super) fn versions(&self) -> &'static [&'static SupportedProtocolVersion] {
        if self.only_newest { &NEWEST } else { &SAFE }
    }
}

fn parse_suites(names: &[String]) -> Result<Vec<SupportedCipherSuite>, String> {
    let mut suites = Vec::new();
    for name in names {
        if let Some((_, suite)) = SUITES.iter().find(|(known, _)| known == name) {
            suites.push(*suite);
        } else if WEAK.contains(&name.as_str()) {
            tracing::warn!(
                suite = name,
                "--tls-cipher-suites has a suite that is not offered because it is weak"
            );
        } else if !ALWAYS.contains(&name.as_str()) {
            return Err(format!("--tls-cipher-suites has {name}, which does not exist"));
        }
    }
    let is_named = |name: &String| ALWAYS.contains(&name.as_str());
    if suites.is_empty() && !names.is_empty() && !names.iter().any(is_named) {
        let offered = SUITES.map(|(name, _)| name).join(", ");
        return Err(format!(
            "--tls-cipher-suites leaves no suite; expected some of {offered}"
        ));
    }
    Ok(suites)
}

fn parse_curves(numbers: &[u32]) -> Result<Vec<&'static dyn SupportedKxGroup>, String> {
    let mut curves: Vec<&'static dyn SupportedKxGroup> = Vec::new();
    for number in numbers {
        match CURVES.iter().find(|(known, _)| known == number) {
            Some((_, curve)) => curves.push(*curve),
            None => tracing::warn!(
                curve = number,
                "--tls-curve-preferences has a curve that is not offered"
            ),
        }
    }
    match curves.is_empty() && !numbers.is_empty() {
        true => Err(
            "--tls-curve-preferences leaves no curve; expected some of 23 (P-256), 24 (P-384), 29 (X25519)".to_owned(),
        ),
        false => Ok(curves),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(oldest: &str, suites: &[&str], curves: &[u32]) -> Result<TlsParameters, String> {
        let suites: Vec<String> = suites.iter().map(|name| (*name).to_owned()).collect();
        TlsParameters::parse(oldest, &suites, curves)
    }

    #[test]
    fn the_defaults_are_all_that_is_safe() {
        let parameters = parse("", &[], &[]).unwrap();
        let (provider, all) = (parameters.provider(), ring::default_provider());
        assert_eq!(provider.cipher_suites, all.cipher_suites);
        assert_eq!(provider.kx_groups.len(), all.kx_groups.len());
        assert_eq!(parameters.versions().len(), 2);
        assert_eq!(parse("VersionTLS10", &[], &[]).unwrap().versions().len(), 2);
        assert_eq!(parse("VersionTLS13", &[], &[]).unwrap().versions().len(), 1);
    }

    #[test]
    fn suites_and_curves_can_be_chosen() {
        let suites = ["TLS_RSA_WITH_AES_128_CBC_SHA", "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"];
        let provider = parse("", &suites, &[24, 4588]).unwrap().provider();
        let old: Vec<_> = provider
            .cipher_suites
            .iter()
            .filter(|suite| suite.tls13().is_none())
            .collect();
        assert_eq!(old, [&ring::cipher_suite::TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]);
        assert_eq!(provider.cipher_suites.len(), 4, "those of TLS 1.3 stay");
        assert_eq!(provider.kx_groups.len(), 1);
    }

    #[test]
    fn invalid_tls_parameters_are_refused() {
        for (problem, found) in [
            (
                parse("VersionTLS14", &[], &[]),
                "--tls-min-version is VersionTLS14; expected one of",
            ),
            (
                parse("", &["TLS_NULL"], &[]),
                "--tls-cipher-suites has TLS_NULL, which does not exist",
            ),
            (
                parse("", &["TLS_RSA_WITH_AES_128_CBC_SHA"], &[]),
                "--tls-cipher-suites leaves no suite; expected some of",
            ),
            (
                parse("", &[], &[25]),
                "--tls-curve-preferences leaves no curve; expected some of",
            ),
        ] {
            let problem = problem.unwrap_err();
            assert!(problem.starts_with(found), "{problem}");
        }
    }
}

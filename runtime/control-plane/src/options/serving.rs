//! Flags about TLS and HTTP/2.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args};
use planesmith_server::listener::{NamedCertificate, TlsParameters};

use super::parse_go_duration;

/// The largest share of requests after which a connection is closed; kube-apiserver's.
const MAX_CLOSED: f64 = 0.02;

/// Flags about TLS and HTTP/2.
#[derive(Args, Clone, Debug)]
pub struct ServingOptions {
    /// Certificate and key, PEM, for clients that request one of the names (SNI); the names default to those in the
    /// certificate. May be repeated; of several for a name the first one counts.
    #[arg(long, value_name = "FILE,FILE[:NAMES]")]
    pub tls_sni_cert_key: Vec<NamedCertificate>,

    /// Oldest version of TLS that is offered: VersionTLS12 or VersionTLS13 [default: VersionTLS12]. Older ones are accepted
    /// as VersionTLS12.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "VERSION")]
    pub tls_min_version: String,

    /// Cipher suites of TLS 1.2 [default: all that are safe]. Those of TLS 1.3 are always offered.
    #[arg(long, value_delimiter = ',', value_name = "SUITES")]
    pub tls_cipher_suites: Vec<String>,

    /// Curves for key exchange by their numbers in TLS, the preferred one first: 23 P-256, 24 P-384, 29 X25519 [default: all
    /// of them].
    #[arg(long, value_delimiter = ',', value_name = "NUMBERS")]
    pub tls_curve_preferences: Vec<u32>,

    /// Probability, 0 to 0.02, that an HTTP/2 connection is closed after a request, so that its client may reach another
    /// server behind the same load balancer. Not for a single server.
    #[arg(long, default_value_t = 0.0, value_name = "PROBABILITY")]
    pub goaway_chance: f64,

    /// Time from the start during which /livez does not fail, whatever takes long to start.
    #[arg(long, default_value = "0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub livez_grace_period: Duration,

    /// Socket with /metrics, /flagz, /statusz and /debug/api_priority_and_fairness/ for troubleshooting, without credentials: only the
    /// user of the server may open it. Profiles of Go do not exist here.
    #[arg(long, value_name = "SOCKET")]
    pub debug_socket_path: Option<PathBuf>,

    /// Offer HTTP/1.1 only.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub disable_http2_serving: bool,

    /// Let other processes listen on the same port (SO_REUSEPORT), for example the next server while this one ends.
    #[arg(long, action = ArgAction::Set, num_args = 0..=1, default_missing_value = "true", default_value_t = false, value_name = "BOOL")]
    pub permit_port_sharing: bool,

    /// Host, or HOST:PORT, under which clients reach the server, in discovery and in the address of keys for service account
    /// tokens [default: the advertised address].
    #[arg(long, default_value = "", hide_default_value = true, value_name = "HOST")]
    pub external_hostname: String,
}

impl ServingOptions {
    /// Returns versions, cipher suites and curves.
    ///
    /// # Errors
    ///
    /// The flag whose value cannot be used.
    pub fn parameters(&self) -> Result<TlsParameters, String> {
        let parameters = TlsParameters::parse(
            &self.tls_min_version,
            &self.tls_cipher_suites,
            &self.tls_curve_preferences,
        )?;
        Ok(parameters.with_http2(!self.disable_http2_serving))
    }

    /// Checks the flags.
    pub(super) fn check(&self) -> Result<(), String> {
        self.parameters()?;
        if !(0.0..=MAX_CLOSED).contains(&self.goaway_chance) {
            return Err(format!(
                "--goaway-chance is {}; expected 0 to {MAX_CLOSED}",
                self.goaway_chance
            ));
        }
        for named in &self.tls_sni_cert_key {
            for file in [&named.certificate, &named.key] {
                super::check_readable("--tls-sni-cert-key", file)?;
            }
        }
        Ok(())
    }
}

/// Checks that patterns for origins match hosts as a whole: a page of `https://good.example.com.evil.example` must not pass.
pub(super) fn check_origins(patterns: &[String]) -> Result<(), String> {
    let has = |pattern: &String, marks: [&str; 2]| marks.iter().any(|mark| pattern.contains(mark));
    let loose = patterns
        .iter()
        .find(|pattern| !has(pattern, ["^", "//"]) || !has(pattern, ["$", ":"]));
    match loose {
        None => Ok(()),
        Some(pattern) => Err(format!(
            "--cors-allowed-origins has `{pattern}`, which does not pin the start and the end of the host; expected ^ or // \
             before it, and $ or : behind it"
        )),
    }
}

/// Checks the directives of the header `Strict-Transport-Security`.
pub(super) fn check_transport(directives: &[String]) -> Result<(), String> {
    let is_age = |directive: &str| {
        let age = directive.strip_prefix("max-age=");
        age.is_some_and(|age| !age.contains('='))
    };
    let is_known = |directive: &str| ["includeSubDomains", "preload"].contains(&directive) || is_age(directive);
    match directives.iter().find(|directive| !is_known(directive)) {
        None => Ok(()),
        Some(directive) => Err(format!(
            "--strict-transport-security-directives has `{directive}`; expected max-age=N, includeSubDomains or preload"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(|text| (*text).to_owned()).collect()
    }

    #[test]
    fn origins_are_pinned_to_hosts() {
        assert!(check_origins(&texts(&["^https://a[.]example[.]com$", "//a[.]example[.]com(:|$)"])).is_ok());
        for loose in ["a.example.com", "^a.example.com", "a.example.com$", "//a.example.com"] {
            assert!(check_origins(&texts(&[loose])).is_err(), "{loose}");
        }
    }

    #[test]
    fn directives_are_known() {
        assert!(check_transport(&texts(&["max-age=31536000", "includeSubDomains", "preload"])).is_ok());
        for unknown in ["", "max-age", "max-age=1=2", "includesubdomains", "preload;"] {
            assert!(check_transport(&texts(&[unknown])).is_err(), "{unknown}");
        }
    }
}

//! The settings of a store in etcd.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::Uri;
use rustls::ClientConfig;

use crate::dial::Dial;

/// The settings of a store in etcd. The defaults are those of kube-apiserver's flags.
#[derive(Clone)]
pub struct Config {
    /// The URLs of the members, e.g. `https://10.0.0.1:2379`; without a scheme `http` is assumed. Any of them is used.
    pub endpoints: Vec<String>,
    /// The prefix of all keys in etcd, in place of the `/registry` with which the keys of the store begin. Default:
    /// `/registry`.
    pub prefix: String,
    /// The trusted authorities and the client's certificate, for endpoints with `https`. ALPN protocols are set here.
    pub tls: Option<Arc<ClientConfig>>,
    /// Opens the connections; `None` for direct ones.
    pub dial: Option<Arc<dyn Dial>>,
    /// The interval of compactions, which one of all servers performs; zero means never. Default: 5 minutes.
    pub compaction_interval: Duration,
    /// Time for which new objects are attached to the same lease; they live longer by this time at most, or by a
    /// twentieth of their TTL if that is less. Default: 60 seconds.
    pub lease_reuse: Duration,
    /// Maximum number of objects of one lease. Default: 1,000.
    pub lease_objects: u64,
    /// Maximum time that [`Etcd::connect`](crate::Etcd::connect) waits for a member. Default: 20 seconds.
    pub connect_timeout: Duration,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            endpoints: Vec::new(),
            prefix: "/registry".to_owned(),
            tls: None,
            dial: None,
            compaction_interval: Duration::from_secs(300),
            lease_reuse: Duration::from_secs(60),
            lease_objects: 1000,
            connect_timeout: Duration::from_secs(20),
        }
    }
}

/// The reason that a setting cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// There is no endpoint.
    #[error("no etcd server is given")]
    NoEndpoint,
    /// An endpoint is not a URL of a host.
    #[error("the etcd server {0:?} is not a URL such as https://127.0.0.1:2379")]
    Endpoint(String),
    /// An endpoint has `https`, and there are no trusted authorities.
    #[error("the etcd server {0:?} needs the file of a trusted certificate authority")]
    NoTls(String),
}

impl Config {
    /// Checks the settings without connecting.
    ///
    /// # Errors
    ///
    /// See [`ConfigError`].
    pub fn check(&self) -> Result<(), ConfigError> {
        self.uris().map(drop)
    }

    /// Returns the endpoints with scheme and port.
    pub(crate) fn uris(&self) -> Result<Vec<Uri>, ConfigError> {
        if self.endpoints.is_empty() {
            return Err(ConfigError::NoEndpoint);
        }
        self.endpoints.iter().map(|endpoint| self.uri(endpoint)).collect()
    }

    fn uri(&self, endpoint: &str) -> Result<Uri, ConfigError> {
        let wrong = || ConfigError::Endpoint(endpoint.to_owned());
        let url = match endpoint.contains("://") {
            true => endpoint.to_owned(),
            false => format!("http://{endpoint}"),
        };
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        match uri.scheme_str() {
            Some("http") => {}
            Some("https") if self.tls.is_none() => return Err(ConfigError::NoTls(endpoint.to_owned())),
            Some("https") => {}
            _ => return Err(wrong()),
        }
        let is_host = uri.host().is_some_and(|host| !host.is_empty()) && matches!(uri.path(), "" | "/");
        if is_host && uri.query().is_none() {
            Ok(uri)
        } else {
            Err(wrong())
        }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Config")
            .field("endpoints", &self.endpoints)
            .field("prefix", &self.prefix)
            .field("tls", &self.tls.is_some())
            .field("dial", &self.dial)
            .field("compaction_interval", &self.compaction_interval)
            .field("lease_reuse", &self.lease_reuse)
            .field("lease_objects", &self.lease_objects)
            .field("connect_timeout", &self.connect_timeout)
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, ConfigError};

    fn uris(endpoints: &[&str]) -> Result<Vec<String>, ConfigError> {
        let config = Config {
            endpoints: endpoints.iter().map(|&endpoint| endpoint.to_owned()).collect(),
            ..Config::default()
        };
        config.uris().map(|uris| uris.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn endpoints_are_urls_of_hosts() {
        let all = uris(&["http://127.0.0.1:2379", "etcd.example:2379", "http://[::1]:2379/"]);
        let expected = [
            "http://127.0.0.1:2379/",
            "http://etcd.example:2379/",
            "http://[::1]:2379/",
        ];
        assert_eq!(all.unwrap(), expected);
        for wrong in ["", "http://", "ftp://host", "http://host/path", "http://host/?x", "a b"] {
            assert_eq!(uris(&[wrong]), Err(ConfigError::Endpoint(wrong.to_owned())), "{wrong}");
        }
        assert_eq!(uris(&[]), Err(ConfigError::NoEndpoint));
        let secure = "https://127.0.0.1:2379";
        assert_eq!(uris(&[secure]), Err(ConfigError::NoTls(secure.to_owned())));
    }
}

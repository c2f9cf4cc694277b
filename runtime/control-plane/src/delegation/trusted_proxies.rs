//! Follows the proxies that the server in front trusts, and the headers in which they name the user.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use planesmith_access::authentication::{RequestHeaderAuthenticator, RequestHeaders};
use planesmith_machinery::der::decode;
use planesmith_machinery::pem;
use planesmith_server::hooks::{Hook, HookError};
use planesmith_server::listener::{Authorities, Tls};
use serde_json::Value;
use x509_cert::Certificate;

use super::Host;
use crate::bootstrap::cluster_authentication;
use planesmith_server::task;

const PATH: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/// The time between two reads: authorities change rarely, and old and new ones overlap for long.
const INTERVAL: Duration = Duration::from_secs(60);

/// The delay after a failure until the next read.
const RETRY: Duration = Duration::from_secs(1);

/// Follows the settings that the server in front publishes for servers behind it.
pub(crate) struct TrustedProxies {
    pub(crate) host: Host,
    pub(crate) tls: Arc<Tls>,
    pub(crate) authenticator: RequestHeaderAuthenticator,
    /// The headers that the flags set; in use unless the proxies are those of the server in front.
    pub(crate) own: RequestHeaders,
    pub(crate) lookup: Lookup,
    /// True if the server starts although nothing can be read.
    pub(crate) tolerant: bool,
}

impl TrustedProxies {
    /// Returns the hook that reads the settings once, and then follows them.
    pub(crate) fn hook(self) -> Hook {
        Hook::new("start-authentication-lookup", move |mut shutdown| async move {
            let mut known = match self.read().await {
                Err(error) if !self.tolerant => {
                    let advice = "set --authentication-tolerate-lookup-failure to start all the same";
                    return Err(HookError(format!("{PATH} cannot be read: {error}; {advice}")));
                }
                read => read.is_ok(),
            };
            task::spawn(async move {
                loop {
                    let wait = if known { INTERVAL } else { RETRY };
                    tokio::select! {
                        () = shutdown.requested() => return,
                        () = tokio::time::sleep(wait) => {}
                    }
                    let read = self.read().await;
                    if let Err(error) = &read {
                        tracing::warn!(error, "the trusted authorities cannot be read from the server in front");
                    }
                    known = read.is_ok();
                }
            });
            Ok(())
        })
    }

    async fn read(&self) -> Result<(), String> {
        let config_map = self.host.send(Method::GET, PATH, None).await?;
        let published = Published::read(config_map.get("data").unwrap_or(&Value::Null))?;
        let (authorities, headers) = self.lookup.taken(published, &self.own);
        self.tls.trust(authorities).map_err(|error| error.to_string())?;
        self.authenticator.set(headers);
        Ok(())
    }
}

/// The settings that the flags leave to the server in front. If the flags name authorities, none are added to
/// those.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lookup {
    /// True if the authorities of client certificates are read.
    pub(crate) clients: bool,
    /// True if the authorities of proxies' certificates, the names of proxies, and the headers in which they name the
    /// user are read.
    pub(crate) proxies: bool,
}

impl Lookup {
    /// Selects from the published settings those that `own`, the flags, leave open. The authorities of proxies, their
    /// names and their headers belong together: they are taken from one side.
    fn taken(self, published: Published, own: &RequestHeaders) -> (Authorities, RequestHeaders) {
        let mut authorities = Authorities::default();
        if self.clients {
            authorities.clients = published.clients;
        }
        if !self.proxies || published.proxies.is_empty() {
            return (authorities, own.clone());
        }
        authorities.proxies = published.proxies;
        (authorities, published.headers)
    }
}

/// The data of the ConfigMap.
#[derive(Debug)]
struct Published {
    clients: Vec<u8>,
    proxies: Vec<u8>,
    headers: RequestHeaders,
}

impl Published {
    /// Reads the data of the ConfigMap. A missing entry is empty; an entry that is no list or certificate is an
    /// error, because an empty list of names would allow any name.
    fn read(data: &Value) -> Result<Self, String> {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let authorities = |key: &str| match text(key) {
            bundle if bundle.is_empty() || is_bundle(bundle) => Ok(bundle.as_bytes().to_vec()),
            _ => Err(format!("{key} contains something other than certificates")),
        };
        let mut headers = RequestHeaders::default();
        for (key, list) in cluster_authentication::lists(&mut headers) {
            let said = text(key);
            if !said.is_empty() {
                *list = serde_json::from_str(said).map_err(|error| format!("{key} is no list: {error}"))?;
            }
        }
        Ok(Self {
            clients: authorities(cluster_authentication::CLIENT_AUTHORITIES)?,
            proxies: authorities(cluster_authentication::PROXY_AUTHORITIES)?,
            headers,
        })
    }
}

/// True if a text is in PEM form and has a certificate that can be parsed; other blocks are ignored.
fn is_bundle(text: &str) -> bool {
    pem::contents(text.as_bytes(), pem::CERTIFICATE).any(|der| decode::<Certificate>(&der).is_ok())
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::clock::SystemClock;
    use serde_json::json;

    use super::*;
    use crate::certificates::Authority;

    const BOTH: Lookup = Lookup {
        clients: true,
        proxies: true,
    };

    fn own() -> RequestHeaders {
        RequestHeaders {
            username: vec!["X-Remote-User".to_owned()],
            allowed_names: vec!["front-proxy-client".to_owned()],
            ..RequestHeaders::default()
        }
    }

    fn authority() -> String {
        let dir = tempfile::tempdir().unwrap();
        Authority::open(dir.path(), Arc::new(SystemClock))
            .unwrap()
            .certificate_pem()
            .to_owned()
    }

    /// Returns the names and headers in effect when the ConfigMap has a proxy authority and these names.
    fn believed(lookup: Lookup, authority: &str, names: &str) -> Result<(bool, Vec<String>, Vec<String>), String> {
        let published = Published::read(&json!({
            "requestheader-client-ca-file": authority,
            "requestheader-username-headers": r#"["X-User"]"#,
            "requestheader-allowed-names": names,
        }))?;
        let (authorities, headers) = lookup.taken(published, &own());
        Ok((!authorities.proxies.is_empty(), headers.allowed_names, headers.username))
    }

    fn said(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn proxies_are_believed_as_their_authorities_are_published() {
        let authority = authority();
        let aggregator = believed(BOTH, &authority, r#"["aggregator"]"#);
        assert_eq!(aggregator, Ok((true, said(&["aggregator"]), said(&["X-User"]))));
        let described = format!("# of the aggregator\n{authority}# the end\n");
        assert_eq!(believed(BOTH, &described, r#"["aggregator"]"#), aggregator);
        let everybody = believed(BOTH, &authority, "");
        assert_eq!(everybody, Ok((true, said(&[]), said(&["X-User"]))));
    }

    #[test]
    fn nothing_is_added_to_authorities_of_the_flags() {
        let flags = Lookup { proxies: false, ..BOTH };
        let own = Ok((false, said(&["front-proxy-client"]), said(&["X-Remote-User"])));
        assert_eq!(believed(flags, &authority(), ""), own);
        // Names and headers without an authority are ignored.
        assert_eq!(believed(BOTH, "", "[]"), own);
        let published = json!({"client-ca-file": authority()});
        let flags = Lookup { clients: false, ..BOTH };
        let (authorities, _) = flags.taken(Published::read(&published).unwrap(), &RequestHeaders::default());
        assert!(authorities.clients.is_empty());
        let (authorities, _) = BOTH.taken(Published::read(&published).unwrap(), &RequestHeaders::default());
        assert!(!authorities.clients.is_empty());
    }

    #[test]
    fn an_unreadable_configuration_is_not_an_empty_one() {
        let authority = authority();
        for (authority, names) in [
            (authority.as_str(), "oops"),
            (authority.as_str(), r#"{"a": "b"}"#),
            (authority.as_str(), "[1]"),
            ("oops", "[]"),
            ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n", "[]"),
        ] {
            assert!(believed(BOTH, authority, names).is_err(), "{names}");
        }
    }
}

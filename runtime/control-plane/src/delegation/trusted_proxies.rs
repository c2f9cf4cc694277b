//! Whom the server in front believes, and by which headers it says who asks.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use planesmith_access::authentication::{RequestHeaderAuthenticator, RequestHeaders};
use planesmith_server::hooks::{Hook, HookError};
use planesmith_server::listener::{Authorities, Tls};
use serde_json::Value;

use super::Host;
use crate::bootstrap::cluster_authentication;

const PATH: &str = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";

/// How often it is read again: authorities change rarely, and are valid together for long.
const EVERY: Duration = Duration::from_secs(60);

/// How long after a failure it is read again.
const RETRY: Duration = Duration::from_secs(1);

/// Follows what the server in front publishes for servers behind it.
pub(crate) struct TrustedProxies {
    pub(crate) host: Host,
    pub(crate) tls: Arc<Tls>,
    pub(crate) authenticator: RequestHeaderAuthenticator,
    /// What the flags say; it goes on to hold.
    pub(crate) own: RequestHeaders,
    /// Whether the server starts when nothing can be read.
    pub(crate) tolerant: bool,
}

impl TrustedProxies {
    /// Reads once, and then follows.
    pub(crate) fn hook(self) -> Hook {
        Hook::new("start-authentication-lookup", move |mut shutdown| async move {
            let mut known = match self.read().await {
                Err(error) if !self.tolerant => {
                    let advice = "set --authentication-tolerate-lookup-failure to start all the same";
                    return Err(HookError(format!("{PATH} cannot be read: {error}; {advice}")));
                }
                read => read.is_ok(),
            };
            tokio::spawn(async move {
                loop {
                    let wait = if known { EVERY } else { RETRY };
                    tokio::select! {
                        () = shutdown.requested() => return,
                        () = tokio::time::sleep(wait) => {}
                    }
                    let read = self.read().await;
                    if let Err(error) = &read {
                        tracing::warn!(error, "whom to believe cannot be read from the server in front");
                    }
                    known = read.is_ok();
                }
            });
            Ok(())
        })
    }

    async fn read(&self) -> Result<(), String> {
        let config_map = self.host.send(Method::GET, PATH, None).await?;
        let text = |key: &str| {
            let value = config_map.get("data").and_then(|data| data.get(key));
            value.and_then(Value::as_str).unwrap_or_default()
        };
        let authorities = Authorities {
            clients: text(cluster_authentication::CLIENT_AUTHORITIES).as_bytes().to_vec(),
            proxies: text(cluster_authentication::PROXY_AUTHORITIES).as_bytes().to_vec(),
        };
        self.tls.trust(authorities).map_err(|error| error.to_string())?;
        self.authenticator.set(united(&self.own, text));
        Ok(())
    }
}

/// The headers of `own` and of the ConfigMap. When either side believes all names, all are believed.
fn united<'t>(own: &RequestHeaders, text: impl Fn(&str) -> &'t str) -> RequestHeaders {
    let mut headers = own.clone();
    for (key, list) in cluster_authentication::lists(&mut headers) {
        let more: Vec<String> = serde_json::from_str(text(key)).unwrap_or_default();
        if key == cluster_authentication::ALLOWED_NAMES && (list.is_empty() || more.is_empty()) {
            list.clear();
            continue;
        }
        for value in more {
            if !list.contains(&value) {
                list.push(value);
            }
        }
    }
    headers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_published_adds_to_the_flags() {
        let own = RequestHeaders {
            username: vec!["X-Remote-User".to_owned()],
            allowed_names: vec!["front-proxy-client".to_owned()],
            ..RequestHeaders::default()
        };
        let publish = |names: &'static str| {
            united(&own, move |key| match key {
                "requestheader-username-headers" => r#"["X-Remote-User","X-User"]"#,
                "requestheader-allowed-names" => names,
                _ => "",
            })
        };
        let headers = publish(r#"["aggregator"]"#);
        assert_eq!(headers.username, ["X-Remote-User", "X-User"]);
        assert_eq!(headers.allowed_names, ["front-proxy-client", "aggregator"]);
        assert!(publish("[]").allowed_names.is_empty());
    }
}

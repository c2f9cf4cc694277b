//! The documents of an issuer: its discovery document, and its keys.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use arc_swap::{ArcSwap, ArcSwapOption};
use http::HeaderMap;
use planesmith_access::authentication::SingleFlight;
use planesmith_server::metrics::IssuerMetrics;
use planesmith_server::proxy::Link;
use serde::Deserialize;

use crate::https_url::HttpsUrl;
use crate::json_web_key::KeySet;

/// The path of the discovery document behind the URL of an issuer.
const WELL_KNOWN: &str = "/.well-known/openid-configuration";

/// The time between two attempts to read the discovery document; kube-apiserver's.
const RETRY: Duration = Duration::from_secs(10);

/// The shortest time between two requests for keys. Anyone can send tokens that no key has signed.
const MIN_INTERVAL: Duration = Duration::from_secs(1);

/// The current keys of an issuer, or the reason that there are none.
type Keys = Result<Arc<KeySet>, String>;

/// An issuer, and its documents.
#[derive(Debug)]
pub(crate) struct Provider {
    issuer: String,
    discovery: HttpsUrl,
    link: Link,
    metrics: Option<Arc<IssuerMetrics>>,
    /// The URL of the keys; `None` until the discovery document is read.
    keys_url: ArcSwapOption<HttpsUrl>,
    keys: ArcSwap<KeySet>,
    pending: SingleFlight<(), Keys>,
    /// The time of the last request for keys.
    last: Mutex<Option<Instant>>,
}

/// The members of a discovery document that matter here.
#[derive(Deserialize)]
struct Discovery {
    #[serde(default)]
    issuer: String,
    #[serde(default)]
    jwks_uri: String,
}

impl Provider {
    /// Creates a provider whose documents are read over `link`. The discovery document is at its usual path, or at `discovery`.
    ///
    /// # Errors
    ///
    /// The URL cannot be used.
    pub(crate) fn new(
        issuer: &str,
        discovery: &str,
        link: Link,
        metrics: Option<Arc<IssuerMetrics>>,
    ) -> Result<Self, String> {
        let url = match discovery {
            "" => format!("{}{WELL_KNOWN}", issuer.trim_end_matches('/')),
            url => url.to_owned(),
        };
        Ok(Self {
            issuer: issuer.to_owned(),
            discovery: HttpsUrl::parse(&url)?,
            link,
            metrics,
            keys_url: ArcSwapOption::empty(),
            keys: ArcSwap::default(),
            pending: SingleFlight::default(),
            last: Mutex::default(),
        })
    }

    /// The same provider, with these keys.
    #[cfg(test)]
    pub(crate) fn with_keys(self, keys: KeySet) -> Self {
        self.keys.store(Arc::new(keys));
        self
    }

    pub(crate) fn issuer(&self) -> &str {
        &self.issuer
    }

    /// True once the discovery document was read.
    pub(crate) fn is_discovered(&self) -> bool {
        self.keys_url.load().is_some()
    }

    /// The keys that were read last; none before the first token.
    pub(crate) fn known_keys(&self) -> Arc<KeySet> {
        self.keys.load_full()
    }

    /// Reads the discovery document, again and again until it can be read.
    pub(crate) async fn discover_repeatedly(self: Arc<Self>) {
        while let Err(error) = self.discover().await {
            tracing::error!(
                issuer = self.issuer,
                error,
                "the issuer of tokens cannot be discovered; its tokens are refused until then"
            );
            tokio::time::sleep(RETRY).await;
        }
        tracing::info!(issuer = self.issuer, "the issuer of tokens is discovered");
        // The first token finds the keys here.
        let _ = self.refreshed_keys().await;
    }

    /// Reads the discovery document once.
    ///
    /// # Errors
    ///
    /// It cannot be read, or is that of another issuer.
    pub(crate) async fn discover(&self) -> Result<(), String> {
        let document = self.discovery.get(&self.link, &HeaderMap::new()).await?;
        let document: Discovery = serde_json::from_slice(&document)
            .map_err(|error| format!("oidc: failed to decode provider discovery object: {error}"))?;
        if document.issuer != self.issuer {
            return Err(format!(
                "oidc: issuer did not match the issuer returned by provider, expected {:?} got {:?}",
                self.issuer, document.issuer
            ));
        }
        let url = HttpsUrl::parse(&document.jwks_uri).map_err(|error| format!("jwks_uri: {error}"))?;
        self.keys_url.store(Some(Arc::new(url)));
        Ok(())
    }

    /// Reads the keys again. Callers at the same time share one request, and requests have a shortest distance.
    ///
    /// # Errors
    ///
    /// The keys cannot be read; those that were read before stay in use.
    pub(crate) async fn refreshed_keys(self: &Arc<Self>) -> Keys {
        let (keys, leads) = self.join();
        let keys = keys.await;
        if leads {
            return keys;
        }
        // The request of others may have been answered before the issuer had its newest key.
        self.join().0.await
    }

    fn join(self: &Arc<Self>) -> (impl Future<Output = Keys> + Send + use<>, bool) {
        self.pending.join(&(), || {
            let provider = Arc::clone(self);
            async move { provider.fetch_keys().await }
        })
    }

    async fn fetch_keys(&self) -> Keys {
        tokio::time::sleep(self.pause()).await;
        // Noted when the request is sent, not before: clients that give up while they wait must not delay others.
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
        let keys = self.read_keys().await;
        match &keys {
            Ok(keys) => self.keys.store(Arc::clone(keys)),
            Err(error) => {
                tracing::warn!(
                    issuer = self.issuer,
                    error,
                    "the keys of the issuer of tokens cannot be read"
                );
            }
        }
        if let Some(metrics) = &self.metrics {
            metrics.keys_read(keys.as_ref().ok().map(|keys| keys.digest()));
        }
        keys
    }

    async fn read_keys(&self) -> Keys {
        let url = self.keys_url.load_full();
        let url = url.ok_or_else(|| "oidc: authenticator not initialized".to_owned())?;
        let document = url.get(&self.link, &HeaderMap::new()).await;
        let document = document.map_err(|error| format!("oidc: get keys failed: {error}"))?;
        Ok(Arc::new(KeySet::parse(&document)?))
    }

    /// Returns the time until keys may be requested again.
    fn pause(&self) -> Duration {
        let last = *self.last.lock().unwrap_or_else(PoisonError::into_inner);
        last.map_or(Duration::ZERO, |last| {
            (last + MIN_INTERVAL).saturating_duration_since(Instant::now())
        })
    }
}

//! The documents of OpenID Connect discovery, by which others verify tokens themselves.

use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::request::Parts;
use planesmith_access::authentication::service_account::{KeyRing, PublicKey, key_set_document};
use planesmith_server::chain::ApiServer;
use planesmith_server::negotiation::{Output, check_produced};
use planesmith_server::response;
use serde::Serialize;

use super::ServiceAccountKeys;

const CONFIGURATION_PATH: &str = "/.well-known/openid-configuration";
const KEYS_PATH: &str = "/openid/v1/jwks";
const KEYS_TYPE: &str = "application/jwk-set+json";

/// A document that is rendered when it is requested: at start the keys may not exist yet.
#[derive(Clone)]
struct Document {
    media_type: &'static str,
    keys: KeyRing,
    write: Arc<dyn Fn() -> String + Send + Sync>,
}

/// Serves the documents, if the issuer is a URL that clients can reach. `keys_url` is the URL of the keys, if that is
/// not this server at `public_address`.
pub(crate) fn with_openid(
    server: ApiServer,
    keys: &ServiceAccountKeys,
    public_address: &str,
    keys_url: Option<&str>,
) -> ApiServer {
    let Some(issuer) = keys.issuers.first().filter(|issuer| issuer.starts_with("https://")) else {
        return server;
    };
    let keys_url = keys_url.map_or_else(|| format!("https://{public_address}{KEYS_PATH}"), str::to_owned);
    let (issuer, ring) = (issuer.clone(), keys.keys.clone());
    let configuration = Document {
        media_type: "application/json",
        keys: keys.keys.clone(),
        write: Arc::new(move || configuration(&issuer, &keys_url, &ring.public())),
    };
    let ring = keys.keys.clone();
    let keys = Document {
        media_type: KEYS_TYPE,
        keys: keys.keys.clone(),
        write: Arc::new(move || key_set_document(&ring.public())),
    };
    let server = with_document(server, CONFIGURATION_PATH, configuration);
    with_document(server, KEYS_PATH, keys)
}

/// Serves `document` at `path`.
fn with_document(server: ApiServer, path: &str, document: Document) -> ApiServer {
    let [(path, route), others @ ..] = response::web_service(path, move |request| document.answer(request));
    let server = server.with_path(path, route);
    others
        .into_iter()
        .fold(server, |server, (path, route)| server.with_unlisted_path(path, route))
}

fn configuration(issuer: &str, keys_url: &str, keys: &[PublicKey]) -> String {
    let mut algorithms: Vec<&str> = keys
        .iter()
        .filter(|key| key.is_published())
        .map(PublicKey::algorithm_name)
        .collect();
    algorithms.sort_unstable();
    algorithms.dedup();
    let configuration = Configuration {
        issuer,
        jwks_uri: keys_url,
        response_types_supported: ["id_token"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: algorithms,
    };
    serde_json::to_string(&configuration).expect("all members are texts")
}

/// The configuration of an issuer, with its members in kube-apiserver's order.
#[derive(Serialize)]
struct Configuration<'c> {
    issuer: &'c str,
    jwks_uri: &'c str,
    response_types_supported: [&'static str; 1],
    subject_types_supported: [&'static str; 1],
    id_token_signing_alg_values_supported: Vec<&'c str>,
}

impl Document {
    fn answer(&self, request: &Parts) -> Response {
        if let Err(error) = check_produced(request, &[self.media_type]) {
            return response::failure_as(Output::json(), &error);
        }
        let cached = format!("public, max-age={}", self.keys.max_age().as_secs());
        let headers = [(CONTENT_TYPE, self.media_type.to_owned()), (CACHE_CONTROL, cached)];
        (StatusCode::OK, headers, (self.write)()).into_response()
    }
}

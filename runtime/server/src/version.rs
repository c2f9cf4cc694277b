//! `/version`: the version of the server.

use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::request::Parts;
use serde::Serialize;

use crate::failure;
use crate::negotiation::{Format, route};

/// The build, in the fields that clients of Kubernetes expect.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Version {
    /// Major number of the Kubernetes version whose API is served.
    pub major: String,
    /// Minor number.
    pub minor: String,
    /// Major number of the version whose behaviour is emulated.
    pub emulation_major: String,
    /// Minor number.
    pub emulation_minor: String,
    /// Major number of the oldest version that data stays readable for.
    pub min_compatibility_major: String,
    /// Minor number.
    pub min_compatibility_minor: String,
    /// Whole version, e.g. `v1.36.0+planesmith`. The suffix has no digits, dots or dashes, because clients split the
    /// version at these.
    pub git_version: String,
    /// Commit; may be empty.
    pub git_commit: String,
    /// `clean` or `dirty`.
    pub git_tree_state: String,
    /// Build time, RFC 3339.
    pub build_date: String,
    /// Version of the compiler; the field is named after Go's.
    pub go_version: String,
    /// Compiler.
    pub compiler: String,
    /// Operating system and processor, e.g. `linux/amd64`.
    pub platform: String,
}

impl Default for Version {
    /// Kubernetes 1.36, built from this package.
    fn default() -> Self {
        let architecture = match std::env::consts::ARCH {
            "x86_64" => "amd64",
            "aarch64" => "arm64",
            other => other,
        };
        Self {
            major: "1".to_owned(),
            minor: "36".to_owned(),
            emulation_major: "1".to_owned(),
            emulation_minor: "36".to_owned(),
            min_compatibility_major: "1".to_owned(),
            min_compatibility_minor: "35".to_owned(),
            git_version: "v1.36.0+planesmith".to_owned(),
            git_commit: String::new(),
            git_tree_state: "clean".to_owned(),
            build_date: "1970-01-01T00:00:00Z".to_owned(),
            go_version: env!("PLANESMITH_RUSTC").to_owned(),
            compiler: "rustc".to_owned(),
            platform: format!("{}/{architecture}", std::env::consts::OS),
        }
    }
}

impl Version {
    /// The answer to GET, indented as in kube-apiserver; JSON is the only encoding.
    pub(crate) fn answer(&self, request: &Parts) -> Response {
        const JSON: [&str; 1] = [Format::Json.media_type()];
        if let Err(error) = route::check(request, &JSON, &JSON) {
            return failure::respond(request, &error);
        }
        let body = serde_json::to_vec_pretty(self).expect("texts can always be written as JSON");
        let mut response = Response::new(Body::from(body));
        response
            .headers_mut()
            .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        response
    }
}

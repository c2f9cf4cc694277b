//! Pages about the process, for troubleshooting: `/statusz` and `/flagz`.

mod flags;
mod status;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::{MethodRouter, any};
use http::header::{CONTENT_TYPE, HeaderValue, WARNING};
use http::request::Parts;
use http::{Request, StatusCode};
use planesmith_machinery::clock::Clock;
use planesmith_machinery::feature::Features;
use planesmith_machinery::json;
use planesmith_machinery::status::ApiError;

use self::flags::FlagsPage;
use self::status::StatusPage;
use crate::features::{COMPONENT_FLAGZ, COMPONENT_STATUSZ};
use crate::negotiation::{GROUP, PageOutput, negotiate_page, negotiate_refusal};
use crate::response;
use crate::version::Version;

/// The server's name on such pages.
const COMPONENT: &str = "apiserver";

/// Delimiters between a name and its value. Each start selects one of them, so that no program relies on it.
const DELIMITERS: [&str; 4] = [":", ": ", "=", " "];

/// One of the pages.
trait ProcessPage: Send + Sync + 'static {
    /// The last part of its path.
    const NAME: &'static str;
    /// Its kind as an API object.
    const KIND: &'static str;

    /// The page for people, without its heading.
    fn render(&self) -> String;

    /// The members of the API object behind its metadata, in JSON, each with a leading comma.
    fn members(&self, out: &mut Vec<u8>);
}

/// The routes of the pages that `features` enable, of a program with `flags`, by name, `version` and `clock`. Their paths are
/// added to `paths`, which one of them lists.
pub(crate) fn router(
    features: &Features,
    flags: &BTreeMap<String, String>,
    version: &Version,
    clock: &Arc<dyn Clock>,
    paths: &mut Vec<String>,
) -> Router {
    let mut router = Router::new();
    if features.has(&COMPONENT_FLAGZ) && !flags.is_empty() {
        router = router.route("/flagz", served(FlagsPage(flags.clone())));
        paths.push("/flagz".to_owned());
    }
    if features.has(&COMPONENT_STATUSZ) {
        paths.push("/statusz".to_owned());
        let page = StatusPage::new(version.clone(), paths, Arc::clone(clock));
        router = router.route("/statusz", served(page));
    }
    router
}

/// Serves a page for all methods.
fn served<P: ProcessPage>(page: P) -> MethodRouter {
    let page = Arc::new(page);
    any(move |request| std::future::ready(answer(&*page, request)))
}

/// The page in the form that the client requests.
fn answer<P: ProcessPage>(page: &P, request: Request<Body>) -> Response {
    let (request, _) = request.into_parts();
    match negotiate_page(&request, P::KIND) {
        Ok(PageOutput::Text) => respond_text(page),
        Ok(PageOutput::Document { output, version }) => {
            let body = response::encode_json(output, document(page, version));
            let mut response = response::bytes(StatusCode::OK, output.format.media_type(), body);
            // The answer repeats the parameters that the client requested.
            let media_type = format!("{};g={GROUP};v={version};as={}", output.format.media_type(), P::KIND);
            let media_type = HeaderValue::try_from(media_type).expect("names of kinds can stand in headers");
            response.headers_mut().insert(CONTENT_TYPE, media_type);
            if version == "v1alpha1" {
                let name = P::NAME;
                let warning =
                    format!("299 - \"This version of the {name} endpoint is deprecated. Please use a newer version.\"");
                let warning = HeaderValue::try_from(warning).expect("names of pages can stand in headers");
                response.headers_mut().insert(WARNING, warning);
            }
            response
        }
        Err(error) => refuse(&request, &error),
    }
}

fn refuse(request: &Parts, error: &ApiError) -> Response {
    response::failure_as(negotiate_refusal(request), error)
}

fn respond_text<P: ProcessPage>(page: &P) -> Response {
    let heading = format!(
        "\n{COMPONENT} {}\nWarning: This endpoint is not meant to be machine parseable, has no formatting compatibility \
         guarantees and is for debugging purposes only.\n",
        P::NAME
    );
    let mut response = Response::new((heading + &page.render()).into());
    let plain = HeaderValue::from_static("text/plain; charset=utf-8");
    response.headers_mut().insert(CONTENT_TYPE, plain);
    response
}

fn document<P: ProcessPage>(page: &P, version: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(1024);
    out.push(b'{');
    member("kind", P::KIND, &mut out);
    out.push(b',');
    member("apiVersion", &format!("{GROUP}/{version}"), &mut out);
    out.extend_from_slice(b",\"metadata\":{");
    member("name", COMPONENT, &mut out);
    out.push(b'}');
    page.members(&mut out);
    out.push(b'}');
    out
}

/// A member of a JSON object with a text value.
fn member(name: &str, value: &str, out: &mut Vec<u8>) {
    json::encode_text(name, out);
    out.push(b':');
    json::encode_text(value, out);
}

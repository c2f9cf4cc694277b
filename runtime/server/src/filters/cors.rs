//! Requests from pages of other origins.

use http::header::{
    ACCESS_CONTROL_ALLOW_CREDENTIALS, ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS,
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue, ORIGIN,
};
use http::{Method, StatusCode};
use regex::Regex;
use thiserror::Error;

use super::{Exchange, Filter, Step};
use crate::response;

/// Reports to browsers which other origins may use the API (`--cors-allowed-origins`), and answers their preflight
/// requests.
#[derive(Debug)]
pub struct Cors {
    origins: Vec<Regex>,
}

/// An invalid regular expression for origins.
#[derive(Debug, Error)]
#[error("--cors-allowed-origins has `{pattern}`, which is not a regular expression")]
pub struct CorsPatternError {
    pattern: String,
    source: regex::Error,
}

impl Cors {
    /// Allows the origins that match one of the regular expressions.
    ///
    /// # Errors
    ///
    /// One of the patterns is not a valid regular expression.
    pub fn new(patterns: &[String]) -> Result<Self, CorsPatternError> {
        let origins = patterns.iter().map(|pattern| {
            Regex::new(pattern).map_err(|source| CorsPatternError {
                pattern: pattern.clone(),
                source,
            })
        });
        Ok(Self {
            origins: origins.collect::<Result<_, _>>()?,
        })
    }
}

impl Filter for Cors {
    fn name(&self) -> &'static str {
        "cors"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let Some(origin) = exchange.request.headers().get(ORIGIN) else {
            return Step::Continue;
        };
        let allowed = origin
            .to_str()
            .is_ok_and(|text| self.origins.iter().any(|pattern| pattern.is_match(text)));
        if !allowed {
            return Step::Continue;
        }
        let headers = &mut exchange.headers;
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
        headers.insert(
            ACCESS_CONTROL_ALLOW_METHODS,
            HeaderValue::from_static("POST, GET, OPTIONS, PUT, DELETE, PATCH"),
        );
        headers.insert(
            ACCESS_CONTROL_ALLOW_HEADERS,
            HeaderValue::from_static(
                "Content-Type, Content-Length, Accept-Encoding, X-CSRF-Token, Authorization, X-Requested-With, If-Modified-Since",
            ),
        );
        headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static("Date"));
        headers.insert(ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        if *exchange.request.method() != Method::OPTIONS {
            return Step::Continue;
        }
        Step::Answer(response::empty(StatusCode::NO_CONTENT))
    }
}

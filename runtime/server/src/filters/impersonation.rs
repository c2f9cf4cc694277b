//! Impersonation of users.

mod modes;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::response::Response;
use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, header};
use percent_encoding::percent_decode_str;
use planesmith_access::authorization::Authorizer;
use planesmith_access::user::UserInfo;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::status::ApiError;

use self::modes::{Impersonator, Modes};
use super::{Exchange, Filter, Step};
use crate::features::CONSTRAINED_IMPERSONATION;

const PREFIX: &str = "impersonate-";
const USER: HeaderName = HeaderName::from_static("impersonate-user");
const UID: HeaderName = HeaderName::from_static("impersonate-uid");
const GROUP: HeaderName = HeaderName::from_static("impersonate-group");
const EXTRA_PREFIX: &str = "impersonate-extra-";

/// Lets an authorized client act as another user: from here on the request is that other user's.
#[derive(Debug)]
pub struct Impersonation {
    modes: Modes,
}

impl Impersonation {
    /// Authorizes impersonation with `authorizer`.
    #[must_use]
    pub fn new(authorizer: Arc<dyn Authorizer>) -> Self {
        Self {
            modes: Modes::new(authorizer),
        }
    }
}

impl Filter for Impersonation {
    fn name(&self) -> &'static str {
        "impersonation"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let headers = exchange.request.headers_mut();
        let wanted = match wanted(headers) {
            Ok(None) => return Step::Continue,
            Ok(Some(wanted)) => wanted,
            Err(error) => return Step::Answer(refusal(exchange, &error)),
        };
        // Filters and handlers further in do not see that the user is impersonated.
        let named: Vec<HeaderName> = headers
            .keys()
            .filter(|name| is_impersonation_header(name))
            .cloned()
            .collect();
        for name in named {
            headers.remove(name);
        }
        Step::Wait(Box::pin(async move {
            let ctx = &exchange.ctx;
            let impersonator = Impersonator {
                user: &ctx.user,
                info: &ctx.info,
                is_constrained: ctx.features.has(&CONSTRAINED_IMPERSONATION),
            };
            match self.modes.impersonate(&impersonator, &wanted).await {
                Ok((user, constraint)) => {
                    tracing::debug!(request = %ctx.id, by = ctx.user.name, user = user.name, "impersonation");
                    exchange.ctx.user = Arc::new(user);
                    if let Some(record) = &exchange.ctx.audit {
                        record.impersonate(&exchange.ctx.user, &constraint);
                    }
                    None
                }
                Err(error) => Some(refusal(exchange, &error)),
            }
        }))
    }
}

/// The answer to a request that impersonates nobody. Its text has parts of the request, which browsers must not interpret.
fn refusal(exchange: &mut Exchange, error: &ApiError) -> Response {
    let nosniff = HeaderValue::from_static("nosniff");
    exchange.headers.insert(header::X_CONTENT_TYPE_OPTIONS, nosniff);
    exchange.error_answer(error)
}

fn is_impersonation_header(name: &HeaderName) -> bool {
    name.as_str().starts_with(PREFIX)
}

/// The user that the headers describe, without its implied groups; `None` when they name no user.
fn wanted(headers: &HeaderMap) -> Result<Option<UserInfo>, ApiError> {
    if !headers.keys().any(is_impersonation_header) {
        return Ok(None);
    }
    let one = |name: HeaderName| headers.get(name).map(lossy_text).unwrap_or_default();
    let mut wanted = UserInfo {
        name: one(USER),
        uid: one(UID),
        groups: headers.get_all(GROUP).iter().map(lossy_text).collect(),
        extra: BTreeMap::new(),
    };
    for (name, value) in headers {
        if let Some(key) = name.as_str().strip_prefix(EXTRA_PREFIX) {
            wanted.extra.entry(decoded(key)).or_default().push(lossy_text(value));
        }
    }
    if !wanted.name.is_empty() {
        return Ok(Some(wanted));
    }
    if wanted.uid.is_empty() && wanted.groups.is_empty() && wanted.extra.is_empty() {
        return Ok(None);
    }
    let why = format!("requested {} without impersonating a user name", rendered(&wanted));
    Err(ApiError::bad_request(why))
}

/// A key with its escapes resolved. A key with an invalid escape, or that is not UTF-8 afterwards, stays as it was
/// sent.
fn decoded(key: &str) -> String {
    let is_escape = |escaped: &str| escaped.len() >= 2 && escaped.as_bytes()[..2].iter().all(u8::is_ascii_hexdigit);
    let is_escaped = key.split('%').skip(1).all(is_escape);
    let decoded = percent_decode_str(key).decode_utf8();
    match decoded {
        Ok(decoded) if is_escaped => decoded.into_owned(),
        _ => key.to_owned(),
    }
}

fn lossy_text(value: &HeaderValue) -> String {
    String::from_utf8_lossy(value.as_bytes()).into_owned()
}

/// A user as Go prints it.
fn rendered(user: &UserInfo) -> String {
    let list = |texts: &[String]| {
        let texts: Vec<String> = texts.iter().map(|text| quote(text)).collect();
        format!("[]string{{{}}}", texts.join(", "))
    };
    let groups = match user.groups.as_slice() {
        [] => "[]string(nil)".to_owned(),
        groups => list(groups),
    };
    let extra = if user.extra.is_empty() {
        "map[string][]string(nil)".to_owned()
    } else {
        let entries = user.extra.iter();
        let entries: Vec<String> = entries
            .map(|(key, values)| format!("{}:{}", quote(key), list(values)))
            .collect();
        format!("map[string][]string{{{}}}", entries.join(", "))
    };
    let (name, uid) = (quote(&user.name), quote(&user.uid));
    format!("&user.DefaultInfo{{Name:{name}, UID:{uid}, Groups:{groups}, Extra:{extra}}}")
}

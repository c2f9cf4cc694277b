//! Whom the client wants to be taken for.

use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::ApiError;

use super::{Exchange, Filter, Step};

/// Refuses requests in somebody else's name, which this server does not serve.
///
/// Serving them as if nothing had been said would act with more rights than the client asked for.
#[derive(Clone, Copy, Debug)]
pub struct Impersonation;

impl Filter for Impersonation {
    fn name(&self) -> &'static str {
        "impersonation"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let headers = exchange.request.headers();
        let Some(header) = headers.keys().find(|name| name.as_str().starts_with("impersonate-")) else {
            return Step::Continue;
        };
        let user = headers.get("impersonate-user").and_then(|user| user.to_str().ok());
        let why = format!("this server does not impersonate; repeat the request without the header {header:?}");
        let users = GroupResource::new("", "users");
        let refused = ApiError::forbidden(&users, user.unwrap_or_default(), why);
        exchange.refuse(&refused)
    }
}

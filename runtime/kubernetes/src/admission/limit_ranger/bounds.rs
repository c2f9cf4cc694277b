//! Compares the resources of an object with one bound of a limit range.

use planesmith_api_defs::core::v1::ResourceList;
use planesmith_machinery::quantity::Quantity;

/// The largest amount that can be compared in thousandths.
const MAX_IN_MILLI: i64 = i64::MAX / 1000;

/// The requests and limits of one object of a sort.
pub(super) struct RequestedResources<'a> {
    pub(super) sort: &'a str,
    pub(super) requests: &'a ResourceList,
    pub(super) limits: &'a ResourceList,
}

impl RequestedResources<'_> {
    /// Returns the message of a violation if the request or limit is below `bound`.
    pub(super) fn below(&self, name: &str, bound: &Quantity) -> Option<String> {
        let found = self.found(name, bound);
        let start = format!("minimum {name} usage per {} is {bound}", self.sort);
        match (self.requests.get(name), self.limits.get(name)) {
            (None, _) => Some(format!("{start}.  No request is specified")),
            (Some(request), _) if found.request < found.bound => Some(format!("{start}, but request is {request}")),
            (_, Some(limit)) if found.limit < found.bound => Some(format!("{start}, but limit is {limit}")),
            _ => None,
        }
    }

    /// Returns the message of a violation if the request or limit is above `bound`.
    pub(super) fn above(&self, name: &str, bound: &Quantity) -> Option<String> {
        let found = self.found(name, bound);
        let start = format!("maximum {name} usage per {} is {bound}", self.sort);
        match (self.requests.get(name), self.limits.get(name)) {
            (_, None) => Some(format!("{start}.  No limit is specified")),
            (_, Some(limit)) if found.limit > found.bound => Some(format!("{start}, but limit is {limit}")),
            (Some(request), _) if found.request > found.bound => Some(format!("{start}, but request is {request}")),
            _ => None,
        }
    }

    /// Returns the message of a violation if the request is above `bound`; for resources without limits.
    pub(super) fn requested_above(&self, name: &str, bound: &Quantity) -> Option<String> {
        let found = self.found(name, bound);
        let start = format!("maximum {name} usage per {} is {bound}", self.sort);
        match self.requests.get(name) {
            None => Some(format!("{start}.  No request is specified")),
            Some(request) if found.request > found.bound => Some(format!("{start}, but request is {request}")),
            Some(_) => None,
        }
    }

    /// Returns the message of a violation if the limit is more than `bound` times the request.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the ratio is compared and shown as a floating point number"
    )]
    pub(super) fn out_of_ratio(&self, name: &str, bound: &Quantity) -> Option<String> {
        let found = self.found(name, bound);
        let start = format!("{name} max limit to request ratio per {} is {bound}", self.sort);
        if !self.requests.contains_key(name) || found.request == 0 {
            return Some(format!("{start}, but no request is specified or request is 0"));
        }
        if !self.limits.contains_key(name) || found.limit == 0 {
            return Some(format!("{start}, but no limit is specified or limit is 0"));
        }
        let ratio = found.limit as f64 / found.request as f64;
        let (ratio_shown, most) = match bound.value() <= MAX_IN_MILLI {
            true => (ratio * 1000.0, bound.milli_value() as f64),
            false => (ratio, bound.value() as f64),
        };
        (ratio_shown > most).then(|| format!("{start}, but provided ratio is {ratio:.6}"))
    }

    /// Returns the three amounts in the finest unit that can represent all of them.
    fn found(&self, name: &str, bound: &Quantity) -> Found {
        let whole = |quantity: Option<&Quantity>| quantity.map_or(0, Quantity::value);
        let milli = |quantity: Option<&Quantity>| quantity.map_or(0, Quantity::milli_value);
        let amounts = [self.requests.get(name), self.limits.get(name), Some(bound)];
        let [request, limit, bound] = match amounts.iter().all(|amount| whole(*amount) <= MAX_IN_MILLI) {
            true => amounts.map(milli),
            false => amounts.map(whole),
        };
        Found { request, limit, bound }
    }
}

struct Found {
    request: i64,
    limit: i64,
    bound: i64,
}

//! Closes some HTTP/2 connections, so that their clients spread over several servers.

use http::header::{CONNECTION, HeaderValue};

use super::{Exchange, Filter, Step};

/// Closes an HTTP/2 connection after a request with a certain probability (`--goaway-chance`). Requests under way are answered.
#[derive(Clone, Copy, Debug)]
pub struct GoAway {
    /// The probability, from 0 to 1.
    pub chance: f64,
}

impl Filter for GoAway {
    fn name(&self) -> &'static str {
        "goaway"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        if exchange.is_multiplexed && fastrand::f64() < self.chance {
            exchange.headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        Step::Continue
    }
}

//! Parameters of connections, read from queries and written into them.

use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::time::Time;
use planesmith_server::request::{Query, encode_query};

/// The parameters of a query.
#[derive(Clone, Copy)]
pub(super) struct Parameters<'q>(pub(super) Query<'q>);

impl Parameters<'_> {
    /// Returns a text; empty if it is absent.
    pub(super) fn text(self, name: &str) -> String {
        self.0.first(name).unwrap_or_default().into_owned()
    }

    /// Returns a truth value: present, and neither `false` nor `0`.
    pub(super) fn flag(self, name: &str) -> bool {
        self.0.flag(name).unwrap_or_default()
    }

    /// Returns a number, if there is one.
    ///
    /// # Errors
    ///
    /// 400 in the words of Go if it is no number.
    pub(super) fn number(self, name: &str) -> ApiResult<Option<i64>> {
        let Some(text) = self.0.first(name) else {
            return Ok(None);
        };
        let parsed = text.parse().map_err(|error: std::num::ParseIntError| {
            let why = match error.kind() {
                std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => "value out of range",
                _ => "invalid syntax",
            };
            let quoted = planesmith_machinery::go_format::quote(&text);
            ApiError::bad_request(format!("strconv.ParseInt: parsing {quoted}: {why}"))
        });
        parsed.map(Some)
    }

    /// Returns a time, if there is one.
    ///
    /// # Errors
    ///
    /// 400 if it is none.
    pub(super) fn time(self, name: &str) -> ApiResult<Option<Time>> {
        let Some(text) = self.0.first(name).filter(|text| !text.is_empty()) else {
            return Ok(None);
        };
        let parsed = text.parse::<Time>();
        parsed
            .map(Some)
            .map_err(|error| ApiError::bad_request(error.to_string()))
    }
}

/// A query that is sent on, sorted by name as Go does it.
#[derive(Debug, Default)]
pub(super) struct Sent(Vec<(&'static str, String)>);

impl Sent {
    /// Adds a parameter.
    pub(super) fn add(&mut self, name: &'static str, value: &dyn std::fmt::Display) {
        self.0.push((name, value.to_string()));
    }

    /// Adds a parameter with the value `value` if `set`.
    pub(super) fn add_if(&mut self, set: bool, name: &'static str, value: &str) {
        if set {
            self.add(name, &value);
        }
    }

    /// Returns the query as text.
    pub(super) fn encode(self) -> String {
        encode_query(self.0.into_iter())
    }
}

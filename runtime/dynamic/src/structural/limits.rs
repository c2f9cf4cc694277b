//! Rules for a value beyond its type.

use std::sync::Arc;

use serde_json::Value;

use super::{Format, Pattern};

/// Rules for a value beyond its type: the value validations of OpenAPI.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    /// E.g. `date-time`; only formats that say something about values of the type.
    pub format: Option<Format>,
    /// The greatest number.
    pub maximum: Option<f64>,
    /// The greatest number itself is too great.
    pub exclusive_maximum: bool,
    /// The least number.
    pub minimum: Option<f64>,
    /// The least number itself is too small.
    pub exclusive_minimum: bool,
    /// Numbers are multiples of this.
    pub multiple_of: Option<f64>,
    /// The most characters of a text. No text satisfies a negative limit, and so for the other ones.
    pub max_length: Option<i64>,
    /// The fewest characters of a text.
    pub min_length: Option<u64>,
    /// The pattern that a text matches.
    pub pattern: Option<Pattern>,
    /// The most elements of a list.
    pub max_items: Option<i64>,
    /// The fewest elements of a list.
    pub min_items: Option<u64>,
    /// Elements of a list differ.
    pub unique_items: bool,
    /// The most fields of an object.
    pub max_properties: Option<i64>,
    /// The fewest fields of an object.
    pub min_properties: Option<u64>,
    /// The values that are allowed; all when empty.
    pub allowed: Box<[Value]>,
    /// Fields that an object must have.
    pub required: Box<[Box<str>]>,
    /// All of these hold.
    pub all_of: Box<[Arc<super::Structural>]>,
    /// At least one of these holds.
    pub any_of: Box<[Arc<super::Structural>]>,
    /// Exactly one of these holds.
    pub one_of: Box<[Arc<super::Structural>]>,
    /// This does not hold.
    pub not: Option<Arc<super::Structural>>,
}

impl Limits {
    /// The most elements that `limit` allows, in the estimate of a cost.
    #[must_use]
    pub fn elements(limit: Option<i64>) -> Option<u64> {
        limit.map(|limit| u64::try_from(limit).unwrap_or_default())
    }
}

impl super::Structural {
    /// Memory, in bytes, of all patterns that one text in a document may have to match; the most of any text. Patterns that
    /// were not read yet are.
    #[must_use]
    pub fn pattern_size(&self) -> usize {
        let inner = self.children().map(Self::pattern_size).max().unwrap_or(0);
        let Some(limits) = &self.limits else { return inner };
        let own = limits.pattern.as_ref().map_or(0, Pattern::size);
        let combined = limits.all_of.iter().chain(&limits.any_of).chain(&limits.one_of);
        let combined = combined.chain(&limits.not).map(|schema| schema.pattern_size());
        own.max(inner) + combined.sum::<usize>()
    }
}

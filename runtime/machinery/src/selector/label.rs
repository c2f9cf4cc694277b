//! Label selectors: `env=prod,tier in (a,b),!debug`.

mod lexer;
mod parser;
mod requirement;

use std::fmt;

pub use requirement::{Operator, Requirement};

use planesmith_wire::go_format::quote;
use planesmith_wire::sorting::sort_by;

use crate::meta;
use crate::status::ApiError;

/// A conjunction of requirements, sorted by key; a query without requirements matches everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelQuery {
    requirements: Vec<Requirement>,
}

/// The reason for which a label selector is invalid, in kube-apiserver's wording.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct LabelSelectorError(pub String);

impl LabelQuery {
    /// Parses the text form.
    ///
    /// # Errors
    ///
    /// If the text is not a selector, or a key or value is not legal. Clients see 400.
    pub fn parse(text: &str) -> Result<Self, LabelSelectorError> {
        parser::parse(text).map(Self::new)
    }

    /// Returns the query that requires all of `requirements`.
    #[must_use]
    pub fn new(mut requirements: Vec<Requirement>) -> Self {
        sort_by(&mut requirements, |left, right| left.key().cmp(right.key()));
        Self { requirements }
    }

    /// Returns the query that requires these labels with these values, which are not validated.
    pub fn exact<'a>(labels: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        Self::new(
            labels
                .into_iter()
                .map(|(key, value)| Requirement::equals(key, value))
                .collect(),
        )
    }

    /// Returns the query of a selector in an object. A selector without requirements matches everything; the meaning of
    /// an absent selector depends on its field.
    ///
    /// # Errors
    ///
    /// If an operator is unknown, or a key or value is not legal.
    pub fn of_selector(selector: &meta::LabelSelector) -> Result<Self, LabelSelectorError> {
        let mut requirements = Vec::new();
        for (key, value) in &selector.match_labels {
            requirements.push(Requirement::new(key, Operator::Equals, [value.clone()])?);
        }
        for expression in &selector.match_expressions {
            let operator = match expression.operator.as_str() {
                "In" => Operator::In,
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                other => {
                    let message = format!("{} is not a valid label selector operator", quote(other));
                    return Err(LabelSelectorError(message));
                }
            };
            requirements.push(Requirement::new(
                &expression.key,
                operator,
                expression.values.iter().cloned(),
            )?);
        }
        Ok(Self::new(requirements))
    }

    /// True if the query matches everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.requirements.is_empty()
    }

    /// Returns the requirements, sorted by key.
    #[must_use]
    pub fn requirements(&self) -> &[Requirement] {
        &self.requirements
    }

    /// True if the labels meet all requirements. `label` looks up the value of a key.
    pub fn matches<'a>(&self, label: impl Fn(&str) -> Option<&'a str>) -> bool {
        self.requirements
            .iter()
            .all(|requirement| requirement.matches(label(requirement.key())))
    }
}

/// The text form; parsing it returns the same query.
impl fmt::Display for LabelQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, requirement) in self.requirements.iter().enumerate() {
            if index > 0 {
                f.write_str(",")?;
            }
            requirement.fmt(f)?;
        }
        Ok(())
    }
}

impl From<LabelSelectorError> for ApiError {
    fn from(error: LabelSelectorError) -> Self {
        ApiError::bad_request(error.0)
    }
}

#[cfg(test)]
mod tests;

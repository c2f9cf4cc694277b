//! The filters of elements of a list.

use std::cmp::Ordering;

use serde_json::Value;

use super::{Misfit, Step, walk};

/// The condition of a filter.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Filter {
    pub(super) left: Vec<Step>,
    /// Nothing if it is enough that `left` is there.
    pub(super) comparison: Option<(Operator, Vec<Step>)>,
}

/// The comparison of two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Less,
    Greater,
    Equal,
    NotEqual,
    AtMost,
    AtLeast,
    /// An unknown operator; it fits nothing.
    Unknown,
}

impl Operator {
    pub(super) fn named(name: &str) -> Self {
        match name {
            "<" => Operator::Less,
            ">" => Operator::Greater,
            "==" => Operator::Equal,
            "!=" => Operator::NotEqual,
            "<=" => Operator::AtMost,
            ">=" => Operator::AtLeast,
            _ => Operator::Unknown,
        }
    }

    /// True if the comparison holds; both values must be of one type, and integers are another type than other numbers.
    fn holds(self, left: &Value, right: &Value) -> Result<bool, Misfit> {
        let order = match (left, right) {
            (Value::Bool(left), Value::Bool(right)) if matches!(self, Operator::Equal | Operator::NotEqual) => {
                Some(left.cmp(right))
            }
            (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                (None, None) => left.as_f64().partial_cmp(&right.as_f64()),
                _ => None,
            },
            _ => None,
        };
        let order = order.ok_or(Misfit)?;
        Ok(match self {
            Operator::Less => order == Ordering::Less,
            Operator::Greater => order == Ordering::Greater,
            Operator::Equal => order == Ordering::Equal,
            Operator::NotEqual => order != Ordering::Equal,
            Operator::AtMost => order != Ordering::Greater,
            Operator::AtLeast => order != Ordering::Less,
            Operator::Unknown => return Err(Misfit),
        })
    }
}

impl Filter {
    pub(super) fn holds(&self, element: &Value) -> Result<bool, Misfit> {
        let left = walk(vec![element], &self.left);
        let Some((operator, right)) = &self.comparison else {
            return Ok(left.is_ok_and(|left| !left.is_empty()));
        };
        let left = left?;
        if left.is_empty() {
            return Ok(false);
        }
        let right = walk(vec![element], right)?;
        match (&left[..], &right[..]) {
            (_, []) => Ok(false),
            ([left], [right]) => operator.holds(left, right),
            _ => Err(Misfit),
        }
    }
}

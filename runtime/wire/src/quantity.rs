//! Amounts of resources: `500m`, `1.5Gi`, `2e3`.

mod canonical;
mod parse;

use std::cmp::Ordering;
use std::fmt;

use crate::json::encode_text;
use crate::protobuf::{Fields, write_bytes};
use crate::scalar::{ScalarCodec, ScalarError, Token};

/// An exact decimal amount and the notation it is shown in.
///
/// Amounts are compared by value, `1000m` equals `1`. Nothing is finer than a billionth: smaller parts are rounded up,
/// away from zero. The text that was read is kept when kube-apiserver keeps it, otherwise replaced by the canonical
/// form. Amounts of more than about 29 digits are refused; Kubernetes takes them.
#[derive(Clone)]
pub struct Quantity {
    /// The value is `mantissa * 10^exponent`.
    mantissa: i128,
    exponent: i32,
    notation: Notation,
    /// The text shown; empty for `0` that was never read.
    text: String,
}

/// The notation of an amount.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notation {
    /// Powers of 1024: `Ki`, `Mi`, `Gi`.
    Binary,
    /// Powers of 1000: `m`, `k`, `M`.
    #[default]
    Decimal,
    /// Powers of 1000 as exponents: `1e3`.
    Exponent,
}

impl Quantity {
    /// A whole amount.
    #[must_use]
    pub fn new(value: i64, notation: Notation) -> Self {
        Quantity::from_parts(i128::from(value), 0, notation)
    }

    /// An amount in thousandths.
    #[must_use]
    pub fn from_milli(value: i64, notation: Notation) -> Self {
        Quantity::from_parts(i128::from(value), -3, notation)
    }

    fn from_parts(mantissa: i128, exponent: i32, notation: Notation) -> Self {
        let text = canonical::format(mantissa, exponent, notation);
        Quantity {
            mantissa,
            exponent,
            notation,
            text,
        }
    }

    /// The notation.
    #[must_use]
    pub fn notation(&self) -> Notation {
        self.notation
    }

    /// The text that is shown.
    #[must_use]
    pub fn as_str(&self) -> &str {
        if self.text.is_empty() { "0" } else { &self.text }
    }

    /// True if the amount is 0.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    /// True if the amount is below 0.
    #[must_use]
    pub fn is_negative(&self) -> bool {
        self.mantissa < 0
    }

    /// The whole amount, rounded away from zero; the nearest number when it is out of range.
    #[must_use]
    pub fn value(&self) -> i64 {
        self.scaled(0)
    }

    /// The amount in thousandths, rounded away from zero; the nearest number when it is out of range.
    #[must_use]
    pub fn milli_value(&self) -> i64 {
        self.scaled(-3)
    }

    fn scaled(&self, exponent: i32) -> i64 {
        let value = canonical::rescale(self.mantissa, self.exponent, exponent);
        let nearest = if self.mantissa < 0 { i64::MIN } else { i64::MAX };
        value
            .and_then(|(value, _)| i64::try_from(value).ok())
            .unwrap_or(nearest)
    }

    /// The sum, in the notation of `self` unless that is 0; `None` when it is out of range.
    #[must_use]
    pub fn checked_add(&self, other: &Quantity) -> Option<Quantity> {
        let notation = if self.is_zero() { other.notation } else { self.notation };
        let exponent = match (self.is_zero(), other.is_zero()) {
            (true, _) => other.exponent,
            (_, true) => self.exponent,
            _ => self.exponent.min(other.exponent),
        };
        let (left, _) = canonical::rescale(self.mantissa, self.exponent, exponent)?;
        let (right, _) = canonical::rescale(other.mantissa, other.exponent, exponent)?;
        Some(Quantity::from_parts(left.checked_add(right)?, exponent, notation))
    }

    /// The sum however large it is, in the notation of [`Quantity::checked_add`]: a sum with more digits than can be held is
    /// rounded away from zero.
    #[must_use]
    pub fn rounded_add(&self, other: &Quantity) -> Quantity {
        if let Some(sum) = self.checked_add(other) {
            return sum;
        }
        let notation = if self.is_zero() { other.notation } else { self.notation };
        let (least, most) = (self.exponent.min(other.exponent), self.exponent.max(other.exponent));
        // More digits than that do not fit below the coarser of the two; one less leaves room for their sum.
        let (least, most) = (least.max(most.saturating_sub(40)), most.saturating_add(1));
        let coarser = (least..=most).find_map(|exponent| {
            let (left, _) = canonical::rescale(self.mantissa, self.exponent, exponent)?;
            let (right, _) = canonical::rescale(other.mantissa, other.exponent, exponent)?;
            Some(Quantity::from_parts(left.checked_add(right)?, exponent, notation))
        });
        coarser.unwrap_or_else(|| self.max(other).clone())
    }

    /// The difference, as [`Quantity::rounded_add`].
    #[must_use]
    pub fn rounded_sub(&self, other: &Quantity) -> Quantity {
        self.rounded_add(&Quantity {
            mantissa: other.mantissa.saturating_neg(),
            ..other.clone()
        })
    }

    /// The difference, as [`Quantity::checked_add`].
    #[must_use]
    pub fn checked_sub(&self, other: &Quantity) -> Option<Quantity> {
        let negated = Quantity {
            mantissa: other.mantissa.checked_neg()?,
            ..other.clone()
        };
        self.checked_add(&negated)
    }

    /// The amount rounded up, away from zero, to thousandths, the precision of resource amounts of pods.
    #[must_use]
    pub fn rounded_to_milli(&self) -> Quantity {
        if self.exponent >= -3 {
            return self.clone();
        }
        match canonical::rescale(self.mantissa, self.exponent, -3) {
            Some((mantissa, _)) => Quantity::from_parts(mantissa, -3, self.notation),
            None => self.clone(),
        }
    }
}

impl Default for Quantity {
    fn default() -> Self {
        Quantity {
            mantissa: 0,
            exponent: 0,
            notation: Notation::Decimal,
            text: String::new(),
        }
    }
}

impl PartialEq for Quantity {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Quantity {}

impl PartialOrd for Quantity {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Quantity {
    fn cmp(&self, other: &Self) -> Ordering {
        canonical::compare((self.mantissa, self.exponent), (other.mantissa, other.exponent))
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl fmt::Debug for Quantity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

impl std::str::FromStr for Quantity {
    type Err = ScalarError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse::parse(text).map_err(|message| ScalarError::Text(message.to_owned()))
    }
}

impl ScalarCodec for Quantity {
    fn is_zero(&self) -> bool {
        self.mantissa == 0
    }

    fn write_json(&self, out: &mut Vec<u8>) {
        encode_text(self.as_str(), out);
    }

    fn read_json(&mut self, token: Token<'_>) -> Result<(), ScalarError> {
        *self = match token {
            Token::Null => Quantity::default(),
            Token::Str(text) | Token::Number(text) => text.trim().parse()?,
            // Go reads the characters of whatever stands there; none of these is a quantity.
            Token::Bool(_) | Token::Object(_) | Token::Array(_) => "?".parse()?,
        };
        Ok(())
    }

    fn write_proto(&self, out: &mut Vec<u8>) {
        write_bytes(out, 1, self.as_str().as_bytes());
    }

    fn read_proto(&mut self, payload: &[u8]) -> Result<(), ScalarError> {
        *self = Quantity::default();
        let mut fields = Fields::new(payload, "Quantity");
        while let Some((number, wire)) = fields.next()? {
            if number == 1 {
                *self = wire.text("String")?.parse()?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;

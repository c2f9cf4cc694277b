//! Text to amount.

use super::{Notation, Quantity, canonical};

const FORMAT: &str = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC: &str = "unable to parse numeric part of quantity";
const SUFFIX: &str = "unable to parse quantity's suffix";

/// Amounts up to so many digits are handled in 64 bits by kube-apiserver, and only those keep their text.
const SHORT_DIGITS: i32 = 18;

/// The parts of the text.
struct Parts<'a> {
    negative: bool,
    /// Digits before the point, without leading zeros but for one.
    whole: &'a str,
    /// Digits behind the point.
    fraction: &'a str,
    /// Everything before the suffix.
    number: &'a str,
    suffix: &'a str,
}

/// Reads an amount; the error is the message of kube-apiserver.
pub(super) fn parse(text: &str) -> Result<Quantity, &'static str> {
    if text.is_empty() {
        return Err(FORMAT);
    }
    let parts = split(text)?;
    let (notation, power) = suffix(parts.suffix).ok_or(SUFFIX)?;
    match short(&parts, notation, power) {
        Some((mantissa, exponent, keep)) => {
            let mantissa = if parts.negative { -mantissa } else { mantissa };
            let mut quantity = Quantity::from_parts(mantissa, exponent, notation);
            if keep {
                text.clone_into(&mut quantity.text);
            }
            Ok(quantity)
        }
        None => long(&parts, notation, power),
    }
}

fn split(text: &str) -> Result<Parts<'_>, &'static str> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let stripped = unsigned.trim_start_matches('0');
    let (whole, rest) = split_digits(stripped);
    let whole = if whole.is_empty() { "0" } else { whole };
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => split_digits(rest),
        None => ("", rest),
    };
    let letters = suffix.trim_start_matches(|c| "eEinumkKMGTP".contains(c));
    let digits = letters.strip_prefix(['-', '+']).unwrap_or(letters);
    if !split_digits(digits).1.is_empty() {
        return Err(FORMAT);
    }
    let number = &text[..text.len() - suffix.len()];
    Ok(Parts {
        negative: text.starts_with('-'),
        whole,
        fraction,
        number,
        suffix,
    })
}

fn split_digits(text: &str) -> (&str, &str) {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    text.split_at(end)
}

/// Notation and power, of two for the binary one and of ten for the others.
fn suffix(suffix: &str) -> Option<(Notation, i32)> {
    let decimal = |power| Some((Notation::Decimal, power));
    let binary = |power| Some((Notation::Binary, power));
    match suffix {
        "n" => decimal(-9),
        "u" => decimal(-6),
        "m" => decimal(-3),
        "" => decimal(0),
        "k" => decimal(3),
        "M" => decimal(6),
        "G" => decimal(9),
        "T" => decimal(12),
        "P" => decimal(15),
        "E" => decimal(18),
        "Ki" => binary(10),
        "Mi" => binary(20),
        "Gi" => binary(30),
        "Ti" => binary(40),
        "Pi" => binary(50),
        "Ei" => binary(60),
        _ => {
            let digits = suffix.strip_prefix(['e', 'E'])?;
            let power: i64 = digits.parse().ok()?;
            Some((Notation::Exponent, i32::try_from(power).ok()?))
        }
    }
}

/// The short way of kube-apiserver: mantissa, exponent and whether the text is kept. `None` when it does not apply.
fn short(parts: &Parts<'_>, notation: Notation, power: i32) -> Option<(i128, i32, bool)> {
    let digits = i32::try_from(parts.whole.len() + parts.fraction.len()).ok()?;
    let room = match notation {
        Notation::Decimal | Notation::Exponent => SHORT_DIGITS - digits,
        // 2^10 has three decimal digits.
        Notation::Binary if parts.fraction.is_empty() => 15 - digits - power * 3 / 10 - 1,
        Notation::Binary => return None,
    };
    if room < 0 {
        return None;
    }
    let shifted = [parts.whole, parts.fraction].concat();
    let value: i64 = shifted.parse().ok()?;
    if notation == Notation::Binary {
        let result = value.checked_mul(1 << power)?;
        return Some((i128::from(result), 0, value & 7 != 0));
    }
    let exponent = power.checked_sub(i32::try_from(parts.fraction.len()).ok()?)?;
    if exponent < canonical::FINEST {
        return None;
    }
    let keep = exponent % 3 == 0 && !shifted.ends_with("000") && !shifted.starts_with('0');
    Some((
        i128::from(value),
        exponent,
        keep || parts.number == "0" && parts.suffix.is_empty(),
    ))
}

/// The long way: any number of digits, rounded to what can be held.
fn long(parts: &Parts<'_>, notation: Notation, power: i32) -> Result<Quantity, &'static str> {
    if parts.number.ends_with('.') && parts.whole == "0" && !parts.number.contains(|c: char| c.is_ascii_digit()) {
        return Err(NUMERIC);
    }
    let digits = [parts.whole, parts.fraction].concat();
    let shift = i32::try_from(parts.fraction.len()).map_err(|_| NUMERIC)?;
    let (decimal_power, factor) = match notation {
        Notation::Binary => (0, 1_i128 << power),
        Notation::Decimal | Notation::Exponent => (power, 1),
    };
    let exponent = decimal_power.checked_sub(shift).ok_or(NUMERIC)?;
    let (mantissa, exponent) = canonical::from_digits(&digits, exponent, factor).ok_or(NUMERIC)?;
    let (mut mantissa, mut exponent) = (mantissa, exponent);
    let mut notation = notation;
    if notation == Notation::Binary {
        let largest = (i128::from(i64::MAX), 0);
        if canonical::compare((mantissa, exponent), largest).is_gt() {
            (mantissa, exponent) = largest;
        }
        if mantissa != 0 && canonical::compare((mantissa, exponent), (1, 0)).is_lt() {
            // Shown in powers of 1024 it would be rounded up to 1.
            notation = Notation::Decimal;
        }
    }
    let mantissa = if parts.negative { -mantissa } else { mantissa };
    Ok(Quantity::from_parts(mantissa, exponent, notation))
}

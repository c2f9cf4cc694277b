//! Amounts as mantissa and power of ten: scaling, comparing and the canonical text.

use std::cmp::Ordering;

use super::Notation;

/// The exponent of the finest unit, a billionth.
pub(super) const FINEST: i32 = -9;

/// `mantissa * 10^from` in units of `10^to`, rounded away from zero, and whether that was exact; `None` on overflow.
pub(super) fn rescale(mantissa: i128, from: i32, to: i32) -> Option<(i128, bool)> {
    if mantissa == 0 {
        return Some((0, true));
    }
    let distance = from.checked_sub(to)?;
    if distance >= 0 {
        let factor = 10_i128.checked_pow(distance.unsigned_abs())?;
        return Some((mantissa.checked_mul(factor)?, true));
    }
    let Some(divisor) = 10_i128.checked_pow(distance.unsigned_abs()) else {
        return Some((mantissa.signum(), false));
    };
    let (quotient, remainder) = (mantissa / divisor, mantissa % divisor);
    Some((quotient + remainder.signum(), remainder == 0))
}

/// Compares two amounts.
pub(super) fn compare(left: (i128, i32), right: (i128, i32)) -> Ordering {
    let signs = left.0.signum().cmp(&right.0.signum());
    if signs.is_ne() || left.0 == 0 {
        return signs;
    }
    let exponent = left.1.min(right.1);
    let aligned = |(mantissa, from)| rescale(mantissa, from, exponent).map(|(value, _)| value);
    match (aligned(left), aligned(right)) {
        (Some(left), Some(right)) => left.cmp(&right),
        // An amount that does not even fit in the unit of the other is farther from zero by far, and both have one sign.
        (None, _) => left.0.cmp(&0),
        (_, None) => 0.cmp(&right.0),
    }
}

/// The amount of these digits times `10^exponent * factor`, no finer than a billionth; `None` when it has too many
/// digits.
pub(super) fn from_digits(digits: &str, exponent: i32, factor: i128) -> Option<(i128, i32)> {
    let digits = digits.trim_start_matches('0');
    if digits.is_empty() {
        return Some((0, 0));
    }
    // Digits far behind the billionth only matter as not being nothing.
    let extra = usize::try_from((FINEST - 9).saturating_sub(exponent)).unwrap_or(0);
    let (kept, dropped) = digits.split_at(digits.len().saturating_sub(extra));
    let mantissa: i128 = if kept.is_empty() { 0 } else { kept.parse().ok()? };
    let exponent = exponent.saturating_add(i32::try_from(dropped.len()).ok()?);
    let scaled = mantissa.checked_mul(factor)?;
    let (rounded, exponent) = if exponent < FINEST {
        (rescale(scaled, exponent, FINEST)?, FINEST)
    } else {
        ((scaled, true), exponent)
    };
    let (value, exact) = rounded;
    let lost = dropped.bytes().any(|digit| digit != b'0');
    Some((if exact && lost { value.checked_add(1)? } else { value }, exponent))
}

/// The text in canonical form: no fraction, and the largest suffix that allows for that.
pub(super) fn format(mantissa: i128, exponent: i32, notation: Notation) -> String {
    if mantissa == 0 {
        return "0".to_owned();
    }
    if notation == Notation::Binary
        && compare((mantissa.saturating_abs(), exponent), (1024, 0)).is_ge()
        && let Some((value, true)) = rescale(mantissa, exponent, 0)
    {
        return binary(value);
    }
    decimal(mantissa, exponent, notation)
}

fn binary(mut value: i128) -> String {
    const SUFFIXES: [&str; 7] = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
    let mut power = 0;
    while value % 1024 == 0 && power + 1 < SUFFIXES.len() {
        value /= 1024;
        power += 1;
    }
    format!("{value}{}", SUFFIXES[power])
}

fn decimal(mut mantissa: i128, mut exponent: i32, notation: Notation) -> String {
    while mantissa % 10 == 0 {
        mantissa /= 10;
        exponent = exponent.saturating_add(1);
    }
    // Powers of 1000 only, and none that has no letter.
    let letter_limit = if notation == Notation::Exponent {
        i32::MAX - 2
    } else {
        18
    };
    while exponent.rem_euclid(3) != 0 || exponent > letter_limit {
        let Some(scaled) = mantissa.checked_mul(10) else { break };
        mantissa = scaled;
        exponent -= 1;
    }
    let suffix = match (notation, exponent) {
        (_, 0) => "",
        (Notation::Exponent, _) => return format!("{mantissa}e{exponent}"),
        (_, -9) => "n",
        (_, -6) => "u",
        (_, -3) => "m",
        (_, 3) => "k",
        (_, 6) => "M",
        (_, 9) => "G",
        (_, 12) => "T",
        (_, 15) => "P",
        (_, 18) => "E",
        _ => return format!("{mantissa}e{exponent}"),
    };
    format!("{mantissa}{suffix}")
}

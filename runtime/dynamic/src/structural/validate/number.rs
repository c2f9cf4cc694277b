//! Bounds of numbers.

use planesmith_machinery::field_error::FieldErrorKind;
use planesmith_wire::go_format::float;
use serde_json::Number;

use super::content::whole_part;
use super::{Format, Outcome, SchemaType, Structural, ValuePath};

/// The greatest integer up to which floating point numbers are exact.
const MAX_EXACT: f64 = 9_007_199_254_740_991.0;

/// Errors of what is smaller are errors of floating point arithmetic.
const EPSILON: f64 = 1e-9;

/// A number as it was written: without a point or with one.
#[derive(Clone, Copy, Debug)]
enum Digits {
    Whole(i64),
    Point(f64),
}

impl Digits {
    fn from_number(number: &Number) -> Self {
        match number.as_i64() {
            Some(whole) => Digits::Whole(whole),
            None => Digits::Point(number.as_f64().unwrap_or_default()),
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "bounds are floating point numbers")]
    fn as_point(self) -> f64 {
        match self {
            Digits::Whole(whole) => whole as f64,
            Digits::Point(point) => point,
        }
    }

    fn rendered(self) -> String {
        match self {
            Digits::Whole(whole) => whole.to_string(),
            Digits::Point(point) => float(point),
        }
    }
}

impl Structural {
    pub(super) fn check_number(&self, number: &Number, location: &ValuePath<'_>, outcome: &mut Outcome) {
        let number = Digits::from_number(number);
        self.check_range(number, "Checked", location, outcome);
        let Some(limits) = &self.limits else { return };
        if let Some(factor) = limits.multiple_of {
            // A bound that is no number of the type itself is one all the same.
            let number = self.for_bound(number, factor, "MultipleOf", location, outcome);
            check_multiple(number, factor, location, outcome);
        }
        if let Some(min) = limits.minimum {
            let number = self.for_bound(number, min, "Minimum boundary", location, outcome);
            let words = match limits.exclusive_minimum {
                true => "greater than",
                false => "greater than or equal to",
            };
            let breaks = match number {
                Digits::Whole(number) if limits.exclusive_minimum => number <= whole_part(min),
                Digits::Whole(number) => number < whole_part(min),
                Digits::Point(number) if limits.exclusive_minimum => number <= min,
                Digits::Point(number) => number < min,
            };
            report_bound(breaks, number, words, min, location, outcome);
        }
        if let Some(max) = limits.maximum {
            let number = self.for_bound(number, max, "Maximum boundary", location, outcome);
            let words = match limits.exclusive_maximum {
                true => "less than",
                false => "less than or equal to",
            };
            let breaks = match number {
                Digits::Whole(number) if limits.exclusive_maximum => number >= whole_part(max),
                Digits::Whole(number) => number > whole_part(max),
                Digits::Point(number) if limits.exclusive_maximum => number >= max,
                Digits::Point(number) => number > max,
            };
            report_bound(breaks, number, words, max, location, outcome);
        }
    }

    /// The number to be compared with `bound`: as it is, or as a floating point number if the bound is none of the type.
    fn for_bound(
        &self,
        number: Digits,
        bound: f64,
        what: &str,
        location: &ValuePath<'_>,
        outcome: &mut Outcome,
    ) -> Digits {
        match self.check_range(Digits::Point(bound), what, location, outcome) {
            true => number,
            false => Digits::Point(number.as_point()),
        }
    }

    /// Checks a number against the type and format. True if it conforms.
    fn check_range(&self, number: Digits, what: &str, location: &ValuePath<'_>, outcome: &mut Outcome) -> bool {
        let format = self.format().map_or("", Format::name);
        let (ty, format, fits) = match self.schema_type {
            SchemaType::Integer => {
                let whole = match number {
                    Digits::Whole(whole) => Some(whole),
                    Digits::Point(point) => as_whole(point),
                };
                let fits = match format {
                    "int32" => whole.is_some_and(|whole| i32::try_from(whole).is_ok()),
                    _ => whole.is_some(),
                };
                ("integer", format, fits)
            }
            SchemaType::Number => {
                let fits = format != "float" || number.as_point().abs() <= f64::from(f32::MAX);
                ("number", format, fits)
            }
            _ => return true,
        };
        if !fits {
            let format = match format {
                "" => "(default format)".to_owned(),
                format => format!("with format {format}"),
            };
            outcome.add_about_all(format!("{what} value must be of type {ty} {format} in {location}"));
        }
        fits
    }
}

/// A floating point number as the integer that it stands for.
fn as_whole(point: f64) -> Option<i64> {
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    (point.fract() == 0.0 && (-LIMIT..LIMIT).contains(&point)).then(|| whole_part(point))
}

/// True if a floating point number stands for an integer, give or take an error of arithmetic.
pub(super) fn is_integer(number: f64) -> bool {
    if !number.is_finite() || number.abs() > MAX_EXACT {
        return false;
    }
    let whole = number.trunc();
    let size = number.abs() + whole.abs();
    number == whole || (whole != 0.0 && (number - whole).abs() / size < EPSILON)
}

fn check_multiple(number: Digits, factor: f64, location: &ValuePath<'_>, outcome: &mut Outcome) {
    let (factor_shown, is_positive, is_multiple) = match number {
        Digits::Whole(number) => {
            let factor = whole_part(factor);
            let is_multiple = number.checked_rem(factor).is_none_or(|rest| rest == 0);
            (factor.to_string(), factor > 0, is_multiple)
        }
        Digits::Point(number) => {
            let quotient = if factor < 1.0 {
                1.0 / factor * number
            } else {
                number / factor
            };
            (float(factor), factor > 0.0, is_integer(quotient))
        }
    };
    if !is_positive {
        let detail = format!("factor MultipleOf declared for {location} must be positive: {factor_shown}");
        outcome.add(location.to_string(), FieldErrorKind::Invalid, factor_shown, detail);
    } else if !is_multiple {
        let rule = format!("should be a multiple of {factor_shown}");
        outcome.invalid(location, number.rendered(), &rule);
    }
}

fn report_bound(
    breaks: bool,
    number: Digits,
    words: &str,
    bound: f64,
    location: &ValuePath<'_>,
    outcome: &mut Outcome,
) {
    if breaks {
        let bound = match number {
            Digits::Whole(_) => whole_part(bound).to_string(),
            Digits::Point(_) => float(bound),
        };
        outcome.invalid(location, number.rendered(), &format!("should be {words} {bound}"));
    }
}

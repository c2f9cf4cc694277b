//! Tests of definitions: random valid objects, and properties that hold for them.
//!
//! Objects are generated from the tables and from validation errors, so that few kinds need test code of their own; see
//! [`Samples`]. They depend only on a seed, so that failures are reproducible.

mod losses;
mod path;
mod random;
mod repair;
mod sample;

use crate::conversion::convert;
use crate::defaulting::set_defaults;
use crate::environment::Environment;
use crate::json::{self, Strictness};
use crate::resource::ResourceFacts;
use crate::resource::object::Object;
use crate::scheme::Scheme;

pub use sample::Samples;

/// Number of objects per property.
const SAMPLES: u64 = 48;

/// Asserts that an object that is written in one version, read in another and written back loses nothing, for every
/// pair of versions of every kind that `register` adds. Versions in different groups with the same storage are pairs,
/// too.
///
/// The order of lists may change, and defaults of a version may be added. Objects that a version cannot represent are
/// excluded; see `Convert::can_hold`.
///
/// # Panics
///
/// If data is lost; the message contains the version, the object and the path.
#[track_caller]
pub fn assert_versions_lose_nothing(register: fn(&mut Scheme), samples: &Samples) {
    let mut scheme = Scheme::new();
    register(&mut scheme);
    let mut losses = Vec::new();
    for from in scheme.iter() {
        let others = scheme
            .iter()
            .filter(|other| other.is_version_of(from) && *other != from);
        let others: Vec<_> = others.collect();
        if others.is_empty() {
            continue;
        }
        match valid_objects(from, samples) {
            Ok(objects) => {
                let check = |by_way_of| check_pair(from, by_way_of, &objects).err();
                losses.extend(others.into_iter().filter_map(check));
            }
            Err(problem) => losses.push(problem),
        }
    }
    assert!(losses.is_empty(), "{} pairs:\n{}", losses.len(), losses.join("\n"));
}

/// Reports the first loss of an object in a round trip through another version.
fn check_pair(from: &ResourceFacts, by_way_of: &ResourceFacts, samples: &[Box<dyn Object>]) -> Result<(), String> {
    let mut held = 0;
    for object in samples {
        let pair = format!(
            "{}: written in {}, read and written back in {}",
            from.kind, from.api_version, by_way_of.api_version
        );
        match round_trip(&**object, by_way_of) {
            Ok(Outcome::Preserved) => held += 1,
            Ok(Outcome::LeftOut) => {}
            Err(lost) => return Err(format!("{pair}: {lost}\n{}", rendered(&**object))),
        }
    }
    if held * 4 < samples.len() {
        let (kind, version) = (&from.kind, &by_way_of.version);
        return Err(format!("{kind} {version}: `can_hold` leaves out nearly everything"));
    }
    Ok(())
}

/// The outcome of a round trip without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// The object was preserved.
    Preserved,
    /// The other version cannot represent the object.
    LeftOut,
}

/// Asserts that objects of every kind that `register` adds survive a JSON round trip.
///
/// # Panics
///
/// If a decoded object differs; the message contains the object.
#[track_caller]
pub fn assert_json_loses_nothing(register: fn(&mut Scheme), samples: &Samples) {
    let mut scheme = Scheme::new();
    register(&mut scheme);
    for facts in scheme.iter() {
        for object in valid_objects(facts, samples).unwrap_or_else(|problem| panic!("{problem}")) {
            let text = json::to_vec(&*object);
            let mut back = facts.zero();
            let read = json::decode(&text, &mut *back, Strictness::Strict);
            let clean = read.is_ok_and(|findings| findings.is_empty());
            assert!(
                clean && json::to_vec(&*back) == text,
                "{}: {}",
                facts.kind,
                rendered(&*object)
            );
        }
    }
}

/// Returns valid objects of a kind.
///
/// # Errors
///
/// If too few objects can be generated, because the tables and the strategy of the kind contradict each other.
fn valid_objects(facts: &ResourceFacts, samples: &Samples) -> Result<Vec<Box<dyn Object>>, String> {
    let mut problems = None;
    let mut keep = |made: Result<Box<dyn Object>, String>| made.map_err(|problem| problems = Some(problem)).ok();
    let objects: Vec<_> = (0..SAMPLES)
        .filter_map(|seed| keep(samples.sample(facts, seed)))
        .collect();
    if objects.len() as u64 * 4 >= SAMPLES * 3 {
        return Ok(objects);
    }
    Err(format!(
        "{} {}: only {} of {SAMPLES} random objects could be made valid; the last one: {}",
        facts.api_version,
        facts.kind,
        objects.len(),
        problems.unwrap_or_default()
    ))
}

/// Writes `object`, reads it in `other`, writes it back, and compares the stored objects.
fn round_trip(object: &dyn Object, other: &ResourceFacts) -> Result<Outcome, String> {
    let facts = object.resource();
    let stored = convert(object, &facts.hub());
    let read = convert(&*stored, facts);
    let first = losses::find(&json::to_value(object), &json::to_value(&*read));
    first.map_err(|path| format!("{path} is lost when the object is stored"))?;

    if other
        .conversion
        .is_some_and(|conversion| !(conversion.can_hold)(&*stored))
    {
        return Ok(Outcome::LeftOut);
    }
    let mut elsewhere = convert(&*stored, other);
    set_defaults(&mut *elsewhere, Environment::defaults());
    let stored_again = convert(&*elsewhere, &facts.hub());
    let (before, after) = (json::to_value(&*stored), json::to_value(&*stored_again));
    losses::find(&before, &after).map_err(|path| format!("{path} is lost"))?;
    losses::find(&after, &before).map_err(|path| format!("{path} appears"))?;
    Ok(Outcome::Preserved)
}

fn rendered(object: &dyn Object) -> String {
    let mut text = Vec::new();
    json::indent(&json::to_vec(object), &mut text);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests;

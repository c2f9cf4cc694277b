//! Random objects: filled from the tables, then repaired until validation accepts them.

use std::fmt;
use std::sync::Arc;

use regex::Regex;

use super::random::Random;
use super::repair::repair;
use crate::defaulting::set_defaults;
use crate::environment::Environment;
use crate::facts::{FieldFacts, Rule};
use crate::resource::object::{Object, Resource};
use crate::resource::strategy::Context;
use crate::resource::{ResourceFacts, Scope};
use crate::scalar::{Scalar, Token};
use crate::validation::check_create;
use crate::value::{Slot, Struct, Value, View};

/// Maximum number of repairs of one object.
const REPAIRS: u32 = 400;

/// Maximum depth of filled structs; deeper ones stay empty.
const DEPTH: u32 = 8;

/// A generator of random objects. The tables of most kinds are sufficient for it; the others need an adjustment.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    adjustments: Vec<Adjustment>,
    unvalidated: Vec<ResourceFacts>,
}

/// A change of the random objects of one kind.
#[derive(Clone)]
struct Adjustment {
    kind: ResourceFacts,
    adjust: Arc<Adjust>,
}

/// Changes an object.
type Adjust = dyn Fn(&mut dyn Object);

impl fmt::Debug for Adjustment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.kind.kind)
    }
}

impl Samples {
    /// Makes dependent fields of random objects consistent with `adjust`, such as a name that is composed of other
    /// fields.
    #[must_use]
    pub fn adjust<R: Resource>(mut self, adjust: fn(&mut R)) -> Self {
        let adjust = move |object: &mut dyn Object| {
            if let Some(object) = object.downcast_mut::<R>() {
                adjust(object);
            }
        };
        self.adjustments.push(Adjustment {
            kind: R::RESOURCE.clone(),
            adjust: Arc::new(adjust),
        });
        self
    }

    /// Skips the validation of objects of `R`, for a kind whose valid objects contain proofs, such as signatures, that
    /// random objects cannot have.
    #[must_use]
    pub fn unvalidated<R: Resource>(mut self) -> Self {
        self.unvalidated.push(R::RESOURCE.clone());
        self
    }

    /// Returns a random object of a kind in storable form: defaults are set, fields that a creator cannot set are
    /// reset, and validation finds no errors unless it is skipped.
    ///
    /// # Errors
    ///
    /// The last validation errors, if the object could not be repaired.
    pub fn sample(&self, facts: &ResourceFacts, seed: u64) -> Result<Box<dyn Object>, String> {
        let mut random = Random::new(seed);
        let mut object = facts.zero();
        fill_struct(&mut *object, DEPTH, &mut random);
        name(&mut *object, seed, &mut random);
        if self.unvalidated.contains(facts) {
            set_defaults(&mut *object, Environment::defaults());
            return Ok(object);
        }
        for _ in 0..REPAIRS {
            set_defaults(&mut *object, Environment::defaults());
            for adjustment in &self.adjustments {
                if adjustment.kind == *facts {
                    (adjustment.adjust)(&mut *object);
                }
            }
            facts.strategy.prepare_for_create(&mut *object, &Context::default());
            let errors = check_create(&*object, &Context::default());
            if errors.is_empty() {
                return Ok(object);
            }
            for error in errors.as_slice() {
                repair(&mut *object, error, &mut random);
            }
        }
        let errors = check_create(&*object, &Context::default()).joined().unwrap_or_default();
        Err(format!("{errors}\n{}", super::rendered(&*object)))
    }
}

fn name(object: &mut dyn Object, seed: u64, random: &mut Random) {
    let namespaced = object.resource().scope == Scope::Namespaced;
    let meta = object.meta_mut();
    meta.name = format!("sample-{seed}");
    meta.uid = format!("00000000-0000-4000-8000-{seed:012}");
    if namespaced {
        meta.namespace = "default".to_owned();
    }
    if random.one_in(2) {
        let value = random_text(&[], random);
        meta.annotations.insert("example.com/note".to_owned(), value);
        meta.labels.insert("example.com/color".to_owned(), "red".to_owned());
    }
}

/// Fills all fields except the metadata of objects.
pub(super) fn fill_struct(target: &mut dyn Struct, depth: u32, random: &mut Random) {
    let Some(depth) = depth.checked_sub(1) else {
        return;
    };
    let facts = target.facts();
    // A struct that contains itself in several fields would grow exponentially.
    if random.open.iter().any(|open| std::ptr::eq(*open, facts)) {
        return;
    }
    random.open.push(facts);
    for (index, field) in facts.fields.iter().enumerate() {
        let wanted = field.required || field.inline || !random.one_in(3);
        if wanted && field.name != "metadata" {
            // Status is not validated, so deeper values would be unrealistic.
            let depth = if field.name == "status" { depth.min(1) } else { depth };
            fill(target.field_mut(index), Some(field), depth, random);
        }
    }
    random.open.pop();
}

fn is_null(view: &View<'_>) -> bool {
    let View::Scalar(leaf) = view else { return false };
    let mut json = Vec::new();
    leaf.write_json(&mut json);
    json == b"null"
}

/// Fills a value with random content. Declared rules are followed where that is easy.
pub(super) fn fill(value: &mut dyn Value, field: Option<&FieldFacts>, depth: u32, random: &mut Random) {
    fill_by(value, field.map_or(&[], |field| field.rules), depth, random);
}

fn fill_by(value: &mut dyn Value, rules: &[Rule], depth: u32, random: &mut Random) {
    match value.slot() {
        Slot::Bool(flag) => *flag = random.one_in(2),
        Slot::Int32(number) => *number = i32::try_from(integer(rules, random)).unwrap_or(1),
        Slot::Int64(number) => *number = integer(rules, random),
        Slot::Double(number) => *number = integer(rules, random) as f64 / 4.0,
        Slot::Str(target) => *target = random_text(rules, random),
        Slot::Bytes(bytes) => *bytes = random_text(&[], random).into_bytes(),
        Slot::Scalar(scalar) => leaf(scalar, random),
        Slot::Struct(inner) => fill_struct(inner, depth, random),
        Slot::Optional(optional) => {
            fill_by(optional.insert(), rules, depth, random);
            // JSON does not distinguish a null leaf from an absent one.
            if optional.get_mut().is_some_and(|value| is_null(&value.view())) {
                optional.clear();
            }
        }
        Slot::List(list) => {
            list.clear();
            for _ in 0..length(rules, random) {
                fill_by(list.push(), of_elements(rules), depth, random);
            }
        }
        Slot::Map(map) => {
            map.clear();
            for index in 0..length(rules, random) {
                let key = match random.one_in(3) {
                    true => USUAL_KEY.to_owned(),
                    false => format!("key-{index}"),
                };
                fill_by(map.entry(&key), of_elements(rules), depth, random);
            }
        }
    }
}

/// Returns the rules for the elements of a list or map.
fn of_elements(rules: &[Rule]) -> &[Rule] {
    let sample = |rule| match rule {
        &Rule::Each(rules) => Some(rules),
        Rule::KnownValues(_) => Some(std::slice::from_ref(rule)),
        _ => None,
    };
    rules.iter().find_map(sample).unwrap_or_default()
}

fn integer(rules: &[Rule], random: &mut Random) -> i64 {
    let (mut low, mut high) = (None, None);
    for rule in rules {
        match rule {
            Rule::Minimum(number) => low = Some(*number),
            Rule::Maximum(number) => high = Some(*number),
            _ => {}
        }
    }
    let low = low.unwrap_or(1);
    random.between(low, high.unwrap_or(low.saturating_add(50)))
}

fn length(rules: &[Rule], random: &mut Random) -> u64 {
    let (mut least, mut most) = (0, 3);
    for rule in rules {
        match rule {
            Rule::MinLength(length) => least = *length,
            Rule::MaxLength(length) => most = most.min(*length),
            // A single element is always unique.
            Rule::Unique(_) => most = most.min(1),
            _ => {}
        }
    }
    least + random.below(most.saturating_sub(least) + 1)
}

/// Texts in forms that rules often require.
const USUAL: [&str; 9] = [
    "apps/v1",
    "v1",
    "cpu",
    "memory",
    "example.com/thing",
    "10.9.8.0/24",
    "10.9.8.7",
    "http://example.com/a",
    "1.2.3",
];

/// The key of an entry that several kinds require.
const USUAL_KEY: &str = "storage";

/// Returns text that follows the declared rules; without rules a short word, sometimes with other characters.
pub(super) fn random_text(rules: &[Rule], random: &mut Random) -> String {
    let (mut least, mut most, mut patterns) = (1, 12, Vec::new());
    for rule in rules {
        match rule {
            Rule::Enum(texts) | Rule::KnownValues(texts) => return (*random.pick(texts)).to_owned(),
            Rule::MinLength(length) => least = *length,
            Rule::MaxLength(length) => most = *length,
            Rule::Pattern(pattern) => patterns.extend(Regex::new(pattern).ok()),
            _ => {}
        }
    }
    let mut candidate = (*random.pick(&USUAL)).to_owned();
    let fits = |candidate: &str| {
        let length = candidate.chars().count() as u64;
        (least..=most.max(least)).contains(&length) && patterns.iter().all(|pattern| pattern.is_match(candidate))
    };
    if random.one_in(4) && fits(&candidate) {
        return candidate;
    }
    for _ in 0..200 {
        let alphabet = random.pick(&["abcxyz", "abc-019", "ABCXYZ", "0123456789", "aB c\u{e9}\"<"]);
        let letters: Vec<char> = alphabet.chars().collect();
        let length = least + random.below(most.min(least + 8).saturating_sub(least) + 1);
        candidate = (0..length).map(|_| *random.pick(&letters)).collect();
        if fits(&candidate) {
            break;
        }
    }
    candidate
}

/// Sets a leaf to the first of a few usual texts that it accepts.
fn leaf(scalar: &mut dyn Scalar, random: &mut Random) {
    let number = random.between(1, 500).to_string();
    let quantity = format!("{number}m");
    let time = format!("2024-05-06T07:{:02}:09Z", random.below(60));
    let micro_time = format!("2024-05-06T07:{:02}:09.123456Z", random.below(60));
    let duration = format!("{number}s");
    let object = format!("{{\"a\":{number}}}");
    let mut texts = [quantity, time, micro_time, duration, number.clone()].to_vec();
    let first = random.below(texts.len() as u64) as usize;
    texts.rotate_left(first);
    // A leaf that accepts any document becomes an object in half of the cases.
    if random.one_in(2) && scalar.read_json(Token::Object(object.as_bytes())).is_ok() {
        return;
    }
    for text in &texts {
        if scalar.read_json(Token::Str(text)).is_ok() && !scalar.is_zero() {
            return;
        }
    }
    if scalar.read_json(Token::Object(object.as_bytes())).is_err() {
        // A leaf that accepts none of these stays empty.
        let _ = scalar.read_json(Token::Number(&number));
    }
}

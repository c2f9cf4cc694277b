//! Decodes JSON into a struct by walking its table.

use std::any::Any;
use std::collections::BTreeSet;

use planesmith_wire::go_base64;
use planesmith_wire::json::{Malformed, Next, Reader, check_syntax, read_tree, syntax_error};
use serde_json::Value as Tree;

use super::field_location::{FieldLocation, Seen};
use super::go_type::{go_struct, go_type};
use super::path::Path;
use super::{DecodeError, Findings, Strictness};
use crate::decode_budget;
use crate::facts::{FieldFacts, StructFacts, TypeFacts};
use crate::scalar::{Scalar, ScalarError, Token};
use crate::value::{List, Map, Slot, Struct, Value};

/// Maximum nesting depth of typed values: the walk recurses, so this bounds the stack.
pub const MAX_TYPED_DEPTH: usize = 256;

/// The context of a document.
#[derive(Clone, Copy)]
pub(super) struct Origin {
    /// Number of enclosing arrays and objects.
    pub(super) depth: usize,
    /// True if kube-apiserver decodes the document without a type.
    pub(super) untyped: bool,
    /// Maximum bytes of the elements of its lists and maps.
    pub(super) budget: usize,
}

impl Origin {
    pub(super) const TYPED: Self = Self {
        depth: 0,
        untyped: false,
        budget: usize::MAX,
    };
    pub(super) const UNTYPED: Self = Self {
        depth: 0,
        untyped: true,
        budget: usize::MAX,
    };
}

/// Decodes a document.
pub(super) fn decode(
    input: &[u8],
    target: &mut dyn Struct,
    strictness: Strictness,
    origin: Origin,
) -> Result<Findings, DecodeError> {
    let mut walk = Walk::new(input, strictness, origin);
    let walked = walk.structure(target, &Path::ROOT);
    walk.finish(walked)
}

/// Decodes a document that is one value of any type.
pub(super) fn decode_value(input: &[u8], target: &mut dyn Value, ty: &TypeFacts) -> Result<(), DecodeError> {
    let mut walk = Walk::new(input, Strictness::Lenient, Origin::TYPED);
    let walked = walk.value(target.slot(), ty, &Path::ROOT);
    walk.finish(walked).map(drop)
}

/// Decodes a document that is one leaf.
pub(super) fn decode_leaf(input: &[u8], target: &mut dyn Scalar) -> Result<(), DecodeError> {
    let mut walk = Walk::new(input, Strictness::Lenient, Origin::TYPED);
    let walked = walk.scalar(target, &Path::ROOT);
    walk.finish(walked).map(drop)
}

impl<'a> Walk<'a> {
    fn new(input: &'a [u8], strictness: Strictness, origin: Origin) -> Self {
        Self {
            input,
            reader: Reader::within(input, origin.depth),
            strict: strictness == Strictness::Strict,
            untyped: origin.untyped,
            budget: origin.budget,
            findings: Findings::default(),
            mismatch: None,
        }
    }

    /// Returns the findings if nothing follows the document.
    fn finish(mut self, walked: Result<(), Stop>) -> Result<Findings, DecodeError> {
        let input = self.input;
        let done = walked.and_then(|()| Ok(self.reader.end()?));
        match (done, self.mismatch) {
            (Ok(()), None) => Ok(self.findings),
            (Ok(()), Some(message)) => Err(DecodeError::Type(message)),
            (Err(Stop::Malformed), _) => Err(syntax_error(input)),
            // Like Go's decoder, which checks the syntax of the whole input before it decodes a value.
            (Err(Stop::Refused(message)), _) => match check_syntax(input) {
                Err(syntax) => Err(DecodeError::Syntax(syntax)),
                Ok(()) => Err(DecodeError::Type(message)),
            },
        }
    }
}

/// The reason for which the walk ends early.
enum Stop {
    Malformed,
    /// A leaf rejected its text; the rest is not decoded.
    Refused(String),
}

impl From<Malformed> for Stop {
    fn from(_: Malformed) -> Self {
        Stop::Malformed
    }
}

struct Walk<'a> {
    input: &'a [u8],
    reader: Reader<'a>,
    strict: bool,
    untyped: bool,
    budget: usize,
    findings: Findings,
    /// The first value of a wrong type; the walk continues after it.
    mismatch: Option<String>,
}

impl<'a> Walk<'a> {
    fn value(&mut self, slot: Slot<'_>, ty: &TypeFacts, path: &Path<'_>) -> Result<(), Stop> {
        match slot {
            Slot::Optional(optional) => {
                if self.reader.peek()? == Next::Null {
                    optional.set_null();
                    return Ok(self.reader.null()?);
                }
                self.value(optional.insert().slot(), ty.present(), path)
            }
            Slot::Str(target) => self.plain(Next::Text, ty, path, |walk| {
                *target = walk.reader.text()?.into_owned();
                Ok(())
            }),
            Slot::Bool(target) => self.plain(Next::Bool, ty, path, |walk| {
                *target = walk.reader.bool()?;
                Ok(())
            }),
            Slot::Int32(target) => self.number(ty, path, |text| text.parse().map(|value| *target = value).is_ok()),
            Slot::Int64(target) => self.number(ty, path, |text| text.parse().map(|value| *target = value).is_ok()),
            Slot::Double(target) => self.number(ty, path, |text| match text.parse::<f64>() {
                Ok(value) if value.is_finite() => {
                    *target = value;
                    true
                }
                _ => false,
            }),
            Slot::Bytes(target) => self.bytes(target, ty, path),
            Slot::Scalar(target) => self.scalar(target, path),
            Slot::Struct(target) => self.structure(target, path),
            Slot::List(target) => self.list(target, ty, path),
            Slot::Map(target) => self.map(target, ty, path),
        }
    }

    /// Decodes a value of the JSON type `wanted`; `null` leaves the target unchanged.
    fn plain(
        &mut self,
        wanted: Next,
        ty: &TypeFacts,
        path: &Path<'_>,
        read: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Stop> {
        match self.reader.peek()? {
            next if next == wanted => Ok(read(self)?),
            Next::Null => Ok(self.reader.null()?),
            next => self.mismatched(next.name(), &go_type(ty), path),
        }
    }

    /// Decodes a number; `store` returns whether the type can represent it.
    fn number(&mut self, ty: &TypeFacts, path: &Path<'_>, store: impl FnOnce(&str) -> bool) -> Result<(), Stop> {
        match self.reader.peek()? {
            Next::Number => {
                let text = self.reader.number()?;
                if !store(text) {
                    self.note_mismatch(&format!("number {text}"), &go_type(ty), path);
                }
                Ok(())
            }
            Next::Null => Ok(self.reader.null()?),
            next => self.mismatched(next.name(), &go_type(ty), path),
        }
    }

    fn bytes(&mut self, target: &mut Vec<u8>, ty: &TypeFacts, path: &Path<'_>) -> Result<(), Stop> {
        match self.reader.peek()? {
            Next::Text => {
                match go_base64::decode(&self.reader.text()?) {
                    Ok(bytes) => *target = bytes,
                    Err(error) => drop(self.mismatch.get_or_insert(error)),
                }
                Ok(())
            }
            Next::Null => {
                target.clear();
                Ok(self.reader.null()?)
            }
            Next::Array => self.byte_list(target, path),
            next => self.mismatched(next.name(), &go_type(ty), path),
        }
    }

    /// Decodes bytes as an array of numbers, which Go accepts, too.
    fn byte_list(&mut self, target: &mut Vec<u8>, path: &Path<'_>) -> Result<(), Stop> {
        target.clear();
        let mut more = self.enter(b']')?;
        while more {
            match self.reader.peek()? {
                Next::Number => {
                    let number = self.reader.number()?;
                    let byte: Result<u8, _> = number.parse();
                    if byte.is_err() {
                        self.note_mismatch(&format!("number {number}"), "uint8", path);
                    }
                    target.push(byte.unwrap_or_default());
                }
                Next::Null => {
                    self.reader.null()?;
                    target.push(0);
                }
                next => self.mismatched(next.name(), "uint8", path)?,
            }
            more = self.reader.another(b']')?;
        }
        Ok(())
    }

    fn scalar(&mut self, target: &mut dyn Scalar, path: &Path<'_>) -> Result<(), Stop> {
        if let Some(tree) = (target as &mut dyn Any).downcast_mut::<Tree>() {
            return self.tree(tree, path);
        }
        let text;
        let token = match self.reader.peek()? {
            Next::Null => {
                self.reader.null()?;
                Token::Null
            }
            Next::Bool => Token::Bool(self.reader.bool()?),
            Next::Number => Token::Number(self.reader.number()?),
            Next::Text => {
                text = self.reader.text()?;
                Token::Str(&text)
            }
            Next::Object => Token::Object(self.pass(path)?),
            Next::Array => Token::Array(self.pass(path)?),
        };
        let depth = self.reader.depth();
        target.read_json_within(token, depth).map_err(|error| {
            Stop::Refused(match error {
                ScalarError::Text(message) => message,
                ScalarError::Kind { found, wanted } => type_error(&found, wanted, path),
            })
        })
    }

    fn tree(&mut self, target: &mut Tree, path: &Path<'_>) -> Result<(), Stop> {
        let findings = (self.strict && self.untyped).then_some(&mut self.findings);
        *target = read_tree(&mut self.reader, findings, path)?.map_err(Stop::Refused)?;
        Ok(())
    }

    /// Skips a value that remains JSON text, or whose field is unknown.
    fn pass(&mut self, path: &Path<'_>) -> Result<&'a [u8], Malformed> {
        let depth = self.reader.depth();
        let text = self.reader.skip()?;
        if self.strict && self.untyped {
            // Other errors in it are reported by its later decoder.
            let _ = read_tree(&mut Reader::within(text, depth), Some(&mut self.findings), path);
        }
        Ok(text)
    }

    fn list(&mut self, target: &mut dyn List, ty: &TypeFacts, path: &Path<'_>) -> Result<(), Stop> {
        let TypeFacts::List(element) = ty.present() else {
            return self.mismatched("array", &go_type(ty), path);
        };
        match self.reader.peek()? {
            Next::Array => {}
            Next::Null => {
                target.clear();
                return Ok(self.reader.null()?);
            }
            next => return self.mismatched(next.name(), &go_type(ty.present()), path),
        }
        let mut count = 0;
        let mut more = self.enter(b']')?;
        while more {
            // A duplicate list is decoded over the first one, element by element, as in Go.
            let slot = match target.get_mut(count) {
                Some(_) => target.get_mut(count).map(Value::slot),
                None => {
                    let element = target.push();
                    decode_budget::take(&mut self.budget, element).map_err(Stop::Refused)?;
                    Some(element.slot())
                }
            };
            if let Some(slot) = slot {
                self.value(slot, element, &path.index(count))?;
            }
            count += 1;
            more = self.reader.another(b']')?;
        }
        target.truncate(count);
        Ok(())
    }

    fn map(&mut self, target: &mut dyn Map, ty: &TypeFacts, path: &Path<'_>) -> Result<(), Stop> {
        let TypeFacts::Map(element) = ty.present() else {
            return self.mismatched("object", &go_type(ty), path);
        };
        match self.reader.peek()? {
            Next::Object => {}
            Next::Null => {
                target.clear();
                return Ok(self.reader.null()?);
            }
            next => return self.mismatched(next.name(), &go_type(ty.present()), path),
        }
        // Entries from an earlier occurrence of the field are not duplicates; if there are none, the map itself detects
        // duplicates.
        let mut seen = (self.strict && !target.is_empty()).then(BTreeSet::new);
        let mut more = self.enter(b'}')?;
        while more {
            let key = self.reader.key()?;
            if self.strict {
                let duplicate = match &mut seen {
                    Some(seen) => !seen.insert(key.to_string()),
                    None => target.get(&key).is_some(),
                };
                if duplicate {
                    self.findings.duplicate(path, &key);
                }
            }
            let value = target.entry(&key);
            value.reset();
            decode_budget::take(&mut self.budget, value).map_err(Stop::Refused)?;
            self.value(value.slot(), element, &path.key(&key))?;
            more = self.reader.another(b'}')?;
        }
        Ok(())
    }

    fn structure(&mut self, target: &mut dyn Struct, path: &Path<'_>) -> Result<(), Stop> {
        let facts = target.facts();
        match self.reader.peek()? {
            Next::Object => {}
            Next::Null => return Ok(self.reader.null()?),
            next => return self.mismatched(next.name(), &go_struct(facts), path),
        }
        let mut seen = Seen::default();
        let mut others = BTreeSet::new();
        let mut hint = 0;
        let mut more = self.enter(b'}')?;
        while more {
            let key = self.reader.key()?;
            if let Some(location) = FieldLocation::find(facts, &key, hint) {
                hint = location.first() + 1;
                let is_again = (self.strict || self.untyped) && seen.twice(location.number);
                if self.strict && is_again {
                    self.findings.duplicate(path, &key);
                }
                let value = inlined(target, &location);
                if let Some(value) = value {
                    if self.untyped && is_again {
                        value.reset();
                    }
                    self.value(
                        value.slot(),
                        &location.field.ty,
                        &path.field(facts, location.field.name),
                    )?;
                } else {
                    self.reader.skip()?;
                }
            } else if let Some(name) = type_meta_field(facts, &key) {
                if self.strict && seen.twice(if name == "kind" { 126 } else { 127 }) {
                    self.findings.duplicate(path, name);
                }
                let path = path.field(facts, name);
                self.plain(Next::Text, &TypeFacts::String, &path, |walk| {
                    walk.reader.text().map(drop)
                })?;
            } else if let Some(rest) = rest_of(facts) {
                let field = path.key(&key);
                if let Slot::Map(rest) = target.field_mut(rest).slot() {
                    // The target may have entries already: a patch that fails is decoded again.
                    if self.strict && !others.insert(key.to_string()) {
                        self.findings.duplicate(path, &key);
                    }
                    self.value(rest.entry(&key).slot(), &TypeFacts::String, &field)?;
                }
            } else {
                if self.strict {
                    self.findings.unknown(path, &key);
                }
                if self.strict && self.untyped && !others.insert(key.to_string()) {
                    self.findings.duplicate(path, &key);
                }
                self.pass(&path.key(&key))?;
            }
            more = self.reader.another(b'}')?;
        }
        Ok(())
    }

    /// Enters an object or array whose parts are decoded by recursion.
    fn enter(&mut self, close: u8) -> Result<bool, Malformed> {
        if self.reader.depth() >= MAX_TYPED_DEPTH {
            Err(Malformed)
        } else {
            self.reader.enter(close)
        }
    }

    /// Skips a value of the wrong type and records the mismatch.
    #[cold]
    fn mismatched(&mut self, found: &str, wanted: &str, path: &Path<'_>) -> Result<(), Stop> {
        self.note_mismatch(found, wanted, path);
        self.reader.skip()?;
        Ok(())
    }

    #[cold]
    fn note_mismatch(&mut self, found: &str, wanted: &str, path: &Path<'_>) {
        // Bytes are not elements of the declared type.
        let declared = (wanted != "uint8").then(|| path.declared_type()).flatten();
        let wanted = declared.as_deref().unwrap_or(wanted).trim_start_matches('*');
        self.mismatch.get_or_insert_with(|| type_error(found, wanted, path));
    }
}

fn type_error(found: &str, wanted: &str, path: &Path<'_>) -> String {
    format!(
        "json: cannot unmarshal {found} into {} of type {wanted}",
        path.for_type_error()
    )
}

/// Returns the field at `location`, inside the inlined structs around it.
fn inlined<'t>(target: &'t mut dyn Struct, location: &FieldLocation) -> Option<&'t mut dyn Value> {
    let mut target = target;
    for index in location.outer() {
        target = match present(target.field_mut(*index).slot()) {
            Slot::Struct(inner) => inner,
            // The table declares a struct.
            _ => return None,
        };
    }
    Some(target.field_mut(location.last()))
}

fn present(slot: Slot<'_>) -> Slot<'_> {
    match slot {
        Slot::Optional(optional) => present(optional.insert().slot()),
        other => other,
    }
}

/// Returns the index of the inlined map that receives unknown fields.
fn rest_of(facts: &StructFacts) -> Option<usize> {
    let is_rest = |field: &FieldFacts| field.inline && matches!(field.ty, TypeFacts::Map(_));
    facts.fields.iter().position(is_rest)
}

fn type_meta_field(facts: &StructFacts, key: &str) -> Option<&'static str> {
    facts.type_meta?;
    match key {
        "kind" => Some("kind"),
        "apiVersion" => Some("apiVersion"),
        _ => None,
    }
}

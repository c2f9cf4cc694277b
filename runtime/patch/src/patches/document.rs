//! A JSON document of which only the visited parts are read.

use std::collections::BTreeMap;

use serde_json::value::RawValue;

use planesmith_machinery::json;

/// A JSON value: as text until something below it is visited.
#[derive(Clone, Debug)]
pub(super) enum Node<'a> {
    /// Any value but null, as text that a client sent.
    Raw(&'a str),
    /// Any value but null, as compact text that a codec wrote.
    Stored(&'a str),
    /// Nothing.
    Null,
    /// An object whose entries were visited.
    Object(BTreeMap<String, Node<'a>>),
    /// An array whose elements were visited.
    Array(Vec<Node<'a>>),
}

/// Holds a value that is given as text.
type Hold<'a> = fn(&'a str) -> Node<'a>;

impl<'a> Node<'a> {
    /// A value that was sent; must be one JSON value.
    pub(super) fn sent(json: &'a str) -> Self {
        match json.trim_ascii() {
            "null" => Node::Null,
            json => Node::Raw(json),
        }
    }

    /// A value that a codec wrote.
    pub(super) fn stored(json: &'a str) -> Self {
        match json {
            "null" => Node::Null,
            json => Node::Stored(json),
        }
    }

    /// The text, as long as nothing below was visited; and how to hold the text of what is below.
    fn text(&self) -> Option<(&'a str, Hold<'a>)> {
        match self {
            Node::Raw(json) => Some((json, Node::sent)),
            Node::Stored(json) => Some((json, Node::stored)),
            _ => None,
        }
    }

    /// The characters, when it is text.
    pub(super) fn as_text(&self) -> Option<String> {
        serde_json::from_str(self.text()?.0).ok()
    }

    /// True if it is an array.
    pub(super) fn is_array(&self) -> bool {
        matches!(self, Node::Array(_)) || self.text().is_some_and(|(json, _)| json.starts_with('['))
    }

    /// The entries, when it is an object. Of equal keys the last one counts.
    pub(super) fn as_object(&mut self) -> Option<&mut BTreeMap<String, Node<'a>>> {
        if let Some((json, below)) = self.text()
            && json.starts_with('{')
        {
            let entries: BTreeMap<String, &'a RawValue> = serde_json::from_str(json).ok()?;
            let mut object = BTreeMap::new();
            object.extend(entries.into_iter().map(|(key, value)| (key, below(value.get()))));
            *self = Node::Object(object);
        }
        match self {
            Node::Object(entries) => Some(entries),
            _ => None,
        }
    }

    /// The elements, when it is an array.
    pub(super) fn as_array(&mut self) -> Option<&mut Vec<Node<'a>>> {
        if let Some((json, below)) = self.text()
            && json.starts_with('[')
        {
            let elements: Vec<&'a RawValue> = serde_json::from_str(json).ok()?;
            *self = Node::Array(elements.into_iter().map(|value| below(value.get())).collect());
        }
        match self {
            Node::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Appends the value as compact JSON; the keys of visited objects are sorted.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Node::Null => out.extend_from_slice(b"null"),
            Node::Stored(json) => out.extend_from_slice(json.as_bytes()),
            Node::Raw(json) => {
                if json::compact(json.as_bytes(), out).is_err() {
                    // The text was read before; one that is refused here is nested too deep to be of any type.
                    out.extend_from_slice(json.as_bytes());
                }
            }
            Node::Object(entries) => {
                let entries = entries.iter().map(|(key, value)| (&**key, value));
                json::encode_object(entries, out, Node::write);
            }
            Node::Array(elements) => json::encode_array(elements, out, Node::write),
        }
    }

    /// Removes entries without a value from objects, at any depth.
    pub(super) fn prune(&mut self) {
        // Most values hold no null at all, and need not be read.
        if self.text().is_some_and(|(json, _)| !json.contains("null")) {
            return;
        }
        if let Some(entries) = self.as_object() {
            entries.retain(|_, value| !matches!(value, Node::Null));
            entries.values_mut().for_each(Node::prune);
        } else if let Some(elements) = self.as_array() {
            elements.iter_mut().for_each(Node::prune);
        }
    }

    /// True if two values are the same: objects in any order, and other values but arrays byte for byte. Numbers and texts
    /// differ that are merely written differently, as in kube-apiserver; stored values are written as Go writes them.
    pub(super) fn equals(&mut self, other: &mut Node<'a>) -> bool {
        if let (Some(left), Some(right)) = (self.as_object(), other.as_object()) {
            return left.len() == right.len()
                && left
                    .iter_mut()
                    .zip(right)
                    .all(|((left, value), (right, other))| left == right && value.equals(other));
        }
        if let (Some(left), Some(right)) = (self.as_array(), other.as_array()) {
            return left.len() == right.len() && left.iter_mut().zip(right).all(|(left, right)| left.equals(right));
        }
        match (self.text(), other.text()) {
            (Some((left, _)), Some((right, _))) => left == right,
            _ => matches!((self, other), (Node::Null, Node::Null)),
        }
    }
}

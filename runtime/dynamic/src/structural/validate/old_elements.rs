//! Counterparts of values in the old document.

use std::collections::HashMap;

use serde_json::Value;

use super::super::{ListKind, Structural};

/// Elements of an old list that have counterparts.
#[derive(Debug)]
pub struct OldElements<'v> {
    keys: &'v [Box<str>],
    elements: HashMap<String, &'v Value>,
}

impl<'v> OldElements<'v> {
    /// The elements of `old`, in a list of the type `list`; `None` if its elements have no counterparts.
    #[must_use]
    pub fn new(list: &'v Structural, old: Option<&'v Value>) -> Option<Self> {
        let (ListKind::Map(keys), Some(Value::Array(elements)), Some(_)) = (&list.list, old, &list.items) else {
            return None;
        };
        let mut old_elements = Self {
            keys,
            elements: HashMap::with_capacity(elements.len()),
        };
        for element in elements {
            if let Some(key) = old_elements.key(element) {
                old_elements.elements.entry(key).or_insert(element);
            }
        }
        Some(old_elements)
    }

    /// The counterpart of `element`. One that lacks a key, or whose key is no plain value, has none.
    #[must_use]
    pub fn find(&self, element: &Value) -> Option<&'v Value> {
        self.elements.get(&self.key(element)?).copied()
    }

    fn key(&self, element: &Value) -> Option<String> {
        let entries = element.as_object()?;
        let mut all = String::new();
        for key in self.keys {
            match entries.get(&**key)? {
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
                value => {
                    all.push('\0');
                    all.push_str(&value.to_string());
                }
            }
        }
        Some(all).filter(|all| !all.is_empty())
    }
}

impl Structural {
    /// True if a value equals the old one. The order of keyed lists does not matter; an object with a field that the schema
    /// does not know never equals the old one.
    #[must_use]
    pub fn is_same(&self, value: &Value, old: &Value) -> bool {
        match (value, old) {
            (Value::Array(elements), Value::Array(old_elements)) => {
                if elements.len() != old_elements.len() {
                    return false;
                }
                match (&self.list, &self.items) {
                    (ListKind::Map(_), Some(items)) => {
                        let old_elements = OldElements::new(self, Some(old));
                        let is_same = |element: &Value| {
                            let old = old_elements
                                .as_ref()
                                .and_then(|old_elements| old_elements.find(element));
                            old.is_some_and(|old| items.is_same(element, old))
                        };
                        elements.iter().all(is_same)
                    }
                    (ListKind::Map(_), None) => elements.is_empty(),
                    _ => value == old,
                }
            }
            (Value::Object(entries), Value::Object(old_entries)) => {
                entries.len() == old_entries.len()
                    && entries.iter().all(|(name, value)| {
                        let old = old_entries.get(name);
                        let schema = self.field(name);
                        old.zip(schema).is_some_and(|(old, schema)| schema.is_same(value, old))
                    })
            }
            _ => value == old,
        }
    }
}

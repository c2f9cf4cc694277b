//! Fills in what a document leaves out.

use serde_json::Value;

use super::Structural;

impl Structural {
    /// Fills in defaults, also in place of a `null` that is no value.
    pub fn fill_defaults(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => {
                for (name, property) in self.properties.iter() {
                    let Some(default) = &property.default else { continue };
                    match entries.get_mut(name) {
                        None => {
                            entries.insert(name.to_string(), (**default).clone());
                        }
                        Some(null @ Value::Null) if !property.nullable => *null = (**default).clone(),
                        Some(_) => {}
                    }
                }
                for (name, value) in entries {
                    let Some(schema) = self.field(name) else { continue };
                    schema.replace_null(value);
                    schema.fill_defaults(value);
                }
            }
            Value::Array(elements) => {
                let Some(items) = &self.items else { return };
                for element in elements {
                    items.replace_null(element);
                    items.fill_defaults(element);
                }
            }
            _ => {}
        }
    }

    fn replace_null(&self, value: &mut Value) {
        if let (true, false, Some(default)) = (value.is_null(), self.nullable, &self.default) {
            *value = (**default).clone();
        }
    }

    /// Drops every `null` that is no value and that no default stands in for.
    pub fn drop_nulls(&self, value: &mut Value) {
        match value {
            Value::Object(entries) => entries.retain(|name, value| {
                let Some(schema) = self.field(name) else { return true };
                let keeps = !value.is_null() || schema.nullable || schema.default.is_some();
                if keeps {
                    schema.drop_nulls(value);
                }
                keeps
            }),
            Value::Array(elements) => {
                if let Some(items) = &self.items {
                    elements.iter_mut().for_each(|element| items.drop_nulls(element));
                }
            }
            _ => {}
        }
    }
}

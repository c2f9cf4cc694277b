//! The representation of offending values in messages.

use planesmith_wire::go_format::{float, quote};

use crate::json::{encode_part, encode_value};
use crate::value::{Value, View};

/// A value that an error message prints as Go does: text quoted, numbers plain, the rest as JSON.
pub trait BadValue {
    /// Returns the value as it appears in the message.
    fn rendered(&self) -> String;
}

/// A value that is already JSON text.
#[derive(Clone, Copy, Debug)]
pub struct Json<'a>(pub &'a str);

/// Returns a Go value without JSON tags as JSON: an object with the names of the Go fields, in their order.
#[must_use]
pub fn go_object<T: Into<serde_json::Value>>(fields: impl IntoIterator<Item = (&'static str, T)>) -> String {
    let fields = fields.into_iter().map(|(name, value)| {
        let value: serde_json::Value = value.into();
        format!("\"{name}\":{value}")
    });
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

impl BadValue for str {
    fn rendered(&self) -> String {
        quote(self)
    }
}

impl BadValue for String {
    fn rendered(&self) -> String {
        quote(self)
    }
}

impl BadValue for Json<'_> {
    fn rendered(&self) -> String {
        self.0.to_owned()
    }
}

impl BadValue for serde_json::Value {
    fn rendered(&self) -> String {
        match self {
            serde_json::Value::String(text) => quote(text),
            serde_json::Value::Number(number) if !number.is_i64() => float(number.as_f64().unwrap_or_default()),
            other => {
                let mut json = Vec::new();
                encode_value(other, &mut json);
                String::from_utf8_lossy(&json).into_owned()
            }
        }
    }
}

/// A list of texts, as JSON; an empty list counts as absent.
impl BadValue for [String] {
    fn rendered(&self) -> String {
        match self {
            [] => "null".to_owned(),
            texts => serde_json::Value::from(texts).to_string(),
        }
    }
}

/// Any value of an object; text quoted, the rest as JSON.
impl BadValue for dyn Value + '_ {
    fn rendered(&self) -> String {
        if let View::Str(text) = self.view() {
            return quote(text);
        }
        let mut json = Vec::new();
        encode_part(self, &mut json);
        String::from_utf8_lossy(&json).into_owned()
    }
}

impl<T: BadValue + ?Sized> BadValue for &T {
    fn rendered(&self) -> String {
        (**self).rendered()
    }
}

macro_rules! plain {
    ($($type:ty)*) => {
        $(impl BadValue for $type {
            fn rendered(&self) -> String {
                self.to_string()
            }
        })*
    };
}

plain!(bool i32 i64 u32 u64 usize f64);

#[cfg(test)]
mod tests {
    use super::go_object;

    #[test]
    fn objects_have_the_names_of_go_in_their_order() {
        assert_eq!(go_object([("B", "x\"y"), ("A", "")]), r#"{"B":"x\"y","A":""}"#);
        assert_eq!(go_object([("B", Some("x")), ("A", None)]), r#"{"B":"x","A":null}"#);
    }
}

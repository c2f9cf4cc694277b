//! Lists in annotations.

use planesmith_machinery::json::decode_value;
use planesmith_machinery::value::{Shape, Value};

/// Decodes an annotation that kube-apiserver decodes into a list of an internal type.
///
/// # Errors
///
/// The first mistake, in the words of Go.
pub(super) fn internal_list<T: Shape + Value + Default>(text: &str) -> Result<Vec<T>, String> {
    decode_value(text.as_bytes()).map_err(|error| with_internal_type(error.to_string()))
}

/// Replaces the package of a versioned type at the end of an error. All that is before it may be text of the client.
fn with_internal_type(error: String) -> String {
    match error.rsplit_once("v1.") {
        Some((before, name))
            if name.chars().all(char::is_alphanumeric)
                && (before.ends_with(" of type ") || before.ends_with(" of type []")) =>
        {
            format!("{before}core.{name}")
        }
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::v1::{Taint, Toleration};

    #[test]
    fn errors_name_the_internal_type() {
        let problem = |text| internal_list::<Toleration>(text).expect_err("no list");
        assert_eq!(
            problem("{}"),
            "json: cannot unmarshal object into Go value of type []core.Toleration"
        );
        assert_eq!(problem("not"), "invalid character 'o' in literal null (expecting 'u')");
    }

    #[test]
    fn text_of_the_client_is_not_changed() {
        let error = internal_list::<Taint>(r#"[{"timeAdded": "a text of type v1.Time"}]"#).expect_err("no time");
        assert!(error.contains("a text of type v1.Time"), "{error}");
        let plural = "an error of type v1.Time and more".to_owned();
        assert_eq!(with_internal_type(plural.clone()), plural);
    }
}

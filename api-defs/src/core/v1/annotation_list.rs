//! Lists in annotations.

use planesmith_machinery::json::decode_value;
use planesmith_machinery::value::{Shape, Value};

/// Decodes an annotation that kube-apiserver decodes into a list of an internal type.
///
/// # Errors
///
/// The first mistake, in the words of Go.
pub(super) fn internal_list<T: Shape + Value + Default>(text: &str) -> Result<Vec<T>, String> {
    decode_value(text.as_bytes()).map_err(|error| {
        let shown = error.to_string();
        shown
            .replace(" of type []v1.", " of type []core.")
            .replace(" of type v1.", " of type core.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::v1::Toleration;

    #[test]
    fn errors_name_the_internal_type() {
        let problem = |text| internal_list::<Toleration>(text).expect_err("no list");
        assert_eq!(
            problem("{}"),
            "json: cannot unmarshal object into Go value of type []core.Toleration"
        );
        assert_eq!(problem("not"), "invalid character 'o' in literal null (expecting 'u')");
    }
}

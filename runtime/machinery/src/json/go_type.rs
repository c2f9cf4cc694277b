//! Names of Go types, as decoding errors show them.

use crate::facts::{StructFacts, TypeFacts};

/// E.g. `map[string]string`, `[]v1.Container`, `int32`.
pub(crate) fn go_type(ty: &TypeFacts) -> String {
    match ty {
        TypeFacts::Bool => "bool".to_owned(),
        TypeFacts::Int32 => "int32".to_owned(),
        TypeFacts::Int64 => "int64".to_owned(),
        TypeFacts::Double => "float64".to_owned(),
        TypeFacts::String => "string".to_owned(),
        TypeFacts::Bytes => "[]uint8".to_owned(),
        TypeFacts::Scalar(facts) => facts.go_name.to_owned(),
        TypeFacts::Struct(facts) => go_struct(facts()),
        TypeFacts::List(element) => format!("[]{}", go_type(element)),
        TypeFacts::Map(element) => format!("map[string]{}", go_type(element)),
        TypeFacts::Optional(inner) => format!("*{}", go_type(inner)),
    }
}

/// The struct's name behind that of its package, which Go names after the API version.
pub(crate) fn go_struct(facts: &StructFacts) -> String {
    format!("{}.{}", package(facts), facts.name)
}

/// The version in the type's module path; types outside of any version are `v1`, like metadata.
fn package(facts: &StructFacts) -> &'static str {
    facts.module.rsplit("::").find(|part| is_version(part)).unwrap_or("v1")
}

/// Whether the text has the form of an API version: `v1`, `v2beta1`.
fn is_version(text: &str) -> bool {
    let rest = text.strip_prefix('v').unwrap_or_default();
    let number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match rest.split_once("alpha").or_else(|| rest.split_once("beta")) {
        Some((major, minor)) => number(major) && number(minor),
        None => number(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::go_struct;
    use crate::facts::StructFacts;

    #[test]
    fn types_are_named_after_the_version_of_their_module() {
        let name = |module| {
            go_struct(&StructFacts {
                name: "Thing",
                module,
                ..StructFacts::NONE
            })
        };
        assert_eq!(
            name("definitions::autoscaling::v2::horizontal_pod_autoscaler"),
            "v2.Thing"
        );
        assert_eq!(name("shop::v1alpha1"), "v1alpha1.Thing");
        assert_eq!(name("planesmith_machinery::meta::object_meta"), "v1.Thing");
        assert_eq!(name("vanilla::vbeta"), "v1.Thing");
    }
}

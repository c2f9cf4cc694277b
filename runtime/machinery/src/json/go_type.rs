//! Names of Go types in decoding errors.

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

/// Returns the declared Go type of a field of `owner`, below `depth` lists and maps in it, with its package:
/// `v1.PullPolicy`. `None` if the declaration has fewer levels.
pub(crate) fn declared(owner: &StructFacts, declared: &str, depth: usize) -> Option<String> {
    let mut name = declared.trim_start_matches('*');
    for _ in 0..depth {
        let element = match name.strip_prefix("map[") {
            Some(map) => map.split_once(']').map(|(_, element)| element),
            None => name.strip_prefix("[]"),
        };
        name = element?.trim_start_matches('*');
    }
    let start = name.rfind(']').map_or(0, |end| end + 1);
    let (outer, inner) = name.split_at(start);
    let pointers = inner.len() - inner.trim_start_matches('*').len();
    let (pointers, inner) = inner.split_at(pointers);
    let is_of_package = !inner.contains('.') && inner.starts_with(|first: char| first.is_ascii_uppercase());
    let package = if is_of_package { package(owner) } else { "" };
    let dot = if is_of_package { "." } else { "" };
    Some(format!("{outer}{pointers}{package}{dot}{inner}"))
}

/// Returns the name of the struct with its package, which Go names after the API version.
pub(crate) fn go_struct(facts: &StructFacts) -> String {
    format!("{}.{}", package(facts), facts.name)
}

/// Returns the version in the module path of the type; `v1` for types without a version, such as metadata.
fn package(facts: &StructFacts) -> &'static str {
    facts.module.rsplit("::").find(|part| is_version(part)).unwrap_or("v1")
}

/// True if the text has the form of an API version: `v1`, `v2beta1`.
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
    use super::{declared, go_struct};
    use crate::facts::StructFacts;

    #[test]
    fn declared_types_have_the_package_of_their_struct() {
        let owner = StructFacts {
            module: "definitions::core::v1::container",
            ..StructFacts::NONE
        };
        for (text, depth, expected) in [
            ("PullPolicy", 0, Some("v1.PullPolicy")),
            ("*Protocol", 0, Some("v1.Protocol")),
            ("[]Capability", 0, Some("[]v1.Capability")),
            ("[]Capability", 1, Some("v1.Capability")),
            ("types.UID", 0, Some("types.UID")),
            ("map[string]ExtraValue", 0, Some("map[string]v1.ExtraValue")),
            ("map[string]ExtraValue", 1, Some("v1.ExtraValue")),
            ("[]string", 1, Some("string")),
            ("ResourceList", 1, None),
        ] {
            assert_eq!(declared(&owner, text, depth).as_deref(), expected, "{text} {depth}");
        }
    }

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

//! The memory size of objects.

use serde_json::Value as Tree;

use crate::value::{Map, Struct, Value, View};

/// Number of entries of a full `BTreeMap` node, and of a node after insertion in key order.
const NODE: usize = 11;
const FILLED: usize = 6;
/// Bytes of a node in addition to its entries.
const NODE_HEADER: usize = 16;

/// Returns the bytes that `object` takes in memory, including its content but not the spare capacity of lists.
#[must_use]
pub fn of_object(object: &dyn Struct) -> usize {
    size_of_val(object) + of_fields(object)
}

/// Like [`of_object`], for a document without a type.
#[must_use]
pub fn of_tree(tree: &Tree) -> usize {
    size_of_val(tree) + behind(tree)
}

fn of_fields(object: &dyn Struct) -> usize {
    let fields = 0..object.facts().fields.len();
    fields.map(|index| behind(object.field(index))).sum()
}

/// Returns the bytes that `value` owns on the heap.
fn behind(value: &dyn Value) -> usize {
    match value.view() {
        View::Absent | View::Bool(_) | View::Int(_) | View::Double(_) => 0,
        View::Str(text) => text.len(),
        View::Bytes(bytes) => bytes.len(),
        // Scalars are small or own their text.
        View::Scalar(scalar) if scalar.is_zero() => 0,
        View::Scalar(scalar) => {
            let mut text = Vec::new();
            scalar.write_json(&mut text);
            text.len()
        }
        // A struct that is larger than its field is boxed.
        View::Struct(object) => size_of_val(object).saturating_sub(size_of_val(value)) + of_fields(object),
        View::List(list) => {
            let elements = (0..list.len()).filter_map(|index| list.get(index));
            elements.map(|element| size_of_val(element) + behind(element)).sum()
        }
        View::Map(map) => of_map(map),
    }
}

fn of_map(map: &dyn Map) -> usize {
    let (mut entry, mut held) = (0, 0);
    map.each(&mut |key, value| {
        entry = size_of::<String>() + size_of_val(value);
        held += key.len() + behind(value);
    });
    let nodes = match map.len() {
        0 => 0,
        1..=NODE => 1,
        many => many.div_ceil(FILLED),
    };
    nodes * (NODE * entry + NODE_HEADER) + held
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode_budget::max_decoded_size;
    use crate::json::{self, Strictness};
    use crate::meta::{ApiResource, ApiResourceList, ObjectMeta};

    #[test]
    fn objects_weigh_what_they_hold() {
        let list = ApiResourceList {
            resources: vec![ApiResource::default(); 100],
            ..ApiResourceList::default()
        };
        let bare = of_object(&ApiResourceList::default());
        assert_eq!(of_object(&list), bare + 100 * size_of::<ApiResource>());
        let mut named = list.clone();
        "x".repeat(1000).clone_into(&mut named.resources[0].name);
        assert_eq!(of_object(&named), of_object(&list) + 1000);
    }

    #[test]
    fn no_document_weighs_more_than_it_may_take() {
        let nested = format!("{}0{}", r#"{"":"#.repeat(500), "}".repeat(500));
        for element in [
            "0",
            "[]",
            "{}",
            r#"{"":0}"#,
            r#"[{"":[{"":0}]}]"#,
            r#"{"":{"":{"":{}}}}"#,
            &format!("{}{}", "[".repeat(500), "]".repeat(500)),
            &nested,
        ] {
            let count = 300_000 / element.len();
            let text = format!("[{}]", vec![element; count].join(","));
            let (tree, _) = json::parse_value(text.as_bytes(), Strictness::Lenient).expect("JSON");
            let (weighs, most) = (of_tree(&tree), max_decoded_size(text.len()));
            assert!(weighs <= most, "{weighs} of {most}: {element:.20}");
        }
        let flat: String = (0..30_000).map(|number| format!(r#""{number:x}":0,"#)).collect();
        let text = format!(r#"{{{flat}"":0}}"#);
        let (tree, _) = json::parse_value(text.as_bytes(), Strictness::Lenient).expect("JSON");
        assert!(of_tree(&tree) <= max_decoded_size(text.len()));
    }

    #[test]
    fn metadata_of_small_elements_weighs_less_than_it_may_take() {
        for field in ["managedFields", "ownerReferences"] {
            let elements = vec!["{}"; 100_000].join(",");
            let text = format!(r#"{{"{field}":[{elements}]}}"#);
            let mut meta = ObjectMeta::default();
            json::decode(text.as_bytes(), &mut meta, Strictness::Lenient).expect("metadata");
            assert!(of_object(&meta) <= max_decoded_size(text.len()), "{field}");
        }
    }

    #[test]
    fn objects_in_objects_take_nearly_all_that_they_may() {
        let text = format!("{}0{}", r#"{"":"#.repeat(500), "}".repeat(500));
        let (tree, _) = json::parse_value(text.as_bytes(), Strictness::Lenient).expect("JSON");
        assert!(of_tree(&tree) > 120 * text.len());
    }
}

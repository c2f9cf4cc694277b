//! Memory limits for decoded documents of clients.

use crate::value::{Value, View};

/// Bytes that any document may take.
const BASE: usize = 1 << 20;
/// Additional bytes per byte of the document. A container with only a name and an image takes that much.
const PER_BYTE: usize = 64;
/// Maximum bytes per byte of a document that is decoded without a type: five bytes suffice for a nested object, which
/// is a node of a map. Typed lists that have just grown take as much, because half of their capacity is unused.
const PER_BYTE_OF_TREE: usize = 128;

/// Returns the maximum bytes for the elements of all lists and maps of an object that a client sends in `length` bytes.
///
/// Two bytes of a body are enough for an element of hundreds of bytes, so that a few megabytes would become gigabytes.
/// Objects from the store are decoded without a limit, and so are documents without a type: their elements never take
/// more than [`max_decoded_size`].
#[must_use]
pub const fn budget_for(length: usize) -> usize {
    BASE + PER_BYTE * length
}

/// Returns the maximum bytes that `length` bytes of a client take after decoding, with or without a type.
#[must_use]
pub const fn max_decoded_size(length: usize) -> usize {
    BASE + PER_BYTE_OF_TREE * length
}

/// Subtracts the size of `element` from the remaining `budget`.
///
/// # Errors
///
/// If `element` is larger than the remaining budget.
pub fn take(budget: &mut usize, element: &dyn Value) -> Result<(), String> {
    // An element may be a pointer to a boxed struct.
    let size = match element.view() {
        View::Struct(whole) => size_of_val(whole).max(size_of_val(element)),
        _ => size_of_val(element),
    };
    match budget.checked_sub(size) {
        Some(left) => {
            *budget = left;
            Ok(())
        }
        None => Err("its lists and maps have too many elements for its size".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{self, Strictness};
    use crate::meta::{ApiResource, ApiResourceList};
    use crate::protobuf;

    #[test]
    fn many_small_elements_of_a_client_are_refused() {
        let body = format!(r#"{{"resources":[{}{{}}]}}"#, "{},".repeat(200_000));
        let mut list = ApiResourceList::default();
        let refused = json::decode_sent(body.as_bytes(), &mut list, Strictness::Lenient).expect_err("too many");
        assert_eq!(
            refused.to_string(),
            "its lists and maps have too many elements for its size"
        );
        assert!(json::decode(body.as_bytes(), &mut list, Strictness::Lenient).is_ok());
        let message = [18, 0].repeat(100_000);
        let refused = protobuf::decode_sent(&message, &mut ApiResourceList::default()).expect_err("too many");
        assert_eq!(
            refused.to_string(),
            "its lists and maps have too many elements for its size"
        );
        assert!(protobuf::decode(&message, &mut list).is_ok());
    }

    #[test]
    fn elements_in_boxes_count_as_what_is_in_there() {
        let boxed = Box::new(ApiResource::default());
        let mut budget = 10_000;
        take(&mut budget, &boxed).expect("enough");
        assert_eq!(budget, 10_000 - size_of::<ApiResource>());
    }

    #[test]
    fn elements_with_something_in_them_are_taken() {
        let body = format!(
            r#"{{"resources":[{}{{}}]}}"#,
            r#"{"name":"a","kind":"B","namespaced":true},"#.repeat(30_000)
        );
        let mut list = ApiResourceList::default();
        assert!(json::decode_sent(body.as_bytes(), &mut list, Strictness::Strict).is_ok());
    }
}

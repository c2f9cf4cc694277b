//! The memory that the documents of clients may take.

use crate::value::{Value, View};

/// Bytes that any document may take.
const BASE: usize = 1 << 20;
/// Bytes that each of its bytes may take besides. A container with no more than a name and an image takes that much.
const PER_BYTE: usize = 64;
/// Bytes that a byte takes at most of a document that is read without a type: five of them make an object within another, which
/// is a node of a map. Lists of a type that have just grown come to as much: half of their capacity is empty.
const PER_BYTE_OF_TREE: usize = 128;

/// Bytes that the elements of all lists and maps of an object may take that a client sends in `length` bytes.
///
/// Two bytes of a body are enough for an element of hundreds, so that few megabytes would become gigabytes. What the store
/// holds is read without a bound, and so is what has no type: there an element takes no more than [`most_for`] says anyway.
#[must_use]
pub const fn room_for(length: usize) -> usize {
    BASE + PER_BYTE * length
}

/// Bytes that `length` bytes of a client take at most when they are read, whether with a type or without.
#[must_use]
pub const fn most_for(length: usize) -> usize {
    BASE + PER_BYTE_OF_TREE * length
}

/// Takes what `element` needs from the `room` that is left.
///
/// # Errors
///
/// When there is not as much.
pub fn take(room: &mut usize, element: &dyn Value) -> Result<(), String> {
    // An element may be no more than a pointer to what it is.
    let size = match element.view() {
        View::Struct(whole) => size_of_val(whole).max(size_of_val(element)),
        _ => size_of_val(element),
    };
    match room.checked_sub(size) {
        Some(left) => {
            *room = left;
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
        let mut room = 10_000;
        take(&mut room, &boxed).expect("enough");
        assert_eq!(room, 10_000 - size_of::<ApiResource>());
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

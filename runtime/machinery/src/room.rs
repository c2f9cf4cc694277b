//! How much memory the documents of clients may take.

use crate::value::Value;

/// What any document may take.
const BASE: usize = 4 << 20;
/// What each of its bytes may take besides. A container with no more than a name and an image takes that much.
const PER_BYTE: usize = 64;

/// Bytes that the elements of all lists and maps of an object may take that a client sends in `length` bytes.
///
/// Two bytes of a body are enough for an element of hundreds, so that few megabytes would become gigabytes. What the store
/// holds is read without a bound.
#[must_use]
pub const fn room_for(length: usize) -> usize {
    BASE + PER_BYTE * length
}

/// Takes what `element` needs from the `room` that is left.
///
/// # Errors
///
/// When there is not as much.
pub(crate) fn take(room: &mut usize, element: &dyn Value) -> Result<(), String> {
    match room.checked_sub(size_of_val(element)) {
        Some(left) => {
            *room = left;
            Ok(())
        }
        None => Err("its lists and maps have too many elements for its size".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use crate::json::{self, Strictness};
    use crate::meta::ApiResourceList;
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
    fn elements_with_something_in_them_are_taken() {
        let body = format!(
            r#"{{"resources":[{}{{}}]}}"#,
            r#"{"name":"a","kind":"B","namespaced":true},"#.repeat(30_000)
        );
        let mut list = ApiResourceList::default();
        assert!(json::decode_sent(body.as_bytes(), &mut list, Strictness::Strict).is_ok());
    }
}

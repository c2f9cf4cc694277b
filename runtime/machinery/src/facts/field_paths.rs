//! The types at the end of dotted paths, at compile time: derives reject a path of an unsuitable type.

use super::{FieldFacts, StructFacts, TypeFacts};

/// The table of a type; `None` if the type is not a struct.
pub type StructTable = Option<&'static StructFacts>;

/// The use of a dotted path by a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathUse {
    /// An integer: replicas, the order of rows.
    Integer,
    /// A cell of the type `number`.
    Number,
    /// A cell of the type `boolean`.
    Boolean,
    /// A cell of the type `date`.
    Date,
    /// The selector of a scale.
    Selector,
    /// A field of field selectors.
    Selectable,
    /// A cell of text, which shows any value.
    Any,
}

/// The reason for which a path is unsuitable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathError {
    /// The path has no field.
    NoSuchField,
    /// The field has another type.
    WrongType,
}

/// Checks that `path` leads from `facts` to a value that suits `used`. Paths below nested structs, and paths without
/// `facts`, cannot be checked and are accepted.
///
/// # Errors
///
/// See [`PathError`].
pub const fn check_path(facts: StructTable, path: &str, used: PathUse) -> Result<(), PathError> {
    let Some(facts) = facts else { return Ok(()) };
    let path = path.as_bytes();
    let mut end = 0;
    while end < path.len() && path[end] != b'.' {
        end += 1;
    }
    let mut index = 0;
    let mut has_inlined = false;
    while index < facts.fields.len() {
        let field: &'static FieldFacts = &facts.fields[index];
        index += 1;
        if field.inline {
            has_inlined = true;
        } else if is_part(field.name.as_bytes(), path, 0, end) {
            let ty = match (end == path.len(), field.ty.present()) {
                (true, ty) => ty,
                // The rest of the path is the key of an entry.
                (false, TypeFacts::Map(inner)) => inner.present(),
                (false, TypeFacts::Struct(_)) => return Ok(()),
                (false, TypeFacts::Scalar(leaf)) if leaf.openapi_type.is_empty() => return Ok(()),
                (false, _) => return Err(PathError::NoSuchField),
            };
            return check_type(ty, used);
        }
    }
    match has_inlined {
        true => Ok(()),
        false => Err(PathError::NoSuchField),
    }
}

/// Checks paths that [`check_path`] cannot check at compile time: through any number of structs and inlined fields. An inlined
/// map has fields of any name and type.
///
/// # Errors
///
/// See [`PathError`].
pub fn check_whole_path(facts: &StructFacts, path: &str, used: PathUse) -> Result<(), PathError> {
    let (name, rest) = match path.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (path, None),
    };
    for field in facts.fields {
        let ty = field.ty.present();
        match (field.inline, ty, rest) {
            (true, TypeFacts::Struct(inner), _) => match check_whole_path(inner(), path, used) {
                Err(PathError::NoSuchField) => {}
                found => return found,
            },
            (true, TypeFacts::Map(_), _) => return Ok(()),
            _ if field.name != name => {}
            (_, TypeFacts::Struct(inner), Some(rest)) => return check_whole_path(inner(), rest, used),
            // The rest of the path is the key of an entry.
            (_, TypeFacts::Map(inner), Some(_)) => return check_type(inner.present(), used),
            (_, TypeFacts::Scalar(leaf), Some(_)) if leaf.openapi_type.is_empty() => return Ok(()),
            (_, _, Some(_)) => return Err(PathError::NoSuchField),
            (_, ty, None) => return check_type(ty, used),
        }
    }
    Err(PathError::NoSuchField)
}

const fn check_type(ty: &TypeFacts, used: PathUse) -> Result<(), PathError> {
    match fits(ty, used) {
        true => Ok(()),
        false => Err(PathError::WrongType),
    }
}

/// True if `name` equals the part of `path` from `start` to `end`.
const fn is_part(name: &[u8], path: &[u8], start: usize, end: usize) -> bool {
    if name.len() != end - start {
        return false;
    }
    let mut index = 0;
    while index < name.len() {
        if name[index] != path[start + index] {
            return false;
        }
        index += 1;
    }
    true
}

const fn fits(ty: &TypeFacts, used: PathUse) -> bool {
    let leaf = match ty {
        TypeFacts::Scalar(leaf) if leaf.openapi_type.is_empty() => return true,
        TypeFacts::Scalar(leaf) => Some(leaf.format),
        _ => None,
    };
    match used {
        PathUse::Integer => matches!(ty, TypeFacts::Int32 | TypeFacts::Int64),
        PathUse::Number => matches!(ty, TypeFacts::Int32 | TypeFacts::Int64 | TypeFacts::Double),
        PathUse::Boolean => matches!(ty, TypeFacts::Bool),
        PathUse::Date => match leaf {
            Some(format) => is_part(b"date-time", format.as_bytes(), 0, format.len()),
            None => matches!(ty, TypeFacts::String),
        },
        PathUse::Selector => matches!(ty, TypeFacts::String | TypeFacts::Struct(_) | TypeFacts::Map(_)),
        PathUse::Selectable => matches!(
            ty,
            TypeFacts::String | TypeFacts::Bool | TypeFacts::Int32 | TypeFacts::Int64
        ),
        PathUse::Any => true,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Struct;
    use crate::value::Shape;
    use planesmith_wire::time::Time;

    /// Content, with more of its kind inside.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Content {
        /// A number.
        size: Option<i32>,
        /// Text.
        name: String,
        /// A moment.
        since: Option<Time>,
        /// More.
        more: Vec<Content>,
        /// One more.
        one: Option<Box<Content>>,
        /// Texts.
        texts: BTreeMap<String, String>,
        /// Anything.
        any: serde_json::Value,
    }

    /// Content as if it stood here.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Outer {
        /// Content.
        #[field(inline)]
        content: Content,
    }

    const FOUND: Result<(), PathError> = check_path(Content::FACTS, "size", PathUse::Integer);

    #[test]
    fn paths_are_followed_to_their_types() {
        assert_eq!(FOUND, Ok(()), "at compile time");
        for (path, used, expected) in [
            ("size", PathUse::Integer, Ok(())),
            ("any", PathUse::Integer, Ok(())),
            ("any.size", PathUse::Integer, Ok(())),
            ("one.none", PathUse::Integer, Ok(())),
            ("since", PathUse::Date, Ok(())),
            ("texts.a/b.c", PathUse::Selectable, Ok(())),
            ("name", PathUse::Integer, Err(PathError::WrongType)),
            ("texts.a", PathUse::Integer, Err(PathError::WrongType)),
            ("more", PathUse::Selectable, Err(PathError::WrongType)),
            ("size", PathUse::Date, Err(PathError::WrongType)),
            ("size.more", PathUse::Integer, Err(PathError::NoSuchField)),
            ("more.name", PathUse::Selectable, Err(PathError::NoSuchField)),
            ("siz", PathUse::Integer, Err(PathError::NoSuchField)),
            ("sizes", PathUse::Integer, Err(PathError::NoSuchField)),
        ] {
            assert_eq!(
                check_path(<Option<Box<Content>>>::FACTS, path, used),
                expected,
                "{path}"
            );
        }
        assert_eq!(check_path(Outer::FACTS, "siz", PathUse::Any), Ok(()), "perhaps inlined");
        for (path, used, expected) in [
            ("size", PathUse::Integer, Ok(())),
            ("one.one.since", PathUse::Date, Ok(())),
            ("one.texts.a/b.c", PathUse::Selectable, Ok(())),
            ("one.any.size", PathUse::Integer, Ok(())),
            ("one.one.name", PathUse::Integer, Err(PathError::WrongType)),
            ("one.none", PathUse::Integer, Err(PathError::NoSuchField)),
            ("one.more.size", PathUse::Integer, Err(PathError::NoSuchField)),
            ("siz", PathUse::Any, Err(PathError::NoSuchField)),
        ] {
            let facts = Outer::FACTS.expect("a struct");
            assert_eq!(check_whole_path(facts, path, used), expected, "{path}");
        }
        assert_eq!(check_path(String::FACTS, "siz", PathUse::Any), Ok(()), "no struct");
    }
}

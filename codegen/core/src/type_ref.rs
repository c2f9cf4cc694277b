//! Field types, as far as their tokens reveal.

use syn::{GenericArgument, Path, PathArguments, Type};

/// The shape of a field type as written. Aliases and user-defined types stay [`TypeRef::Named`].
#[derive(Clone, Debug, PartialEq)]
pub enum TypeRef {
    /// `bool`.
    Bool,
    /// `i32`.
    Int32,
    /// `i64`.
    Int64,
    /// `f64`.
    Double,
    /// `String`.
    String,
    /// `Vec<T>`.
    List(Box<TypeRef>),
    /// `BTreeMap<String, T>`.
    Map(Box<TypeRef>),
    /// `Option<T>`.
    Optional(Box<TypeRef>),
    /// Any other type: a struct, a scalar of machinery, an alias.
    Named(Path),
    /// Not a path, for example a tuple or a reference.
    Other,
}

impl TypeRef {
    /// Returns the shape of a type; never fails.
    #[must_use]
    pub fn from_type(ty: &Type) -> Self {
        let path = match ty {
            Type::Path(path) if path.qself.is_none() => &path.path,
            Type::Group(group) => return Self::from_type(&group.elem),
            Type::Paren(paren) => return Self::from_type(&paren.elem),
            _ => return Self::Other,
        };
        let Some(last) = path.segments.last() else {
            return Self::Other;
        };
        let arguments: Vec<&Type> = match &last.arguments {
            PathArguments::AngleBracketed(arguments) => arguments
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        };
        match (last.ident.to_string().as_str(), arguments.as_slice()) {
            ("bool", []) => Self::Bool,
            ("i32", []) => Self::Int32,
            ("i64", []) => Self::Int64,
            ("f64", []) => Self::Double,
            ("String", []) => Self::String,
            ("Vec", [element]) => Self::List(Box::new(Self::from_type(element))),
            ("BTreeMap", [_, value]) => Self::Map(Box::new(Self::from_type(value))),
            ("Option", [inner]) => Self::Optional(Box::new(Self::from_type(inner))),
            ("Box", [inner]) => Self::from_type(inner),
            _ => Self::Named(path.clone()),
        }
    }

    /// Returns the shape without `Option`.
    #[must_use]
    pub fn present(&self) -> &Self {
        match self {
            Self::Optional(inner) => inner.present(),
            other => other,
        }
    }

    /// Returns the name of the type in diagnostics.
    #[must_use]
    pub fn noun(&self) -> &'static str {
        match self.present() {
            Self::Bool => "a boolean",
            Self::Int32 | Self::Int64 => "an integer",
            Self::Double => "a number",
            Self::String => "text",
            Self::List(_) => "a list",
            Self::Map(_) => "a map",
            Self::Named(_) | Self::Optional(_) => "a value of a named type",
            Self::Other => "not a type that objects can hold",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use syn::parse_quote;

    #[test]
    fn wrappers_are_seen_through_and_names_are_kept() {
        let of = |ty: Type| TypeRef::from_type(&ty);
        assert_eq!(of(parse_quote!(::std::string::String)), TypeRef::String);
        assert_eq!(
            of(parse_quote!(Option<Box<i32>>)),
            TypeRef::Optional(Box::new(TypeRef::Int32))
        );
        assert_eq!(
            of(parse_quote!(BTreeMap<String, Vec<bool>>)),
            TypeRef::Map(Box::new(TypeRef::List(Box::new(TypeRef::Bool))))
        );
        assert_eq!(
            of(parse_quote!(super::v1::Spec)),
            TypeRef::Named(parse_quote!(super::v1::Spec))
        );
        assert_eq!(of(parse_quote!(&str)), TypeRef::Other);
    }
}

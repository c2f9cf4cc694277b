//! JSON Schemas of derived types, for tools that build on schemars; behind the feature `schemars`.
//!
//! The derives call [`json_schema!`](crate::json_schema!), which is empty without the feature: derives cannot see the
//! features of this crate, but the definition of the macro can.

#[cfg(feature = "schemars")]
mod tables;

/// The schemars crate whose trait is implemented, so that crates with kinds need not depend on it.
#[cfg(feature = "schemars")]
pub use schemars;

#[cfg(feature = "schemars")]
pub use tables::{definition_name, of_struct};

/// Implements `schemars::JsonSchema` for a type by the function that returns its table; the derives write the call.
#[cfg(feature = "schemars")]
#[macro_export]
macro_rules! json_schema {
    ($type:ident, $facts:path) => {
        #[automatically_derived]
        impl $crate::json_schema::schemars::JsonSchema for $type {
            fn schema_name() -> ::std::borrow::Cow<'static, ::core::primitive::str> {
                ::std::borrow::Cow::Owned($crate::json_schema::definition_name($facts()))
            }

            fn json_schema(
                __generator: &mut $crate::json_schema::schemars::SchemaGenerator,
            ) -> $crate::json_schema::schemars::Schema {
                $crate::json_schema::of_struct($facts(), __generator)
            }
        }
    };
}

/// Expands to nothing: the feature `schemars` is disabled.
#[cfg(not(feature = "schemars"))]
#[macro_export]
macro_rules! json_schema {
    ($type:ident, $facts:path) => {};
}

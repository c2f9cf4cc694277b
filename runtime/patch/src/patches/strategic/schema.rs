//! The schema of a place in a document, by the tables.

use planesmith_machinery::facts::{FieldFacts, StructFacts, TypeFacts};
use planesmith_machinery::status::ApiError;
use planesmith_wire::go_format::quote;

use super::failed;

/// The type at a place in a document.
#[derive(Clone, Copy, Debug)]
pub(super) enum Schema {
    /// A struct.
    Struct(&'static StructFacts),
    /// Something without named fields, e.g. a map of texts; with Go's word for it.
    Other(&'static str),
}

/// The way in which a list is merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListStrategy {
    /// Elements are merged instead of replaced.
    pub(super) merge: bool,
    /// The field that tells elements apart; empty for plain values.
    pub(super) key: &'static str,
}

impl Schema {
    /// The type of a struct.
    pub(super) fn of_struct(facts: &'static StructFacts) -> Self {
        Schema::Struct(facts)
    }

    fn of_type(ty: &'static TypeFacts) -> Self {
        match ty.present() {
            TypeFacts::Struct(facts) => Schema::Struct(facts()),
            TypeFacts::Map(_) => Schema::Other("map"),
            TypeFacts::List(_) => Schema::Other("slice"),
            TypeFacts::Bool => Schema::Other("bool"),
            TypeFacts::Int32 => Schema::Other("int32"),
            TypeFacts::Int64 => Schema::Other("int64"),
            TypeFacts::Double => Schema::Other("float64"),
            TypeFacts::String => Schema::Other("string"),
            TypeFacts::Bytes => Schema::Other("slice"),
            TypeFacts::Scalar(_) => Schema::Other("struct"),
            TypeFacts::Optional(_) => Schema::Other("ptr"),
        }
    }

    /// Go's word for the type.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Schema::Struct(_) => "struct",
            Schema::Other(name) => name,
        }
    }

    /// The type of a field.
    pub(super) fn field(&self, name: &str) -> Result<(Schema, &'static FieldFacts), ApiError> {
        let facts = match self {
            Schema::Struct(facts) => facts,
            Schema::Other(kind) => {
                let message = format!("merging an object in json but data type is not struct, instead is: {kind}");
                return Err(failed(message));
            }
        };
        match find(facts, name) {
            Some(field) => Ok((Schema::of_type(&field.ty), field)),
            None => {
                let (ty, field) = (facts.name, quote(name));
                Err(failed(format!(
                    "unable to find api field in struct {ty} for the json field {field}"
                )))
            }
        }
    }

    /// The type of the elements of a field that is a list, and how it is merged.
    pub(super) fn list(&self, name: &str) -> Result<(Schema, ListStrategy), ApiError> {
        let (_, field) = self.field(name)?;
        let TypeFacts::List(element) = field.ty.present() else {
            return Err(failed(format!(
                "expected slice or array type, but got: {}",
                self.name()
            )));
        };
        let strategy = match &field.patch {
            Some(patch) => ListStrategy {
                merge: patch.merge,
                key: patch.merge_key,
            },
            None => ListStrategy { merge: false, key: "" },
        };
        Ok((Schema::of_type(element), strategy))
    }
}

/// The field called `name`, looking into inlined structs too.
fn find(facts: &'static StructFacts, name: &str) -> Option<&'static FieldFacts> {
    facts.fields.iter().find_map(|field| match field.ty {
        TypeFacts::Struct(inner) if field.inline => find(inner(), name),
        _ => (field.name == name).then_some(field),
    })
}

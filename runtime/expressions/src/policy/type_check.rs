//! The type check of validating policies: expressions are compiled with the types of the kinds that the policy matches.

use std::collections::BTreeMap;

use planesmith_dynamic::structural::Structural;
use planesmith_machinery::facts::{FieldFacts, StructFacts, TypeFacts};
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::value::Shape;

use super::environment::{namespace, request, type_of_variable};
use crate::declared::{Declared, escape};
use crate::program::Environment;
use crate::types::Type;

/// The type of a kind's objects.
#[derive(Clone, Debug)]
pub struct ObjectType(Type);

impl ObjectType {
    /// Returns the type of the declared kind `kind` with the fields `facts`.
    #[must_use]
    pub fn of_facts(kind: &str, facts: &'static StructFacts) -> Self {
        let mut walk = FactsWalk { open: Vec::new() };
        Self(with_type_meta(kind, walk.fields(kind, facts)))
    }

    /// Returns the type of the custom kind `kind` with `schema`; `None` if expressions cannot access its objects.
    #[must_use]
    pub fn of_schema(kind: &str, schema: &Structural) -> Option<Self> {
        let Type::Struct(declared) = Declared::from_schema(schema, true, kind)?.ty else {
            return None;
        };
        let mut fields = declared.fields.clone();
        let mut walk = FactsWalk { open: Vec::new() };
        let metadata = walk.value(&format!("{kind}.metadata"), &ObjectMeta::TYPE);
        fields.insert("metadata".to_owned(), metadata);
        Some(Self(with_type_meta(kind, fields)))
    }
}

fn with_type_meta(kind: &str, mut fields: BTreeMap<String, Type>) -> Type {
    for name in ["apiVersion", "kind"] {
        fields.insert(name.to_owned(), Type::String);
    }
    Type::object(kind, fields)
}

/// A walk over the facts of a kind; `open` are the structs around the current one.
struct FactsWalk {
    open: Vec<*const StructFacts>,
}

impl FactsWalk {
    fn fields(&mut self, name: &str, facts: &'static StructFacts) -> BTreeMap<String, Type> {
        let mut fields = BTreeMap::new();
        self.open.push(facts);
        for field in facts.fields {
            if field.inline {
                if let TypeFacts::Struct(inner) = field.ty.present() {
                    fields.extend(self.fields(name, inner()));
                }
            } else if let Some(escaped) = escape(field.name) {
                fields.insert(escaped, self.field(name, field));
            }
        }
        self.open.pop();
        fields
    }

    fn field(&mut self, name: &str, field: &'static FieldFacts) -> Type {
        self.value(&format!("{name}.{}", field.name), &field.ty)
    }

    fn value(&mut self, name: &str, facts: &'static TypeFacts) -> Type {
        match facts.present() {
            TypeFacts::Bool => Type::Bool,
            TypeFacts::Int32 | TypeFacts::Int64 => Type::Int,
            TypeFacts::Double => Type::Double,
            TypeFacts::String => Type::String,
            TypeFacts::Bytes => Type::Bytes,
            TypeFacts::Scalar(scalar) => match (scalar.openapi_type, scalar.format) {
                ("string", "date-time") => Type::Timestamp,
                ("string", "") if !scalar.definition.ends_with(".Quantity") => Type::String,
                ("integer", _) => Type::Int,
                ("boolean", _) => Type::Bool,
                ("number", _) => Type::Double,
                // Quantities, numbers or strings, and values of any type.
                _ => Type::Dyn,
            },
            TypeFacts::Struct(facts) => {
                let facts = facts();
                // A struct that contains itself has no finite type.
                if self.open.iter().any(|open| std::ptr::eq(*open, facts)) {
                    return Type::Dyn;
                }
                Type::object(name, self.fields(name, facts))
            }
            TypeFacts::List(element) => Type::list(self.value(&format!("{name}.@idx"), element)),
            TypeFacts::Map(value) => Type::map(self.value(&format!("{name}.@elem"), value)),
            TypeFacts::Optional(inner) => self.value(name, inner),
        }
    }
}

/// The types of a policy's variables.
#[derive(Clone, Debug)]
pub struct TypeCheck {
    environment: Environment,
}

impl TypeCheck {
    /// Creates the check of a policy for objects of one type. `params` is the type of its parameters, if it is known;
    /// `variables` are names and expressions.
    #[must_use]
    pub fn new(object: &ObjectType, params: Option<&ObjectType>, variables: &[(&str, &str)]) -> Self {
        let mut environment = Environment::new()
            .with("object", object.0.clone())
            .with("oldObject", object.0.clone())
            .with("request", request())
            .with("namespaceObject", namespace())
            // kube-apiserver leaves authorizer.requestResource out here.
            .with("authorizer", Type::Library("kubernetes.authorization.Authorizer"));
        if let Some(params) = params {
            environment = environment.with("params", params.0.clone());
        }
        let mut declared = BTreeMap::new();
        for (name, text) in variables {
            let variables = Type::object("kubernetes.variables", declared.clone());
            let program = environment.clone().with("variables", variables).compile(text);
            let ty = program.map_or(Type::Dyn, |program| type_of_variable(program.result_type()));
            declared.insert((*name).to_owned(), ty);
        }
        environment = environment.with("variables", Type::object("kubernetes.variables", declared));
        Self { environment }
    }

    /// Checks one expression.
    ///
    /// # Errors
    ///
    /// The type errors with their positions.
    pub fn check(&self, expression: &str) -> Result<(), String> {
        self.environment.compile(expression).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::Struct;
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::time::Time;
    use planesmith_machinery::value::Struct as _;

    use super::*;

    /// A kind's fields.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Widget {
        /// Metadata.
        #[field(proto = 1)]
        metadata: ObjectMeta,
        /// Size.
        #[field(proto = 2)]
        size: i32,
        /// Time.
        #[field(proto = 3)]
        since: Option<Time>,
        /// Parts, which are widgets themselves.
        #[field(proto = 4, list_type = atomic)]
        parts: Vec<Widget>,
    }

    fn check(expression: &str) -> Result<(), String> {
        let object = ObjectType::of_facts("Widget", Widget::default().facts());
        let variables = [
            ("size", "object.size"),
            ("broken", "object.nosuch"),
            ("meta", "object.metadata"),
        ];
        TypeCheck::new(&object, None, &variables).check(expression)
    }

    #[test]
    fn fields_have_the_types_of_the_kind() {
        for sound in [
            "object.size > 1 && object.kind == 'Widget' && object.metadata.labels['a'] == 'b'",
            "object.since.getFullYear() > 2000 && oldObject == null",
            "object.parts[0].whatever == 1",
            "variables.size > 1 && variables.broken == 1",
            "authorizer.group('').resource('pods').check('get').allowed()",
            "variables.meta.nosuch == 1",
        ] {
            assert_eq!(check(sound), Ok(()), "{sound}");
        }
        let refused = check("object.replicas > 1").unwrap_err();
        assert_eq!(
            refused,
            "ERROR: <input>:1:7: undefined field 'replicas'\n | object.replicas > 1\n | ......^"
        );
        assert!(
            check("variables.size == 'a'")
                .unwrap_err()
                .contains("no matching overload")
        );
        assert!(
            check("authorizer.requestResource.check('get').allowed()")
                .unwrap_err()
                .contains("unexpected failed resolution of 'kubernetes.authorization.Authorizer'")
        );
        assert!(
            check("params.a == 1")
                .unwrap_err()
                .contains("undeclared reference to 'params'")
        );
    }
}

//! Defaulting of absent fields: declared defaults, then the computed defaults of the kind.

use crate::environment::Environment;
use crate::facts::{FieldFacts, TypeFacts};
use crate::json::{self, Strictness};
use crate::resource::object::Object;
use crate::value::{Slot, Struct, View};

/// Sets declared defaults of absent fields, including those inside lists, maps and structs, then the defaults of the
/// kind that depend on other fields, or on the server.
///
/// The operation is idempotent.
pub fn set_defaults(object: &mut dyn Object, environment: &Environment) {
    default_struct(object);
    let kind = object.resource();
    let (strategy, hooks) = (kind.strategy, kind.extensions.hooks);
    strategy.set_defaults(object);
    hooks.set_server_defaults(object, environment);
}

fn default_struct(object: &mut dyn Struct) {
    for (index, field) in object.facts().fields.iter().enumerate() {
        if let Some(literal) = field.default {
            let view = object.field(index).view();
            let missing = match field.is_optional() {
                true => matches!(view, View::Absent),
                false => view.is_omitted(field) || view.is_empty(),
            };
            if missing {
                set_literal(object, index, field, literal);
            }
        }
        if holds_structs(&field.ty) {
            default_parts(object.field_mut(index).slot());
        }
    }
}

fn default_parts(slot: Slot<'_>) {
    match slot {
        Slot::Struct(inner) => default_struct(inner),
        Slot::Optional(inner) => {
            if let Some(inner) = inner.get_mut() {
                default_parts(inner.slot());
            }
        }
        Slot::List(list) => {
            for index in 0..list.len() {
                if let Some(element) = list.get_mut(index) {
                    default_parts(element.slot());
                }
            }
        }
        Slot::Map(map) => map.each_mut(&mut |_, value| default_parts(value.slot())),
        _ => {}
    }
}

fn holds_structs(ty: &TypeFacts) -> bool {
    match ty {
        TypeFacts::Struct(_) => true,
        TypeFacts::List(inner) | TypeFacts::Map(inner) | TypeFacts::Optional(inner) => holds_structs(inner),
        _ => false,
    }
}

/// Sets a field to a JSON literal. Plain text and numbers, nearly all literals, take a fast path.
fn set_literal(object: &mut dyn Struct, index: usize, field: &FieldFacts, literal: &'static str) {
    if !set_plain(object.field_mut(index).slot(), literal) {
        let document = format!("{{\"{}\":{literal}}}", field.name);
        // The derive has checked that the literal fits the type; otherwise the field would stay empty.
        let _ = json::decode(document.as_bytes(), object, Strictness::Lenient);
    }
}

fn set_plain(slot: Slot<'_>, literal: &str) -> bool {
    match slot {
        Slot::Optional(inner) => set_plain(inner.insert().slot(), literal),
        Slot::Str(text) => match literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
            Some(plain) if !plain.contains('\\') => {
                plain.clone_into(text);
                true
            }
            _ => false,
        },
        Slot::Bool(value) => literal.parse().map(|parsed| *value = parsed).is_ok(),
        Slot::Int32(value) => literal.parse().map(|parsed| *value = parsed).is_ok(),
        Slot::Int64(value) => literal.parse().map(|parsed| *value = parsed).is_ok(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::meta::ObjectMeta;
    use crate::{Resource, Struct};

    /// A port.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Port {
        /// Protocol.
        #[field(default = "TCP")]
        protocol: String,
    }

    /// Content.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Spec {
        /// A number that may be absent.
        #[field(default = 1)]
        replicas: Option<i32>,
        /// A number that is written when it is absent, too.
        #[field(default = 7, keep)]
        seconds: Option<i64>,
        /// Texts.
        #[field(default = json("[\"a\",\"b\"]"))]
        args: Vec<String>,
        /// Ports.
        ports: Vec<Port>,
        /// Ports by name.
        named: BTreeMap<String, Port>,
        /// Perhaps a port.
        one: Option<Port>,
        /// A whole struct.
        #[field(default = json("{}"))]
        created: Option<Port>,
    }

    /// A kind with defaults.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(
        group = "test.example.com",
        version = "v1",
        kind = "Defaulted",
        plural = "defaulted",
        strategy
    )]
    struct Defaulted {
        /// Metadata.
        metadata: ObjectMeta,
        /// Content.
        spec: Spec,
        /// Worked out.
        computed: i32,
    }

    impl crate::resource::strategy::Strategy for Defaulted {
        fn set_defaults(&mut self) {
            self.computed = self.spec.replicas.unwrap_or(-1);
        }
    }

    #[test]
    fn missing_values_are_filled_in_everywhere() {
        let mut object = Defaulted::default();
        object.spec.ports = vec![
            Port::default(),
            Port {
                protocol: "UDP".to_owned(),
            },
        ];
        object.spec.named.insert("x".to_owned(), Port::default());
        set_defaults(&mut object, Environment::defaults());
        assert_eq!((object.spec.replicas, object.spec.seconds), (Some(1), Some(7)));
        assert_eq!(object.spec.args, ["a", "b"]);
        assert_eq!(object.spec.ports[0].protocol, "TCP");
        assert_eq!(object.spec.ports[1].protocol, "UDP");
        assert_eq!(object.spec.named["x"].protocol, "TCP");
        assert_eq!(object.spec.one, None);
        assert_eq!(
            object.spec.created.as_ref().map(|port| port.protocol.as_str()),
            Some("TCP")
        );
        assert_eq!(object.computed, 1);
        let once = object.clone();
        set_defaults(&mut object, Environment::defaults());
        assert_eq!(object, once);
    }

    #[test]
    fn given_values_stay_even_when_zero() {
        let mut object = Defaulted::default();
        object.spec.replicas = Some(0);
        set_defaults(&mut object, Environment::defaults());
        assert_eq!((object.spec.replicas, object.computed), (Some(0), 0));
    }
}

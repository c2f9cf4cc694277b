//! Lists with identified elements in which an element is repeated.

use planesmith_machinery::facts::{ListType, TypeFacts};
use planesmith_machinery::value::{List, Struct, Value, View};
use planesmith_wire::sorting::sort_by;

use super::element::PathElement;
use super::field_search::FieldSearch;
use super::relation::{keyed_element, set_element};

/// True if a keyed list or a set in `object` has an element more than once, or one that cannot be identified.
///
/// Visits only fields whose types contain such a list.
pub(crate) fn has_repeated(object: &dyn Struct) -> bool {
    let facts = object.facts();
    IDENTIFIED_LISTS.finds_in(facts)
        && facts
            .fields
            .iter()
            .enumerate()
            .any(|(index, field)| is_in(&object.field(index).view(), &field.ty, field.element_identity()))
}

/// `identity` is that of the elements, if `view` is a list.
fn is_in(view: &View<'_>, ty: &'static TypeFacts, identity: ListType) -> bool {
    let inner = match ty.present() {
        TypeFacts::List(inner) | TypeFacts::Map(inner) => *inner,
        other => other,
    };
    match view {
        View::Struct(object) => has_repeated(*object),
        View::List(list) => {
            repeats(*list, identity) || (IDENTIFIED_LISTS.finds_in_type(inner) && any_element(*list, inner))
        }
        View::Map(map) if IDENTIFIED_LISTS.finds_in_type(inner) => {
            let mut found = false;
            map.each(&mut |_, value| found = found || is_in(&value.view(), inner, ListType::Unspecified));
            found
        }
        _ => false,
    }
}

fn any_element(list: &dyn List, ty: &'static TypeFacts) -> bool {
    let mut elements = (0..list.len()).filter_map(|index| list.get(index));
    elements.any(|element| is_in(&element.view(), ty, ListType::Unspecified))
}

fn repeats(list: &dyn List, identity: ListType) -> bool {
    let step = |element| match identity {
        ListType::Map(keys) => keyed_element(keys, element),
        ListType::Set | ListType::Atomic | ListType::Unspecified => set_element(element),
    };
    match identity {
        ListType::Atomic | ListType::Unspecified => false,
        ListType::Map(_) | ListType::Set => has_equal_steps(list, &step),
    }
}

fn has_equal_steps<'a>(list: &'a dyn List, step: &dyn Fn(&'a dyn Value) -> Option<PathElement<'a>>) -> bool {
    let steps = (0..list.len()).filter_map(|index| list.get(index)).map(step);
    let Some(mut steps) = steps.collect::<Option<Vec<_>>>() else {
        return true;
    };
    sort_by(&mut steps, |one, other| one.cmp(other));
    steps.windows(2).any(|pair| pair[0] == pair[1])
}

static IDENTIFIED_LISTS: FieldSearch = FieldSearch::everywhere(|field| {
    let is_identified = !matches!(field.element_identity(), ListType::Atomic | ListType::Unspecified);
    is_identified && matches!(field.ty.present(), TypeFacts::List(_))
});

#[cfg(test)]
mod tests {
    use planesmith_machinery::Struct;
    use planesmith_machinery::facts::{FieldFacts, StructFacts};

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Port {
        #[field(keep)]
        number: i32,
        name: String,
    }

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Service {
        #[field(list_type = map, list_map_keys("number"))]
        ports: Vec<Port>,
        #[field(list_type = set)]
        addresses: Vec<String>,
        #[field(list_type = atomic)]
        arguments: Vec<String>,
    }

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Holder {
        services: Vec<Service>,
        by_name: std::collections::BTreeMap<String, Service>,
        first: Option<Service>,
    }

    fn texts(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    fn service(numbers: &[i32], addresses: &[&str]) -> Service {
        let port = |number: &i32| Port {
            number: *number,
            name: "x".to_owned(),
        };
        Service {
            ports: numbers.iter().map(port).collect(),
            addresses: texts(addresses),
            arguments: texts(&["a", "a"]),
        }
    }

    #[test]
    fn elements_are_repeated_by_keys_and_by_value_but_not_in_atomic_lists() {
        assert!(!has_repeated(&service(&[0, 1], &["a", "b"])));
        assert!(has_repeated(&service(&[0, 1, 0], &[])));
        assert!(has_repeated(&service(&[], &["a", "b", "a"])));
    }

    #[test]
    fn lists_are_found_wherever_they_are_nested() {
        let (distinct, repeated) = (service(&[1], &[]), service(&[1, 1], &[]));
        let holder = Holder {
            services: vec![distinct.clone(), distinct.clone()],
            by_name: [("a".to_owned(), distinct.clone())].into(),
            first: Some(distinct.clone()),
        };
        assert!(!has_repeated(&holder));
        for holder in [
            Holder {
                services: vec![distinct.clone(), repeated.clone()],
                ..holder.clone()
            },
            Holder {
                by_name: [("a".to_owned(), distinct), ("b".to_owned(), repeated.clone())].into(),
                ..holder.clone()
            },
            Holder {
                first: Some(repeated),
                ..holder
            },
        ] {
            assert!(has_repeated(&holder), "{holder:?}");
        }
    }

    #[test]
    fn types_without_identified_lists_are_not_visited() {
        assert!(IDENTIFIED_LISTS.finds_in(Holder::default().facts()));
        assert!(!IDENTIFIED_LISTS.finds_in(Port::default().facts()));
    }

    #[test]
    fn elements_of_sets_that_are_no_plain_values_count_as_repeated() {
        static FACTS: StructFacts = StructFacts {
            fields: &[FieldFacts {
                name: "services",
                ty: TypeFacts::List(&<Service as planesmith_machinery::value::Shape>::TYPE),
                list: ListType::Set,
                ..FieldFacts::NONE
            }],
            ..StructFacts::NONE
        };
        let services = vec![service(&[1], &[])];
        assert!(is_in(&services.view(), &FACTS.fields[0].ty, ListType::Set));
        assert!(!is_in(&services.view(), &FACTS.fields[0].ty, ListType::Atomic));
    }
}

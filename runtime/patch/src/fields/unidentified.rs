//! Elements of keyed lists that have none of the keys.

use planesmith_machinery::facts::{FieldFacts, ListType, Omit, TypeFacts};
use planesmith_machinery::value::{Struct, View};

use super::field_search::FieldSearch;
use super::relation::keyed_element;

/// True if an element of a keyed list in `object` has none of the keys, and no defaults of them: no set of fields can name
/// such an element, so that the object cannot be tracked.
///
/// Costs one lookup unless the type has a list in which that can happen.
pub(crate) fn has_unidentified(object: &dyn Struct) -> bool {
    let facts = object.facts();
    OPTIONAL_KEYS.finds_in(facts)
        && facts.fields.iter().enumerate().any(|(index, field)| {
            let keys = match field.element_identity() {
                ListType::Map(keys) => keys,
                ListType::Atomic | ListType::Unspecified | ListType::Set => &[],
            };
            is_in(&object.field(index).view(), keys)
        })
}

/// `keys` are those of elements, if `view` is a keyed list.
fn is_in(view: &View<'_>, keys: &[&'static str]) -> bool {
    match view {
        View::Struct(object) => has_unidentified(*object),
        View::List(list) => (0..list.len())
            .filter_map(|index| list.get(index))
            .any(|element| !keys.is_empty() && keyed_element(keys, element).is_none() || is_in(&element.view(), &[])),
        View::Map(map) => {
            let mut found = false;
            map.each(&mut |_, value| found = found || is_in(&value.view(), &[]));
            found
        }
        _ => false,
    }
}

/// Lists whose elements can be without all of their keys; few types have one.
static OPTIONAL_KEYS: FieldSearch = FieldSearch::everywhere(has_optional_keys);

fn has_optional_keys(field: &'static FieldFacts) -> bool {
    let (ListType::Map(keys), TypeFacts::List(element)) = (field.element_identity(), field.ty.present()) else {
        return false;
    };
    let TypeFacts::Struct(element) = element.present() else {
        return true;
    };
    keys.iter().all(|key| {
        let key = element().field_named(key);
        key.is_none_or(|key| key.omit != Omit::Never && key.default.is_none())
    })
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::Struct;

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Reference {
        name: String,
        kind: String,
    }

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Port {
        #[field(keep)]
        number: i32,
    }

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Account {
        #[field(list_type = map, list_map_keys("name"))]
        references: Vec<Reference>,
        #[field(list_type = map, list_map_keys("number"))]
        ports: Vec<Port>,
    }

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Holder {
        accounts: Vec<Account>,
    }

    fn account(name: &str) -> Account {
        let kind = "x".to_owned();
        let name = name.to_owned();
        Account {
            references: vec![Reference { name, kind }],
            ports: vec![Port::default()],
        }
    }

    #[test]
    fn elements_without_any_key_are_found_in_atomic_lists_too() {
        assert!(has_unidentified(&account("")));
        assert!(!has_unidentified(&account("a")));
        let accounts = vec![account("a"), account("")];
        assert!(has_unidentified(&Holder { accounts }));
    }

    #[test]
    fn types_whose_keys_are_always_written_are_not_searched() {
        assert!(OPTIONAL_KEYS.finds_in(Account::default().facts()));
        assert!(!OPTIONAL_KEYS.finds_in(Port::default().facts()));
    }
}

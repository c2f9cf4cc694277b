//! JSON trees as values: the content of kinds that are defined at run time.

use serde_json::{Map as JsonMap, Value as Tree};

use super::{Map, Shape, Slot, Value, View};
use crate::facts::{ScalarFacts, TypeFacts};
use crate::scalar::Scalar;

static TREE: ScalarFacts = ScalarFacts {
    go_name: "interface {}",
    definition: "",
    openapi_type: "",
    format: "",
};

impl Shape for Tree {
    const TYPE: TypeFacts = TypeFacts::Scalar(&TREE);
}

/// A tree is read member by member, so that walks can descend into it, and written as a whole.
impl Value for Tree {
    fn view(&self) -> View<'_> {
        match self {
            Tree::Null => View::Absent,
            Tree::Bool(value) => View::Bool(*value),
            Tree::Number(number) => match number.as_i64() {
                Some(value) => View::Int(value),
                None => View::Double(number.as_f64().unwrap_or_default()),
            },
            Tree::String(text) => View::Str(text),
            Tree::Array(elements) => View::List(elements),
            Tree::Object(entries) => View::Map(entries),
        }
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Scalar(self)
    }

    fn reset(&mut self) {
        *self = Tree::Null;
    }
}

impl Value for JsonMap<String, Tree> {
    fn view(&self) -> View<'_> {
        View::Map(self)
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Map(self)
    }

    fn reset(&mut self) {
        JsonMap::clear(self);
    }
}

impl Map for JsonMap<String, Tree> {
    fn len(&self) -> usize {
        JsonMap::len(self)
    }

    fn get(&self, key: &str) -> Option<&dyn Value> {
        JsonMap::get(self, key).map(|value| value as &dyn Value)
    }

    fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a str, &'a dyn Value)) {
        for (key, value) in self {
            visit(key, value);
        }
    }

    fn each_mut(&mut self, visit: &mut dyn FnMut(&str, &mut dyn Value)) {
        for (key, value) in self {
            visit(key, value);
        }
    }

    fn entry(&mut self, key: &str) -> &mut dyn Value {
        JsonMap::entry(self, key).or_insert(Tree::Null)
    }

    fn remove(&mut self, key: &str) -> bool {
        JsonMap::remove(self, key).is_some()
    }

    fn clear(&mut self) {
        JsonMap::clear(self);
    }
}

impl Scalar for Tree {
    fn facts(&self) -> &'static ScalarFacts {
        &TREE
    }
}

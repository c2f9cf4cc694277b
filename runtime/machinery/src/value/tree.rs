//! JSON trees as values: what a kind holds whose type is known only while serving.

use serde_json::{Map as JsonMap, Number, Value as Tree};

use super::{Map, Shape, Slot, Value, View};
use crate::facts::{ScalarFacts, TypeFacts};
use crate::json::{self, Strictness};
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

/// A tree shows what it holds, so that walks find their way in it, and is written as a whole.
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

/// What a view shows, as a tree.
pub(crate) fn tree_of(view: &View<'_>) -> Tree {
    match view {
        View::Absent => Tree::Null,
        View::Bool(value) => Tree::Bool(*value),
        View::Int(value) => Tree::from(*value),
        View::Double(value) => Number::from_f64(*value).map_or(Tree::Null, Tree::Number),
        View::Str(text) => Tree::String((*text).to_owned()),
        View::List(list) => (0..list.len())
            .filter_map(|index| list.get(index))
            .map(|element| tree_of(&element.view()))
            .collect(),
        View::Map(map) => {
            let mut entries = JsonMap::new();
            map.each(&mut |key, value| drop(entries.insert(key.to_owned(), tree_of(&value.view()))));
            Tree::Object(entries)
        }
        View::Bytes(_) | View::Scalar(_) | View::Struct(_) => {
            let mut text = Vec::new();
            json::encode_view(view, &mut text);
            json::parse_value(&text, Strictness::Lenient).map_or(Tree::Null, |(tree, _)| tree)
        }
    }
}

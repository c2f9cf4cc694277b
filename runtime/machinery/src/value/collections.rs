//! Lists, maps, optional and boxed values.

use std::collections::BTreeMap;
use std::fmt::Debug;

use super::{List, Map, Optional, Shape, Slot, Value, View};
use crate::facts::{StructTable, TypeFacts};

impl<T: Shape> Shape for Vec<T> {
    const TYPE: TypeFacts = TypeFacts::List(&T::TYPE);
}

impl<T: Value + Default> Value for Vec<T> {
    fn view(&self) -> View<'_> {
        View::List(self)
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::List(self)
    }

    fn reset(&mut self) {
        Vec::clear(self);
    }
}

impl<T: Value + Default> List for Vec<T> {
    fn len(&self) -> usize {
        Vec::len(self)
    }

    fn get(&self, index: usize) -> Option<&dyn Value> {
        self.as_slice().get(index).map(|value| value as &dyn Value)
    }

    fn get_mut(&mut self, index: usize) -> Option<&mut dyn Value> {
        self.as_mut_slice().get_mut(index).map(|value| value as &mut dyn Value)
    }

    fn push(&mut self) -> &mut dyn Value {
        Vec::push(self, T::default());
        self.last_mut().expect("an element was just pushed")
    }

    fn truncate(&mut self, len: usize) {
        Vec::truncate(self, len);
    }

    fn clear(&mut self) {
        Vec::clear(self);
    }
}

impl<T: Shape> Shape for BTreeMap<String, T> {
    const TYPE: TypeFacts = TypeFacts::Map(&T::TYPE);
}

impl<T: Value + Default> Value for BTreeMap<String, T> {
    fn view(&self) -> View<'_> {
        View::Map(self)
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Map(self)
    }

    fn reset(&mut self) {
        BTreeMap::clear(self);
    }
}

impl<T: Value + Default> Map for BTreeMap<String, T> {
    fn len(&self) -> usize {
        BTreeMap::len(self)
    }

    fn get(&self, key: &str) -> Option<&dyn Value> {
        BTreeMap::get(self, key).map(|value| value as &dyn Value)
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
        BTreeMap::entry(self, key.to_owned()).or_default()
    }

    fn remove(&mut self, key: &str) -> bool {
        BTreeMap::remove(self, key).is_some()
    }

    fn clear(&mut self) {
        BTreeMap::clear(self);
    }
}

impl<T: Shape> Shape for Option<T> {
    const TYPE: TypeFacts = TypeFacts::Optional(&T::TYPE);
    const FACTS: StructTable = T::FACTS;
}

impl<T: Value + Default> Value for Option<T> {
    fn view(&self) -> View<'_> {
        match self {
            None => View::Absent,
            Some(value) => value.view(),
        }
    }

    fn slot(&mut self) -> Slot<'_> {
        Slot::Optional(self)
    }

    fn reset(&mut self) {
        *self = None;
    }
}

impl<T: Value + Default> Optional for Option<T> {
    fn is_some(&self) -> bool {
        Option::is_some(self)
    }

    fn insert(&mut self) -> &mut dyn Value {
        self.get_or_insert_with(T::default)
    }

    fn get_mut(&mut self) -> Option<&mut dyn Value> {
        self.as_mut().map(|value| value as &mut dyn Value)
    }

    fn clear(&mut self) {
        *self = None;
    }
}

impl<T: Shape> Shape for Box<T> {
    const TYPE: TypeFacts = T::TYPE;
    const FACTS: StructTable = T::FACTS;
}

impl<T: Value + Debug> Value for Box<T> {
    fn view(&self) -> View<'_> {
        T::view(self)
    }

    fn slot(&mut self) -> Slot<'_> {
        T::slot(self)
    }

    fn reset(&mut self) {
        T::reset(self);
    }
}

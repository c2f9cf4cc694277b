//! Leaf values of the standard library.

use super::{Shape, Slot, Value, View};
use crate::facts::TypeFacts;

macro_rules! primitive {
    ($type:ty, $facts:ident, $value:ident => $view:expr, $slot:ident) => {
        impl Shape for $type {
            const TYPE: TypeFacts = TypeFacts::$facts;
        }

        impl Value for $type {
            fn view(&self) -> View<'_> {
                let $value = self;
                $view
            }

            fn slot(&mut self) -> Slot<'_> {
                Slot::$slot(self)
            }

            fn reset(&mut self) {
                *self = <$type>::default();
            }
        }
    };
}

primitive!(bool, Bool, value => View::Bool(*value), Bool);
primitive!(i32, Int32, value => View::Int(i64::from(*value)), Int32);
primitive!(i64, Int64, value => View::Int(*value), Int64);
primitive!(f64, Double, value => View::Double(*value), Double);
primitive!(String, String, value => View::Str(value), Str);

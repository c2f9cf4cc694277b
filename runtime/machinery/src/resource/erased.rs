//! Typed functions of a kind without their types, for derived tables.

use super::object::{Object, Resource};
use super::{Cell, Column, ResourceFacts};

/// Calls the function of a column with the type that it expects, for a derived table.
pub fn cell_of<R: Resource>(object: &dyn Object, cell: fn(&R) -> Cell) -> Cell {
    object.downcast_ref::<R>().map_or(Cell::Null, cell)
}

/// Returns a zero object of `R`, for a derived table.
#[must_use]
pub fn zero<R: Resource>() -> Box<dyn Object> {
    Box::new(R::default())
}

/// Returns the facts of `R`, for a derived table.
#[must_use]
pub fn facts_of<R: Resource>() -> &'static ResourceFacts {
    R::RESOURCE
}

/// Returns the columns of `R`.
#[must_use]
pub fn columns_of<R: Resource>() -> &'static [Column] {
    &R::RESOURCE.columns
}

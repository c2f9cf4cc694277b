//! Tests of the derives from the user's perspective.

mod hygiene;
mod tables;
mod ui;

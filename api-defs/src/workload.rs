//! What controllers of pods have in common, whatever their group: templates, the selectors that must match them, and
//! the columns that show both.

pub(crate) mod columns;
pub(crate) mod counts;
pub(crate) mod old_labels;
pub(crate) mod scale_selector;
pub(crate) mod selector;
pub(crate) mod template;

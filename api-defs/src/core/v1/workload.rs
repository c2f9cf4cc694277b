//! Parts that the workload kinds of all groups share: pod templates, the selectors that must match them, and the table
//! columns that render both.

pub(crate) mod columns;
pub(crate) mod counts;
pub(crate) mod old_labels;
pub(crate) mod scale_selector;
pub(crate) mod selector;
pub(crate) mod template;

//! Classes of which one is the default.

use std::cmp::Reverse;

use planesmith_machinery::meta::ObjectMeta;

/// Of the classes that an annotation says to be the default the newest, or the first by name of those that are as new.
pub(super) fn newest_default<'c>(
    classes: impl Iterator<Item = &'c ObjectMeta>,
    annotations: &[&str],
) -> Option<&'c ObjectMeta> {
    let is_default = |class: &&ObjectMeta| {
        let mut marks = annotations.iter().filter_map(|name| class.annotations.get(*name));
        marks.any(|mark| mark == "true")
    };
    classes
        .filter(is_default)
        .min_by_key(|class| (Reverse(class.creation_timestamp), class.name.as_str()))
}

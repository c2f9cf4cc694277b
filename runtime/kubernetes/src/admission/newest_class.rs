//! Classes of which several are the default.

use std::cmp::Reverse;

use planesmith_access::admission::Lister;
use planesmith_machinery::object::Resource;
use planesmith_machinery::status::ApiResult;

/// The name of the newest class that `is_default`, or of the first by name of those that are as new.
pub(super) fn newest_default<C: Resource>(
    objects: &dyn Lister,
    is_default: impl Fn(&C) -> bool,
) -> ApiResult<Option<String>> {
    let classes = objects.all::<C>("")?;
    let defaults = classes.iter().filter(|class| is_default(class));
    let metadata = defaults.map(|class| class.meta());
    let newest = metadata.min_by_key(|class| (Reverse(class.creation_timestamp), class.name.as_str()));
    Ok(newest.map(|class| class.name.clone()))
}

//! Chooses among several default classes.

use std::cmp::Reverse;

use planesmith_access::admission::Lister;
use planesmith_machinery::object::Resource;
use planesmith_machinery::status::ApiResult;

/// Returns the name of the newest class that `is_default`; of equally new ones, the first by name.
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

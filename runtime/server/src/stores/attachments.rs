//! Values that modules above attach to kinds.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use planesmith_machinery::resource::ResourceFacts;

/// Values of any types that are attached to kinds, at most one of each type to a kind.
///
/// Endpoints have handlers that get the endpoint, and endpoints have the stores: the stores keep such handlers without
/// knowing their types. Locked only while endpoints are created.
#[derive(Debug, Default)]
pub(crate) struct Attachments {
    by_kind: Mutex<HashMap<Key, Box<dyn Any + Send>>>,
}

/// Type of the value, group and plural name of the kind.
type Key = (TypeId, String, String);

impl Attachments {
    /// Attaches the value that `change` returns for the attached one of the same type.
    pub(crate) fn change<T: Any + Send>(&self, group: &str, resource: &str, change: impl FnOnce(Option<T>) -> T) {
        let mut all = self.by_kind.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key::<T>(group, resource);
        let attached = all.remove(&key).and_then(|value| value.downcast().ok());
        all.insert(key, Box::new(change(attached.map(|value| *value))));
    }

    /// The value of type `T` that is attached to a kind.
    pub(crate) fn get<T: Any + Clone>(&self, facts: &ResourceFacts) -> Option<T> {
        let all = self.by_kind.lock().unwrap_or_else(PoisonError::into_inner);
        all.get(&key::<T>(&facts.group, &facts.plural))?.downcast_ref().cloned()
    }
}

fn key<T: Any>(group: &str, resource: &str) -> Key {
    (TypeId::of::<T>(), group.to_owned(), resource.to_owned())
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::object::Resource as _;

    use super::*;

    /// A kind.
    #[derive(Clone, Debug, Default, PartialEq, planesmith_machinery::Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Crate")]
    struct Crate {
        /// Metadata.
        metadata: ObjectMeta,
    }

    #[test]
    fn a_kind_has_one_value_of_each_type() {
        let attachments = Attachments::default();
        let add = |number: u32| {
            let change = |known: Option<u32>| known.unwrap_or_default() + number;
            attachments.change("test.example.com", "crates", change);
        };
        add(1);
        add(2);
        attachments.change("test.example.com", "crates", |_| "text");
        attachments.change("test.example.com", "boxes", |_| 7_u64);
        assert_eq!(attachments.get::<u32>(Crate::RESOURCE), Some(3));
        assert_eq!(attachments.get::<&str>(Crate::RESOURCE), Some("text"));
        assert_eq!(attachments.get::<u64>(Crate::RESOURCE), None, "that is of another kind");
    }
}

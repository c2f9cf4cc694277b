//! Iteration over a pod's containers of all kinds in the order of validation.

use std::borrow::Cow;
use std::fmt::{self, Display};

use planesmith_machinery::field_error::FieldErrors;

use super::PodSpec;
use crate::core::v1::Container;

/// A container of any kind and its field path.
#[derive(Debug)]
pub(crate) struct PlacedContainer<'a> {
    field: &'static str,
    index: usize,
    /// The container. A copy for ephemeral containers.
    pub(crate) container: Cow<'a, Container>,
}

impl Display for PlacedContainer<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}[{}]", self.field, self.index)
    }
}

impl PodSpec {
    /// Iterates over all containers, starting with init containers and ending with ephemeral ones.
    pub(crate) fn placed_containers(&self) -> impl Iterator<Item = PlacedContainer<'_>> {
        let init = self.init_containers.iter().map(Cow::Borrowed).enumerate();
        let main = self.containers.iter().map(Cow::Borrowed).enumerate();
        let ephemeral = self.ephemeral_containers.iter();
        let ephemeral = ephemeral.map(|one| Cow::Owned(one.as_container())).enumerate();
        let init = init.map(|(index, container)| ("initContainers", index, container));
        let main = main.map(|(index, container)| ("containers", index, container));
        let ephemeral = ephemeral.map(|(index, container)| ("ephemeralContainers", index, container));
        let all = init.chain(main).chain(ephemeral);
        all.map(|(field, index, container)| PlacedContainer {
            field,
            index,
            container,
        })
    }

    /// Calls `visit` for each container, with errors at its path.
    pub(crate) fn visit_containers(
        &self,
        errors: &mut FieldErrors,
        visit: &mut dyn FnMut(&Container, &mut FieldErrors),
    ) {
        for place in self.placed_containers() {
            visit(&place.container, &mut errors.at_index(place.field, place.index));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn containers_come_in_the_order_of_their_sorts() {
        let spec: PodSpec = serde_json::from_value(serde_json::json!({
            "containers": [{"name": "a"}, {"name": "b"}],
            "ephemeralContainers": [{"name": "e"}],
            "initContainers": [{"name": "i"}],
        }))
        .unwrap();
        let places: Vec<String> = spec
            .placed_containers()
            .map(|place| format!("{place}={}", place.container.name))
            .collect();
        assert_eq!(
            places,
            [
                "initContainers[0]=i",
                "containers[0]=a",
                "containers[1]=b",
                "ephemeralContainers[0]=e"
            ]
        );
    }
}

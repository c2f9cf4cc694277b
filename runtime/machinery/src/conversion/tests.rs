use std::collections::BTreeMap;

use planesmith_wire::time::Time;

use super::*;
use crate::meta::ObjectMeta;
use crate::resource::object::Resource as _;
use crate::{Resource, Struct};

/// A part, in both versions.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
struct Part {
    /// Name.
    name: String,
    /// Creation time.
    created: Option<Time>,
}

mod v1 {
    use super::*;

    /// Desired state.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    pub(super) struct Size {
        /// Width.
        pub(super) width: Option<i32>,
    }

    /// Desired state.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    pub(super) struct Spec {
        /// Renamed.
        pub(super) title: String,
        /// Moved.
        pub(super) size: Option<Size>,
        /// Parts.
        pub(super) parts: Vec<Part>,
        /// Texts.
        pub(super) texts: BTreeMap<String, String>,
        /// Optional here.
        pub(super) replicas: Option<i32>,
        /// New.
        pub(super) color: String,
    }

    /// The storage version.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Box", plural = "boxes")]
    pub(super) struct Box {
        /// Metadata.
        pub(super) metadata: ObjectMeta,
        /// Desired state.
        pub(super) spec: Spec,
    }
}

mod v1alpha1 {
    use super::*;

    /// Desired state.
    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    pub(super) struct Spec {
        /// Renamed.
        #[field(moved_to = "spec.title")]
        pub(super) label: String,
        /// Moved.
        #[field(moved_to = "spec.size.width")]
        pub(super) width: Option<i32>,
        /// Parts.
        pub(super) parts: Vec<Part>,
        /// Texts.
        pub(super) texts: BTreeMap<String, String>,
        /// Not optional here.
        pub(super) replicas: i32,
        /// Removed in the storage version.
        pub(super) legacy: String,
    }

    /// The older version.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(
        group = "test.example.com",
        version = "v1alpha1",
        kind = "Box",
        plural = "boxes",
        storage_version = super::v1::Box,
        convert
    )]
    pub(super) struct Box {
        /// Metadata.
        pub(super) metadata: ObjectMeta,
        /// Desired state.
        pub(super) spec: Spec,
    }

    const LEGACY: &str = "test.example.com/legacy";

    impl crate::resource::Convert<super::v1::Box> for Box {
        fn finish_to_hub(&self, hub: &mut super::v1::Box) {
            if !self.spec.legacy.is_empty() {
                hub.metadata
                    .annotations
                    .insert(LEGACY.to_owned(), self.spec.legacy.clone());
            }
        }

        fn finish_from_hub(&mut self, _: &super::v1::Box) {
            self.spec.legacy = self.metadata.annotations.remove(LEGACY).unwrap_or_default();
        }
    }
}

fn old() -> v1alpha1::Box {
    v1alpha1::Box {
        metadata: ObjectMeta {
            name: "b".to_owned(),
            generation: 3,
            ..ObjectMeta::default()
        },
        spec: v1alpha1::Spec {
            label: "l".to_owned(),
            width: Some(0),
            parts: vec![
                Part {
                    name: "p".to_owned(),
                    created: Some(Time::from_second(5)),
                },
                Part::default(),
            ],
            texts: BTreeMap::from([("a".to_owned(), "1".to_owned())]),
            replicas: 2,
            legacy: "x".to_owned(),
        },
    }
}

#[test]
fn fields_are_copied_moved_and_finished() {
    let hub = convert(&old(), v1::Box::RESOURCE);
    let hub = hub.downcast_ref::<v1::Box>().expect("the storage version");
    assert_eq!(hub.metadata.name, "b");
    assert_eq!(hub.spec.title, "l");
    assert_eq!(hub.spec.size.as_ref().and_then(|size| size.width), Some(0));
    assert_eq!(hub.spec.parts, old().spec.parts);
    assert_eq!(hub.spec.replicas, Some(2));
    assert_eq!(hub.metadata.annotations["test.example.com/legacy"], "x");
}

#[test]
fn round_trip_loses_nothing() {
    let hub = convert(&old(), v1::Box::RESOURCE);
    let back = convert(&*hub, v1alpha1::Box::RESOURCE);
    assert_eq!(back.downcast_ref::<v1alpha1::Box>(), Some(&old()));
}

#[test]
fn absent_values_stay_absent() {
    let hub = convert(&v1alpha1::Box::default(), v1::Box::RESOURCE);
    assert_eq!(hub.downcast_ref::<v1::Box>(), Some(&v1::Box::default()));
    let same = convert(&*hub, v1::Box::RESOURCE);
    assert_eq!(same.downcast_ref::<v1::Box>(), Some(&v1::Box::default()));
}

#[test]
fn lost_fields_are_listed_both_ways() {
    assert_eq!(lost_fields(v1alpha1::Box::RESOURCE, v1::Box::RESOURCE), ["spec.legacy"]);
    assert_eq!(
        lost_fields(v1::Box::RESOURCE, v1alpha1::Box::RESOURCE),
        ["spec.replicas", "spec.color"][1..]
    );
}

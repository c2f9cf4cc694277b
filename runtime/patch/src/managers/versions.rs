//! The versions of a kind that managers of its objects use.

use planesmith_dynamic::custom::{self, AsCustom, CustomObject};
use planesmith_machinery::conversion::convert;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::Versions;
use crate::documents;

impl Versions for Scheme {
    fn convert(&self, object: &dyn Object, api_version: &str) -> ApiResult<Option<Box<dyn Object>>> {
        match version_of(self, object, api_version) {
            Some(target) => declared(object, &target).map(Some),
            None if object.as_custom().is_some() => {
                let why = format!("request to convert CR to an invalid group/version: {api_version}");
                Err(ApiError::unnamed(500, why))
            }
            None => Ok(None),
        }
    }

    fn zero(&self, object: &dyn Object, api_version: &str) -> Option<Box<dyn Object>> {
        version_of(self, object, api_version).map(|version| version.zero())
    }
}

/// `object` in the version `target`, with everything that it holds. A field that the version does not declare is an error,
/// and so is an element that is repeated, although objects of the version of a request may repeat elements.
fn declared(object: &dyn Object, target: &ResourceFacts) -> ApiResult<Box<dyn Object>> {
    match object.as_custom() {
        Some(object) if object.resource() != target => {
            let document = custom::document_in(object, target)?;
            let mut converted = CustomObject::new(target);
            if let Some(why) = documents::type_mismatch_of_document(&document, &converted) {
                return Err(ApiError::unnamed(500, why));
            }
            let read = custom::read_applied(document, &mut converted);
            read.map_err(|error| ApiError::unnamed(500, error.to_string()))?;
            Ok(Box::new(converted))
        }
        Some(_) => Ok(convert(object, target)),
        None => {
            let converted = convert(object, target);
            match documents::type_mismatch_of_converted(&*converted) {
                Some(why) => Err(ApiError::unnamed(500, why)),
                None => Ok(converted),
            }
        }
    }
}

/// Another version of the kind of `object`.
fn version_of(scheme: &Scheme, object: &dyn Object, api_version: &str) -> Option<ResourceFacts> {
    let kind = object.resource();
    match kind.defined_versions() {
        Some(mut versions) => versions.find(|version| version.api_version == api_version),
        // The group without a name and the others know nothing of each other's types in kube-apiserver, even where they share a
        // kind, and those of versions that are not served are unknown: managers that came so are forgotten.
        None => scheme
            .object_kind(api_version, &kind.kind)
            .filter(|other| other.served && other.group.is_empty() == kind.group.is_empty())
            .cloned(),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use planesmith_machinery::facts::{ScalarFacts, TypeFacts};
    use planesmith_machinery::meta::{ObjectMeta, OwnerReference};
    use planesmith_machinery::scalar::{Scalar, ScalarCodec, ScalarError, Token};
    use planesmith_machinery::value::{Shape, Slot, Value, View};
    use planesmith_machinery::{Resource, Struct};

    use super::*;

    thread_local! {
        static RENDERED: Cell<usize> = const { Cell::new(0) };
    }

    /// A leaf that counts how often it is rendered as JSON.
    #[derive(Clone, Copy, Debug, Default, PartialEq)]
    struct Counted;

    impl ScalarCodec for Counted {
        fn is_zero(&self) -> bool {
            false
        }

        fn write_json(&self, out: &mut Vec<u8>) {
            RENDERED.set(RENDERED.get() + 1);
            out.extend_from_slice(b"\"\"");
        }

        fn read_json(&mut self, _: Token<'_>) -> Result<(), ScalarError> {
            Ok(())
        }

        fn write_proto(&self, _: &mut Vec<u8>) {}

        fn read_proto(&mut self, _: &[u8]) -> Result<(), ScalarError> {
            Ok(())
        }
    }

    static COUNTED: ScalarFacts = ScalarFacts {
        go_name: "test.Counted",
        definition: "",
        openapi_type: "string",
        format: "",
    };

    impl Scalar for Counted {
        fn facts(&self) -> &'static ScalarFacts {
            &COUNTED
        }
    }

    impl Shape for Counted {
        const TYPE: TypeFacts = TypeFacts::Scalar(&COUNTED);
    }

    impl Value for Counted {
        fn view(&self) -> View<'_> {
            View::Scalar(self)
        }

        fn slot(&mut self) -> Slot<'_> {
            Slot::Scalar(self)
        }

        fn reset(&mut self) {}
    }

    mod v1 {
        use super::*;

        #[derive(Clone, Debug, Default, Resource)]
        #[resource(group = "test.example.com", version = "v1", kind = "Box")]
        pub(super) struct Box {
            #[field(proto = 1)]
            pub(super) metadata: ObjectMeta,
            #[field(proto = 2)]
            pub(super) spec: BoxSpec,
        }

        #[derive(Clone, Debug, Default, PartialEq, Struct)]
        pub(super) struct BoxSpec {
            #[field(proto = 1)]
            pub(super) size: i64,
            #[field(proto = 2)]
            pub(super) counted: Counted,
        }
    }

    mod v1alpha1 {
        use super::*;

        #[derive(Clone, Debug, Default, Resource)]
        #[resource(group = "test.example.com", version = "v1alpha1", kind = "Box", storage_version = v1::Box)]
        pub(super) struct Box {
            #[field(proto = 1)]
            pub(super) metadata: ObjectMeta,
            #[field(proto = 2)]
            pub(super) spec: v1::BoxSpec,
        }
    }

    #[test]
    fn a_scheme_finds_versions_by_name() {
        let mut scheme = Scheme::new();
        scheme.add::<v1alpha1::Box>().add::<v1::Box>();
        assert_eq!(scheme.check(), Ok(()));
        let old = v1alpha1::Box::default();
        let converted = Versions::convert(&scheme, &old, "test.example.com/v1");
        let converted = converted.expect("a conversion").expect("known");
        assert_eq!(converted.resource().version, "v1");
        assert!(matches!(
            Versions::convert(&scheme, &old, "test.example.com/v7"),
            Ok(None)
        ));
    }

    #[test]
    fn converted_objects_are_rendered_only_for_the_report_of_a_repeated_element() {
        let mut scheme = Scheme::new();
        scheme.add::<v1alpha1::Box>().add::<v1::Box>();
        let owner = |uid: &str| OwnerReference {
            uid: uid.to_owned(),
            ..OwnerReference::default()
        };
        let mut old = v1alpha1::Box::default();
        old.metadata.owner_references = vec![owner("a"), owner("b")];
        old.metadata.finalizers = vec!["a".to_owned(), "b".to_owned()];
        RENDERED.set(0);
        let converted = Versions::convert(&scheme, &old, "test.example.com/v1");
        assert!(converted.is_ok_and(|converted| converted.is_some()));
        assert_eq!(RENDERED.get(), 0);
        old.metadata.owner_references = vec![owner("a"), owner("a")];
        let error = Versions::convert(&scheme, &old, "test.example.com/v1").expect_err("a repeated owner");
        assert_eq!(
            error.message(),
            ".metadata.ownerReferences: duplicate entries for key [uid=\"a\"]"
        );
    }
}

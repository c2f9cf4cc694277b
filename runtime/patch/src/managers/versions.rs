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
            if let Some(why) = documents::misfit_of_document(&document, &converted) {
                return Err(ApiError::unnamed(500, why));
            }
            let read = custom::read_applied(document, &mut converted);
            read.map_err(|error| ApiError::unnamed(500, error.to_string()))?;
            Ok(Box::new(converted))
        }
        Some(_) => Ok(convert(object, target)),
        None => {
            let converted = convert(object, target);
            match documents::misfit_of_converted(&*converted) {
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
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::{Resource, Struct};

    use super::*;

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
}

//! Discovery of a kind, and the encodings of answers with its objects.

use http::request::Parts;
use planesmith_machinery::resource::{ResourceFacts, SubresourceFacts};
use planesmith_machinery::sorting::sort_by_key;
use planesmith_machinery::status::{ApiError, ApiResult, Reason};

use super::expected::internal_type;
use super::{Custom, Declared};
use crate::negotiation::{Acceptable, Format, Output, Target, negotiate, negotiate_encodable};
use crate::request::Verb;

/// Answers about a kind and its objects.
pub(crate) trait Answers {
    /// The verbs of a stored kind, in the order in which discovery lists them.
    fn verbs(&self) -> [Verb; 8];

    /// The subresources of `kind`, in the order in which discovery lists them.
    fn subresources<'k>(&self, kind: &'k ResourceFacts) -> Vec<&'k SubresourceFacts>;

    /// Negotiates the encoding of an answer with the client.
    ///
    /// # Errors
    ///
    /// 406 when the client accepts none of the acceptable encodings.
    fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output>;

    /// The Go type of a list of `kind`, in messages.
    fn list_type(&self, kind: &ResourceFacts) -> String;

    /// The error for a request of one object of `kind` as a list of metadata.
    fn not_a_list(&self, kind: &ResourceFacts) -> ApiError;
}

impl Answers for Declared {
    fn verbs(&self) -> [Verb; 8] {
        Verb::STORED
    }

    fn subresources<'k>(&self, kind: &'k ResourceFacts) -> Vec<&'k SubresourceFacts> {
        let mut subresources: Vec<_> = kind.subresources.iter().collect();
        sort_by_key(&mut subresources, |subresource| subresource.name);
        subresources
    }

    fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output> {
        negotiate(request, acceptable)
    }

    fn list_type(&self, kind: &ResourceFacts) -> String {
        format!("*{}", internal_type(&kind.group, &kind.list_kind))
    }

    fn not_a_list(&self, kind: &ResourceFacts) -> ApiError {
        not_a_list(&kind.group, &kind.kind)
    }
}

impl Answers for Custom {
    fn verbs(&self) -> [Verb; 8] {
        [
            Verb::Delete,
            Verb::DeleteCollection,
            Verb::Get,
            Verb::List,
            Verb::Patch,
            Verb::Create,
            Verb::Update,
            Verb::Watch,
        ]
    }

    fn subresources<'k>(&self, kind: &'k ResourceFacts) -> Vec<&'k SubresourceFacts> {
        kind.subresources.iter().collect()
    }

    /// Documents have no protobuf messages, but their metadata and Scales have.
    fn negotiate(&self, request: &Parts, acceptable: Acceptable) -> ApiResult<Output> {
        negotiate_encodable(request, acceptable, |output| {
            output.format != Format::Protobuf || output.target != Target::Object || acceptable == Acceptable::Scale
        })
    }

    fn list_type(&self, _: &ResourceFacts) -> String {
        "*unstructured.UnstructuredList".to_owned()
    }

    fn not_a_list(&self, _: &ResourceFacts) -> ApiError {
        // A tree reports its missing items before it is found not to be a list.
        ApiError::unnamed(500, "content is not a list")
    }
}

/// 406: the list of metadata cannot be requested of a single object.
pub(crate) fn not_a_list(group: &str, kind: &str) -> ApiError {
    let kind = internal_type(group, kind);
    let why = "you requested PartialObjectMetadataList, but the requested object is not a list";
    ApiError::new(Reason::NotAcceptable, format!("{why} (*{kind})"))
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http::header::ACCEPT;

    use super::*;

    fn parts(accept: &str) -> Parts {
        let request = Request::builder().header(ACCEPT, accept);
        request.body(()).expect("legal").into_parts().0
    }

    #[test]
    fn objects_of_custom_kinds_are_not_told_in_protobuf_but_their_metadata_is() {
        let form = |accept: &str| {
            let agreed = Custom.negotiate(&parts(accept), Acceptable::Object);
            agreed.map(|output| (output.format, output.target))
        };
        let protobuf = Format::Protobuf.media_type();
        for (accept, expected) in [
            ("", (Format::Json, Target::Object)),
            ("application/*", (Format::Json, Target::Object)),
            (&*format!("{protobuf},application/yaml"), (Format::Yaml, Target::Object)),
            (
                &*format!("{protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1"),
                (Format::Protobuf, Target::PartialObject),
            ),
        ] {
            assert_eq!(form(accept).ok(), Some(expected), "{accept}");
        }
        for accept in [protobuf, "text/plain"] {
            assert_eq!(
                form(accept).expect_err(accept).message(),
                "only the following media types are accepted: application/json, application/yaml, \
                 application/vnd.kubernetes.protobuf"
            );
        }
    }

    #[test]
    fn scales_are_of_a_declared_kind_whatever_is_scaled() {
        for accept in [
            "application/vnd.kubernetes.protobuf",
            "application/vnd.kubernetes.protobuf, */*",
        ] {
            let agreed = Custom.negotiate(&parts(accept), Acceptable::Scale).expect(accept);
            assert_eq!((agreed.format, agreed.target), (Format::Protobuf, Target::Object));
        }
        let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
        let agreed = Custom.negotiate(&parts(table), Acceptable::Scale).expect(table);
        assert_eq!(agreed.target, Target::Table);
    }
}

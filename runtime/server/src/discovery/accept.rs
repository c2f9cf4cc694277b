//! Negotiation of the aggregated discovery document.

use axum::response::Response;
use bytes::Bytes;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use planesmith_machinery::value::Struct;
use planesmith_machinery::{protobuf, yaml};

use crate::negotiation::{Clause, Format, clauses};

/// The encodings of the document of all groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AggregatedEncoding {
    Json,
    Yaml,
    Protobuf,
}

impl AggregatedEncoding {
    const fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            AggregatedEncoding::Json => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            AggregatedEncoding::Yaml => "application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
            AggregatedEncoding::Protobuf => {
                "application/vnd.kubernetes.protobuf;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
            }
        })
    }

    /// The encoding that the client requests; `None` when it requests the plain list.
    ///
    /// The best clause that names the aggregated document counts, even if one for the plain list is better: clients name
    /// that only for servers that serve nothing else.
    pub(crate) fn wanted(headers: &HeaderMap) -> Option<Self> {
        let header = headers.get(ACCEPT)?.to_str().ok()?;
        clauses(header).iter().find_map(Self::of_clause)
    }

    fn of_clause(clause: &Clause<'_>) -> Option<Self> {
        let has = |wanted| clause.parameters.contains(&wanted);
        let names_document =
            has(("g", "apidiscovery.k8s.io")) && has(("v", "v2")) && has(("as", "APIGroupDiscoveryList"));
        let mut encodings = [Self::Json, Self::Yaml, Self::Protobuf].into_iter();
        encodings.find(|encoding| names_document && clause.matches(encoding.format().media_type()))
    }

    const fn format(self) -> Format {
        match self {
            AggregatedEncoding::Json => Format::Json,
            AggregatedEncoding::Yaml => Format::Yaml,
            AggregatedEncoding::Protobuf => Format::Protobuf,
        }
    }

    /// The answer in this encoding.
    pub(crate) fn answer(self, object: &dyn Struct, json: &Bytes) -> Response {
        let body = match self {
            AggregatedEncoding::Json => json.clone(),
            // The bytes are JSON that this server encoded.
            AggregatedEncoding::Yaml => yaml::from_json(json).map_or_else(|_| json.clone(), Bytes::from),
            AggregatedEncoding::Protobuf => {
                let mut body = Vec::with_capacity(json.len());
                protobuf::encode_enveloped(object, &mut body);
                body.into()
            }
        };
        let mut response = Response::new(body.into());
        response.headers_mut().insert(CONTENT_TYPE, self.media_type());
        response
    }
}

//! A document that is requested more often than it changes.

use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use planesmith_machinery::json;
use planesmith_machinery::value::Struct;

use crate::negotiation;
use crate::response;

/// A document with its JSON encoding, which most clients request.
#[derive(Debug)]
pub(crate) struct Document {
    object: Box<dyn Struct>,
    json: Bytes,
}

impl Document {
    /// Encodes `object`.
    pub(crate) fn new(object: impl Struct) -> Self {
        let mut json = json::to_vec(&object);
        json.push(b'\n');
        Self {
            object: Box::new(object),
            json: json.into(),
        }
    }

    /// The JSON encoding, with its final newline.
    pub(crate) fn json(&self) -> &Bytes {
        &self.json
    }

    /// The decoded document.
    pub(crate) fn object(&self) -> &dyn Struct {
        &*self.object
    }

    /// The document in the encoding that the client accepts, at a path of an API.
    pub(crate) fn answer(&self, request: &Parts) -> Response {
        let checked = negotiation::check_document_route(request);
        let agreed = checked.and_then(|()| negotiation::negotiate_document(request));
        response::document(request, agreed, &*self.object, &self.json)
    }

    /// The same at a path above the APIs, where negotiation is less strict.
    pub(crate) fn answer_above(&self, request: &Parts) -> Response {
        let agreed = negotiation::negotiate_document(request);
        response::document(request, agreed, &*self.object, &self.json)
    }
}

//! A document that is asked for more often than it changes.

use axum::response::Response;
use bytes::Bytes;
use http::request::Parts;
use planesmith_machinery::json;
use planesmith_machinery::value::Struct;

use crate::failure;

/// A document with its JSON form, which most clients take.
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

    /// The JSON form with its final line end.
    pub(crate) fn json(&self) -> &Bytes {
        &self.json
    }

    /// The object.
    pub(crate) fn object(&self) -> &dyn Struct {
        &*self.object
    }

    /// The document in the form that the client takes.
    pub(crate) fn answer(&self, request: &Parts) -> Response {
        failure::document(request, &*self.object, &self.json)
    }
}

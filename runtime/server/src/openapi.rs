//! `/openapi/v2` and `/openapi/v3`: the documents that say what fields there are.
//!
//! The documents are made by `cargo xtask generate`; here they are only sent. Hashes and compressed forms are made when
//! they are first asked for, so that a server that nobody asks neither reads nor keeps them.

mod document;
mod endpoints;

use std::collections::BTreeMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use bytes::Bytes;

use self::document::OpenApiDocument;
pub(crate) use self::endpoints::router;

/// The documents of a chain; they can be exchanged while serving.
#[derive(Clone, Debug, Default)]
pub struct OpenApi {
    current: Arc<ArcSwap<Documents>>,
}

/// The documents at one time.
#[derive(Debug, Default)]
struct Documents {
    v2: Option<OpenApiDocument>,
    v2_protobuf: Option<OpenApiDocument>,
    v3: BTreeMap<String, Arc<OpenApiDocument>>,
}

impl OpenApi {
    /// Serves `v2` at `/openapi/v2`, and each of `v3` at `/openapi/v3/PATH` (`api/v1`, `apis/apps/v1`). All of them are
    /// compact JSON.
    #[must_use]
    pub fn new(v2: impl Into<Bytes>, v3: impl IntoIterator<Item = (&'static str, &'static [u8])>) -> Self {
        let v3 = v3
            .into_iter()
            .map(|(path, json)| (path.to_owned(), Arc::new(OpenApiDocument::new(json))));
        let documents = Documents {
            v2: Some(OpenApiDocument::new(v2)),
            v2_protobuf: None,
            v3: v3.collect(),
        };
        Self {
            current: Arc::new(ArcSwap::from_pointee(documents)),
        }
    }

    /// Replaces the version 2 document, and its protobuf form if there is one.
    pub fn set_v2(&self, json: impl Into<Bytes>, protobuf: Option<Bytes>) {
        let (json, protobuf) = (json.into(), protobuf);
        self.change(|documents| {
            documents.v2 = Some(OpenApiDocument::new(json.clone()));
            documents.v2_protobuf = protobuf.clone().map(OpenApiDocument::new);
        });
    }

    /// Adds or replaces a version 3 document.
    pub fn set_v3(&self, path: &str, json: impl Into<Bytes>) {
        let document = Arc::new(OpenApiDocument::new(json));
        self.change(|documents| {
            documents.v3.insert(path.to_owned(), Arc::clone(&document));
        });
    }

    /// Removes a version 3 document.
    pub fn remove_v3(&self, path: &str) {
        self.change(|documents| {
            documents.v3.remove(path);
        });
    }

    fn change(&self, change: impl Fn(&mut Documents)) {
        self.current.rcu(|documents| {
            let mut documents = documents.renewed();
            change(&mut documents);
            documents
        });
    }
}

impl Documents {
    /// The same documents, to be changed. Only the version 2 ones are hashed again.
    fn renewed(&self) -> Self {
        Self {
            v2: self.v2.as_ref().map(OpenApiDocument::renewed),
            v2_protobuf: self.v2_protobuf.as_ref().map(OpenApiDocument::renewed),
            v3: self.v3.clone(),
        }
    }
}

#[cfg(test)]
mod tests;

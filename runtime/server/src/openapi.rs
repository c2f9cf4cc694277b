//! `/openapi/v2` and `/openapi/v3`: the documents that say what fields there are.
//!
//! The documents are made by `cargo xtask generate`; here they are only sent. Hashes and compressed forms are made when
//! they are first asked for, so that a server that nobody asks neither reads nor keeps them.

mod adapt;
mod document;
mod endpoints;
mod gnostic;
mod v2;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

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
    v2: Arc<V2>,
    v3: BTreeMap<String, Arc<OpenApiDocument>>,
}

/// The version 2 document in its forms, each made when it is first asked for.
#[derive(Debug, Default)]
struct V2 {
    /// The documents of group versions; a change of one leaves the others as they were made.
    own: BTreeMap<String, Arc<OpenApiDocument>>,
    /// Those of other servers.
    adopted: BTreeMap<String, Arc<OpenApiDocument>>,
    json: OnceLock<OpenApiDocument>,
}

/// Where a document comes from.
pub(super) enum Source {
    /// It is there.
    Ready(Bytes),
    /// It is made when somebody asks for it, because hardly anybody does.
    Made(Box<dyn Fn() -> Bytes + Send + Sync>),
}

impl Source {
    /// What `make` makes.
    fn made(make: impl Fn() -> Bytes + Send + Sync + 'static) -> Self {
        Source::Made(Box::new(make))
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Source::Ready(bytes) => write!(f, "Ready({} bytes)", bytes.len()),
            Source::Made(_) => f.write_str("Made"),
        }
    }
}

/// The documents of one group version: its path (`api/v1`, `apis/apps/v1`) and compact JSON.
pub type Part = (&'static str, &'static [u8]);

impl OpenApi {
    /// Serves `v2` as one document at `/openapi/v2`, and each of `v3` at `/openapi/v3/PATH`.
    #[must_use]
    pub fn new(v2: impl IntoIterator<Item = Part>, v3: impl IntoIterator<Item = Part>) -> Self {
        let document = |(path, json): Part| {
            let source = adapt::declared(path, json);
            (path.to_owned(), Arc::new(OpenApiDocument::new(source)))
        };
        let v2 = V2 {
            own: v2.into_iter().map(document).collect(),
            ..V2::default()
        };
        let documents = Documents {
            v2: Arc::new(v2),
            v3: v3.into_iter().map(document).collect(),
        };
        Self {
            current: Arc::new(ArcSwap::from_pointee(documents)),
        }
    }

    /// Adds or replaces what a group version adds to the version 2 document, in a document that `make` makes when it is first
    /// asked for.
    pub fn make_v2(&self, path: &str, make: impl Fn() -> Bytes + Send + Sync + 'static) {
        let document = Arc::new(OpenApiDocument::new(Source::made(make)));
        self.change_v2(|v2| drop(v2.own.insert(path.to_owned(), Arc::clone(&document))));
    }

    /// Takes a group version out of the version 2 document.
    pub fn remove_v2(&self, path: &str) {
        self.change_v2(|v2| drop(v2.own.remove(path)));
    }

    /// Adds or replaces what another server adds to the version 2 document about a group version. Nothing of it takes the
    /// place of what this chain says itself.
    pub fn adopt_v2(&self, path: &str, json: impl Into<Bytes>) {
        let document = Arc::new(OpenApiDocument::new(Source::Ready(json.into())));
        self.change_v2(|v2| drop(v2.adopted.insert(path.to_owned(), Arc::clone(&document))));
    }

    /// Takes out of the version 2 document what another server said about a group version.
    pub fn disown_v2(&self, path: &str) {
        self.change_v2(|v2| drop(v2.adopted.remove(path)));
    }

    fn change_v2(&self, change: impl Fn(&mut V2)) {
        self.change(|documents| {
            let mut v2 = V2 {
                own: documents.v2.own.clone(),
                adopted: documents.v2.adopted.clone(),
                json: OnceLock::new(),
            };
            change(&mut v2);
            documents.v2 = Arc::new(v2);
        });
    }

    /// Adds or replaces a version 3 document.
    pub fn set_v3(&self, path: &str, json: impl Into<Bytes>) {
        self.put_v3(path, Source::Ready(json.into()));
    }

    /// As [`OpenApi::set_v3`], of a document that `make` makes when it is first asked for.
    pub fn make_v3(&self, path: &str, make: impl Fn() -> Bytes + Send + Sync + 'static) {
        self.put_v3(path, Source::made(make));
    }

    /// The version 3 document of a group version.
    #[must_use]
    pub fn v3(&self, path: &str) -> Option<Bytes> {
        let documents = self.current.load();
        documents.v3.get(path).map(|document| document.bytes())
    }

    fn put_v3(&self, path: &str, source: Source) {
        let document = Arc::new(OpenApiDocument::new(source));
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
            let mut documents = Documents {
                v2: Arc::clone(&documents.v2),
                v3: documents.v3.clone(),
            };
            change(&mut documents);
            documents
        });
    }
}

impl V2 {
    fn json(&self) -> &OpenApiDocument {
        self.json.get_or_init(|| {
            let (own, adopted) = (self.own.values(), self.adopted.values());
            let whole = v2::merge(own.map(|part| part.bytes()), adopted.map(|part| part.bytes()));
            OpenApiDocument::packed(whole.to_string().as_bytes())
        })
    }
}

#[cfg(test)]
mod tests;

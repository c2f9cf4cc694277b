//! Discovery and OpenAPI documents of other servers.

use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use http::StatusCode;
use http::header::{ACCEPT, CONTENT_TYPE, ETAG, HeaderMap, HeaderValue, IF_NONE_MATCH};
use planesmith_server::discovery::RemoteResources;
use planesmith_server::proxy::BufferedResponse;

use super::Backend;
use crate::openapi;

/// Accepts aggregated discovery in all its versions.
const ALL: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,\
                   application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList";
const JSON: &str = "application/json";

/// The cached documents of a server.
#[derive(Debug, Default)]
pub(crate) struct Documents {
    resources: Cached<Arc<RemoteResources>>,
    v2: Cached<()>,
    v3: Cached<()>,
}

/// A document, or the value derived from it, with its ETag.
#[derive(Debug, Default)]
struct Cached<T> {
    value: T,
    tag: Option<HeaderValue>,
}

/// The differences to the previous read.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// True if the resources changed.
    pub(crate) resources: bool,
    /// The server's part of the version 2 document; `None` if unchanged.
    pub(crate) v2: Option<Bytes>,
    /// The server's version 3 document; `None` if unchanged.
    pub(crate) v3: Option<Bytes>,
    /// True if all reads succeeded.
    pub(crate) are_all: bool,
}

/// A marker that the server did not respond.
#[derive(Debug)]
struct Unread;

impl Backend {
    /// Returns the server's resources as of the last read.
    pub(crate) fn resources(&self) -> Arc<RemoteResources> {
        Arc::clone(&self.known().resources.value)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Documents> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the documents that changed. Documents that cannot be read stay as they are.
    pub(crate) async fn read_documents(&self, group: &str, version: &str) -> Changes {
        let (resources, v2, v3) = tokio::join!(self.read_resources(group, version), self.read_v2(), self.read_v3());
        Changes {
            are_all: resources.is_ok() && v2.is_ok() && v3.is_ok(),
            resources: resources.unwrap_or(false),
            v2: v2.unwrap_or(None),
            v3: v3.unwrap_or(None),
        }
    }

    async fn read_resources(&self, group: &str, version: &str) -> Result<bool, Unread> {
        let tag = self.known().resources.tag.clone();
        let Some(reply) = self.newer("/apis", ALL, tag).await? else {
            return Ok(false);
        };
        let media_type = reply.headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let says_all = media_type.is_some_and(|media_type| media_type.contains("APIGroupDiscoveryList"));
        let found = match (reply.status, says_all) {
            (StatusCode::OK, true) => RemoteResources::of_all(&reply.body).map(|mut all| {
                let name = (group.to_owned(), version.to_owned());
                (all.remove(&name).unwrap_or_default(), reply.headers.get(ETAG).cloned())
            }),
            // The server supports only unaggregated discovery.
            _ => self.read_plain().await?.map(|resources| (resources, None)),
        };
        let Some((resources, tag)) = found else {
            return Ok(false);
        };
        let mut known = self.known();
        let known = &mut known.resources;
        let changed = *known.value != resources;
        if changed {
            known.value = Arc::new(resources);
        }
        known.tag = tag;
        Ok(changed)
    }

    async fn read_plain(&self) -> Result<Option<RemoteResources>, Unread> {
        let reply = self.newer(self.path(), JSON, None).await?;
        let reply = reply.filter(|reply| reply.status == StatusCode::OK);
        Ok(reply.and_then(|reply| RemoteResources::of_version(&reply.body)))
    }

    async fn read_v2(&self) -> Result<Option<Bytes>, Unread> {
        let tag = self.known().v2.tag.clone();
        let Some(reply) = self.newer("/openapi/v2", JSON, tag).await? else {
            return Ok(None);
        };
        let part = openapi::part_of_v2(&reply.body, self.path());
        if part.is_some() {
            self.known().v2.tag = reply.headers.get(ETAG).cloned();
        }
        Ok(part)
    }

    async fn read_v3(&self) -> Result<Option<Bytes>, Unread> {
        let tag = self.known().v3.tag.clone();
        let reply = self.newer(&format!("/openapi/v3{}", self.path()), JSON, tag).await?;
        let is_document =
            |reply: &BufferedResponse| reply.status == StatusCode::OK && openapi::is_document(&reply.body);
        let Some(reply) = reply.filter(is_document) else {
            return Ok(None);
        };
        self.known().v3.tag = reply.headers.get(ETAG).cloned();
        Ok(Some(reply.body))
    }

    /// Returns the response for a path; `None` if its ETag still is `tag`.
    async fn newer(
        &self,
        path: &str,
        accept: &'static str,
        tag: Option<HeaderValue>,
    ) -> Result<Option<BufferedResponse>, Unread> {
        let mut headers = HeaderMap::new();
        headers.insert(ACCEPT, HeaderValue::from_static(accept));
        if let Some(tag) = tag {
            headers.insert(IF_NONE_MATCH, tag);
        }
        match self.read(path, headers).await {
            Ok(reply) if reply.status == StatusCode::NOT_MODIFIED => Ok(None),
            Ok(reply) => Ok(Some(reply)),
            Err(error) => {
                tracing::debug!(path, error, "a document of an aggregated API server cannot be read");
                Err(Unread)
            }
        }
    }
}

//! `/api`, `/apis` and `/apis/GROUP`: the groups of a whole chain.
//!
//! The documents are made once for each time that a table or the [`GroupDirectory`] is swapped.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::any;
use http::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{Request, StatusCode};
use planesmith_machinery::group_version::compare_versions;
use planesmith_machinery::meta::{ApiGroup, ApiVersions, GroupVersionForDiscovery, ServerAddressByClientCidr};
use planesmith_machinery::sorting::sort_by;
use ring::digest::{SHA512, digest};

use super::SharedTable;
use crate::discovery::{
    AggregatedEncoding, Document, Group, GroupDirectory, GroupList, Groups, PlainList, RemoteVersion, ServedResource,
    Version, VersionPriority,
};
use crate::negotiation::check_document_route;
use crate::response;
use crate::routes::RouteTable;

/// Priority of a version for which none is configured: that of custom resources.
const USUAL: (i32, i32) = (1000, 100);

/// The discovery documents about the groups of a whole chain.
#[derive(Debug)]
pub(crate) struct Discovery {
    tables: Vec<SharedTable>,
    directory: GroupDirectory,
    priorities: Priorities,
    public_address: String,
    current: ArcSwap<Current>,
}

/// Priorities of groups and of versions in them, by group and version.
type Priorities = HashMap<(String, String), (i32, i32)>;

/// The documents for one state of the tables.
#[derive(Debug)]
struct Current {
    /// The tables that the documents were made from.
    tables: Vec<Arc<RouteTable>>,
    /// The registrations at that time.
    registered: Arc<Groups>,
    core_versions: Document,
    groups: Document,
    group: HashMap<String, Arc<Document>>,
    all_of_core: Tagged,
    all_of_groups: Tagged,
}

/// A document with its entity tag.
#[derive(Debug)]
struct Tagged {
    document: Document,
    tag: HeaderValue,
}

/// A group of the chain with its versions, best first.
struct Merged<'t> {
    name: &'t str,
    versions: Vec<MergedVersion<'t>>,
}

struct MergedVersion<'t> {
    name: &'t str,
    /// Priority of the group, and of the version in it.
    priority: (i32, i32),
    contents: Contents<'t>,
}

enum Contents<'t> {
    /// Resources by name.
    Local(Vec<&'t ServedResource>),
    Remote(&'t RemoteVersion),
}

impl Discovery {
    /// Reads the tables of a chain, outermost first, and the registrations beside them.
    pub(crate) fn new(
        tables: Vec<SharedTable>,
        directory: GroupDirectory,
        priorities: &[VersionPriority],
        public_address: String,
    ) -> Self {
        let priorities = priorities.iter().map(|place| {
            let name = (place.group.clone(), place.version.clone());
            (name, (place.group_priority, place.version_priority))
        });
        let priorities: Priorities = priorities.collect();
        let current = Current::new(load(&tables), directory.load(), &priorities, &public_address);
        Self {
            tables,
            directory,
            priorities,
            public_address,
            current: ArcSwap::from_pointee(current),
        }
    }

    /// The document at `/apis/GROUP`, if the path has that form and the group exists.
    pub(crate) fn group(&self, path: &str) -> Option<Arc<Document>> {
        let name = path.strip_prefix("/apis/")?.trim_end_matches('/');
        self.current().group.get(name).cloned()
    }

    /// The router for `/api` and `/apis`.
    pub(crate) fn router(self: Arc<Self>) -> Router {
        let (discovery, of_groups) = (Arc::clone(&self), Arc::clone(&self));
        let core = response::get_only(move |request| discovery.core_versions(request));
        let groups = any(move |request: Request<Body>| std::future::ready(of_groups.groups(&request.into_parts().0)));
        // As in kube-apiserver, only the path without a slash has the aggregated document.
        let plain_groups = any(move |request: Request<Body>| {
            let current = self.current();
            std::future::ready(current.groups.answer_above(&request.into_parts().0))
        });
        Router::new()
            .route("/api", core.clone())
            .route("/api/", core)
            .route("/apis", groups)
            .route("/apis/", plain_groups)
    }

    fn core_versions(&self, request: &Parts) -> Response {
        let current = self.current();
        match AggregatedEncoding::wanted(&request.headers) {
            Some(encoding) if check_document_route(request).is_ok() => current.all_of_core.answer(encoding, request),
            _ => current.core_versions.answer(request),
        }
    }

    fn groups(&self, request: &Parts) -> Response {
        let current = self.current();
        match AggregatedEncoding::wanted(&request.headers) {
            Some(encoding) => current.all_of_groups.answer(encoding, request),
            None => current.groups.answer_above(request),
        }
    }

    /// The paths of all documents.
    pub(crate) fn paths(&self) -> Vec<String> {
        let current = self.current();
        let mut paths = vec!["/apis".to_owned(), "/apis/".to_owned()];
        for group in merge(&current.tables, &current.registered, &self.priorities) {
            let start = if group.name.is_empty() {
                "/api".to_owned()
            } else {
                format!("/apis/{}", group.name)
            };
            let versions = group.versions.iter();
            paths.extend(versions.map(|version| format!("{start}/{}", version.name)));
            paths.push(start);
        }
        paths
    }

    /// The documents for the current tables and registrations.
    fn current(&self) -> Arc<Current> {
        let current = self.current.load_full();
        let registered = self.directory.load();
        let same = |(table, old): (&SharedTable, &Arc<RouteTable>)| Arc::ptr_eq(&table.load(), old);
        if Arc::ptr_eq(&registered, &current.registered) && self.tables.iter().zip(&current.tables).all(same) {
            return current;
        }
        let renewed = Current::new(load(&self.tables), registered, &self.priorities, &self.public_address);
        let renewed = Arc::new(renewed);
        self.current.store(Arc::clone(&renewed));
        renewed
    }
}

fn load(tables: &[SharedTable]) -> Vec<Arc<RouteTable>> {
    tables.iter().map(SharedTable::load_full).collect()
}

impl Current {
    fn new(
        tables: Vec<Arc<RouteTable>>,
        registered: Arc<Groups>,
        priorities: &Priorities,
        public_address: &str,
    ) -> Self {
        let merged = merge(&tables, &registered, priorities);
        let (core, named): (Vec<&Merged<'_>>, Vec<_>) = merged.iter().partition(|group| group.name.is_empty());
        let core_versions = ApiVersions {
            versions: core.iter().flat_map(|group| group.version_names()).collect(),
            server_address_by_client_cidrs: vec![ServerAddressByClientCidr {
                client_cidr: "0.0.0.0/0".to_owned(),
                server_address: public_address.to_owned(),
            }],
        };
        let served = named.iter().map(|group| api_group(group.name, group.version_names()));
        let served: Vec<ApiGroup> = served.collect();
        let listed = registered.listed.as_ref().map(|listed| {
            let listed = listed.groups().iter().filter(|group| !group.name.is_empty());
            let groups = listed.map(|group| api_group(&group.name, group.versions.clone()));
            groups.collect::<Vec<ApiGroup>>()
        });
        let groups = PlainList::new(listed.as_ref().unwrap_or(&served));
        let group = served.iter().chain(listed.iter().flatten());
        let group = group.map(|group| (group.name.clone(), Arc::new(Document::new(group.clone()))));
        Self {
            core_versions: Document::new(core_versions),
            groups: Document::new(groups),
            group: group.collect(),
            all_of_core: Tagged::new(core.iter().map(|group| group.in_full()).collect()),
            all_of_groups: Tagged::new(named.iter().map(|group| group.in_full()).collect()),
            registered,
            tables,
        }
    }
}

impl Merged<'_> {
    fn version_names(&self) -> Vec<String> {
        self.versions.iter().map(|version| version.name.to_owned()).collect()
    }

    fn in_full(&self) -> Group {
        let versions = self.versions.iter().map(|version| match &version.contents {
            Contents::Local(resources) => Version::local(version.name, resources),
            Contents::Remote(remote) => Version::remote(remote),
        });
        Group::new(self.name, versions.collect())
    }

    /// The highest group priority of its versions.
    fn priority(&self) -> i32 {
        let places = self.versions.iter().map(|version| version.priority.0);
        places.max().unwrap_or_default()
    }
}

/// All groups, best first. Outer servers hide inner ones.
fn merge<'t>(tables: &'t [Arc<RouteTable>], registered: &'t Groups, priorities: &Priorities) -> Vec<Merged<'t>> {
    let mut merged: HashMap<&str, Vec<MergedVersion<'t>>> = HashMap::new();
    for remote in &*registered.remote {
        let place = &remote.priority;
        merged.entry(&place.group).or_default().push(MergedVersion {
            name: &place.version,
            priority: (place.group_priority, place.version_priority),
            contents: Contents::Remote(remote),
        });
    }
    for table in tables {
        for (group, version, resources) in table.versions() {
            let versions = merged.entry(group).or_default();
            if versions.iter().any(|known| known.name == version) {
                continue;
            }
            let name = (group.to_owned(), version.to_owned());
            versions.push(MergedVersion {
                name: version,
                priority: priorities.get(&name).copied().unwrap_or(USUAL),
                contents: Contents::Local(resources),
            });
        }
    }
    let mut groups: Vec<Merged<'t>> = merged
        .into_iter()
        .map(|(name, versions)| Merged { name, versions })
        .collect();
    for group in &mut groups {
        sort_by(&mut group.versions, |left, right| {
            let by_place = right.priority.1.cmp(&left.priority.1);
            by_place.then_with(|| compare_versions(left.name, right.name))
        });
    }
    sort_by(&mut groups, |left, right| {
        (-left.priority(), left.name).cmp(&(-right.priority(), right.name))
    });
    groups
}

fn api_group(name: &str, versions: Vec<String>) -> ApiGroup {
    let versions: Vec<GroupVersionForDiscovery> = versions
        .into_iter()
        .map(|version| GroupVersionForDiscovery {
            group_version: format!("{name}/{version}"),
            version,
        })
        .collect();
    ApiGroup {
        name: name.to_owned(),
        preferred_version: versions.first().cloned().unwrap_or_default(),
        versions,
        ..ApiGroup::default()
    }
}

impl Tagged {
    fn new(items: Vec<Group>) -> Self {
        let document = Document::new(GroupList {
            items,
            ..GroupList::default()
        });
        let hash = digest(&SHA512, document.json());
        let hash: String = hash.as_ref().iter().map(|byte| format!("{byte:02X}")).collect();
        let tag = HeaderValue::try_from(format!("\"{hash}\"")).expect("hexadecimal digits can stand in a header");
        Self { document, tag }
    }

    /// The document, or 304 when the client's entity tag is exactly the current one.
    fn answer(&self, encoding: AggregatedEncoding, request: &Parts) -> Response {
        let known = request.headers.get(IF_NONE_MATCH) == Some(&self.tag);
        let mut response = if known {
            response::empty(StatusCode::NOT_MODIFIED)
        } else {
            encoding.answer(self.document.object(), self.document.json())
        };
        let headers = response.headers_mut();
        headers.insert(ETAG, self.tag.clone());
        headers.insert(VARY, HeaderValue::from_static("Accept"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
        response
    }
}

#[cfg(test)]
mod tests;

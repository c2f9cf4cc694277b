//! The groups of a whole chain.

use std::collections::HashMap;
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::response::Response;
use axum::routing::{any, get};
use http::header::{CACHE_CONTROL, ETAG, HeaderValue, IF_NONE_MATCH, VARY};
use http::request::Parts;
use http::{Request, StatusCode};
use planesmith_machinery::group_version::compare_versions;
use planesmith_machinery::meta::{ApiGroup, ApiVersions, GroupVersionForDiscovery, ServerAddressByClientCidr};
use planesmith_machinery::status::ApiError;
use sha2::{Digest, Sha512};

use super::Document;
use super::accept::Form;
use super::aggregated::{Group, GroupList};
use super::plain::PlainList;
use crate::chain::SharedTable;
use crate::failure;
use crate::routes::{RouteTable, ServedResource};

/// Place of a group that is not told where it stands.
const USUAL_PRIORITY: i32 = 1000;

/// What the chain as a whole says about its groups.
#[derive(Debug)]
pub(crate) struct Discovery {
    tables: Vec<SharedTable>,
    priorities: HashMap<String, i32>,
    public_address: String,
    current: ArcSwap<Current>,
}

/// The documents of one state of the tables.
#[derive(Debug)]
struct Current {
    /// The tables that they were made of.
    tables: Vec<Arc<RouteTable>>,
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

type Versions<'t> = Vec<(&'t str, Vec<&'t ServedResource>)>;

impl Discovery {
    /// Reads the tables of a chain, outermost first.
    pub(crate) fn new(tables: Vec<SharedTable>, priorities: &[(String, i32)], public_address: String) -> Self {
        let priorities = priorities.iter().cloned().collect();
        let current = ArcSwap::from_pointee(Current::new(load(&tables), &priorities, &public_address));
        Self {
            tables,
            priorities,
            public_address,
            current,
        }
    }

    /// The document at `/apis/GROUP`, if the path is of that form and the group is served.
    pub(crate) fn group(&self, path: &str) -> Option<Arc<Document>> {
        let name = path.strip_prefix("/apis/")?.trim_end_matches('/');
        self.current().group.get(name).cloned()
    }

    /// `/api` and `/apis`.
    pub(crate) fn router(self: Arc<Self>) -> Router {
        let core = get(core_versions).head(method_not_allowed).fallback(method_not_allowed);
        Router::new()
            .route("/api", core.clone())
            .route("/api/", core)
            .route("/apis", any(groups))
            .route("/apis/", any(groups))
            .with_state(self)
    }

    /// The paths of all documents.
    pub(crate) fn paths(&self) -> Vec<String> {
        let current = self.current();
        let mut paths = vec!["/apis".to_owned(), "/apis/".to_owned()];
        for (group, versions) in merge(&current.tables) {
            let start = if group.is_empty() {
                "/api".to_owned()
            } else {
                format!("/apis/{group}")
            };
            paths.extend(versions.iter().map(|(version, _)| format!("{start}/{version}")));
            paths.push(start);
        }
        paths
    }

    /// The documents for the tables as they are now.
    fn current(&self) -> Arc<Current> {
        let current = self.current.load_full();
        let same = |(table, old): (&SharedTable, &Arc<RouteTable>)| Arc::ptr_eq(&table.load(), old);
        if self.tables.iter().zip(&current.tables).all(same) {
            return current;
        }
        let renewed = Arc::new(Current::new(load(&self.tables), &self.priorities, &self.public_address));
        self.current.store(Arc::clone(&renewed));
        renewed
    }
}

fn load(tables: &[SharedTable]) -> Vec<Arc<RouteTable>> {
    tables.iter().map(SharedTable::load_full).collect()
}

impl Current {
    fn new(tables: Vec<Arc<RouteTable>>, priorities: &HashMap<String, i32>, public_address: &str) -> Self {
        let merged = merge(&tables);
        let mut names: Vec<&str> = merged.keys().copied().filter(|name| !name.is_empty()).collect();
        names.sort_by_key(|name| (-priorities.get(*name).unwrap_or(&USUAL_PRIORITY), *name));
        let core = merged.get("");
        let core_versions = ApiVersions {
            versions: core
                .into_iter()
                .flatten()
                .map(|(version, _)| (*version).to_owned())
                .collect(),
            server_address_by_client_cidrs: vec![ServerAddressByClientCidr {
                client_cidr: "0.0.0.0/0".to_owned(),
                server_address: public_address.to_owned(),
            }],
        };
        let groups: Vec<ApiGroup> = names.iter().map(|name| api_group(name, &merged[name])).collect();
        let all_of_groups = names.iter().map(|name| Group::new(name, &merged[name])).collect();
        let all_of_core = core.into_iter().map(|versions| Group::new("", versions)).collect();
        let group = groups
            .iter()
            .map(|group| (group.name.clone(), Arc::new(Document::new(group.clone()))))
            .collect();
        Self {
            core_versions: Document::new(core_versions),
            groups: Document::new(PlainList::new(&groups)),
            group,
            all_of_core: Tagged::new(all_of_core),
            all_of_groups: Tagged::new(all_of_groups),
            tables,
        }
    }
}

/// Versions by group, best first, each with its resources by name. Outer servers hide inner ones.
fn merge(tables: &[Arc<RouteTable>]) -> HashMap<&str, Versions<'_>> {
    let mut merged: HashMap<&str, Versions<'_>> = HashMap::new();
    for table in tables {
        for (group, version, resources) in table.versions() {
            let versions = merged.entry(group).or_default();
            if !versions.iter().any(|(known, _)| *known == version) {
                versions.push((version, resources));
            }
        }
    }
    for versions in merged.values_mut() {
        versions.sort_by(|(left, _), (right, _)| compare_versions(left, right));
    }
    merged
}

fn api_group(name: &str, versions: &Versions<'_>) -> ApiGroup {
    let versions: Vec<GroupVersionForDiscovery> = versions
        .iter()
        .map(|(version, _)| GroupVersionForDiscovery {
            group_version: format!("{name}/{version}"),
            version: (*version).to_owned(),
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
        let hash = Sha512::digest(document.json());
        let hash: String = hash.iter().map(|byte| format!("{byte:02X}")).collect();
        let tag = HeaderValue::try_from(format!("\"{hash}\"")).expect("hexadecimal digits can stand in a header");
        Self { document, tag }
    }

    /// The document, or 304 when the client has it: when its tag is this one to the letter.
    fn answer(&self, form: Form, request: &Parts) -> Response {
        let known = request.headers.get(IF_NONE_MATCH) == Some(&self.tag);
        let mut response = if known {
            let mut response = Response::default();
            *response.status_mut() = StatusCode::NOT_MODIFIED;
            response
        } else {
            form.answer(self.document.object(), self.document.json())
        };
        let headers = response.headers_mut();
        headers.insert(ETAG, self.tag.clone());
        headers.insert(VARY, HeaderValue::from_static("Accept"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("public"));
        response
    }
}

async fn core_versions(State(discovery): State<Arc<Discovery>>, request: Request<Body>) -> Response {
    let current = discovery.current();
    let (request, _) = request.into_parts();
    match Form::wanted(&request.headers) {
        Some(form) => current.all_of_core.answer(form, &request),
        None => current.core_versions.answer(&request),
    }
}

async fn groups(State(discovery): State<Arc<Discovery>>, request: Request<Body>) -> Response {
    let current = discovery.current();
    let (request, _) = request.into_parts();
    match Form::wanted(&request.headers) {
        Some(form) => current.all_of_groups.answer(form, &request),
        None => current.groups.answer(&request),
    }
}

async fn method_not_allowed(request: Request<Body>) -> Response {
    failure::respond(&request.into_parts().0, &ApiError::method_not_allowed())
}

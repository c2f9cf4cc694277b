//! The parameters of bindings.

use http::{Method, StatusCode};
use std::fmt::Write as _;

use planesmith_access::admission::Lister;
use planesmith_api_defs::admissionregistration::v1::{ParamKind, ParamRef};
use planesmith_control_plane::live_kinds::LiveKinds;
use planesmith_control_plane::loopback::{Loopback, LoopbackError};
use planesmith_machinery::conversion::try_convert;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json;
use planesmith_machinery::meta::LabelSelector;
use planesmith_machinery::object::Object;
use planesmith_machinery::resource::{ResourceFacts, Scope};
use planesmith_machinery::selector::LabelQuery;
use planesmith_server::discovery::ServedResource;
use serde_json::Value;

use crate::sources::Sources;

/// Finds parameters: those of declared kinds in the cache, others by a request to the server itself.
#[derive(Clone, Debug)]
pub(super) struct Params {
    kinds: LiveKinds,
    loopback: Loopback,
}

/// The kind of a policy's parameters, as this server has it.
#[derive(Debug)]
pub(super) enum KnownKind {
    /// A kind with a type.
    Declared(ResourceFacts),
    /// A kind that is defined at run time, or that another server serves.
    Served(Box<ServedResource>),
}

/// A parameter object; `None` if the policy is evaluated without one.
pub(super) type Param = Option<Value>;

impl Params {
    /// Returns a finder of objects of the served `kinds`.
    pub(super) fn new(kinds: &LiveKinds, loopback: &Loopback) -> Self {
        Self {
            kinds: kinds.clone(),
            loopback: loopback.clone(),
        }
    }

    /// Finds the kind of a policy's parameters; `None` for a policy without any.
    ///
    /// # Errors
    ///
    /// The server does not have the kind.
    pub(super) fn kind(&self, kind: Option<&ParamKind>, sources: &Sources) -> Result<Option<KnownKind>, String> {
        let Some(kind) = kind else { return Ok(None) };
        let version = GroupVersion::parse(&kind.api_version).unwrap_or_default();
        let unknown = || {
            let (GroupVersion { group, version }, kind) = (&version, &kind.kind);
            format!("failed to find resource referenced by paramKind: '{group}/{version}, Kind={kind}'")
        };
        if let Some(facts) = sources.scheme.kind(&version.group, &version.version, &kind.kind) {
            return Ok(Some(KnownKind::Declared(facts.clone())));
        }
        let served = self.kinds.find(&version.group, &version.version, &kind.kind);
        served
            .map(|served| Some(KnownKind::Served(Box::new(served))))
            .ok_or_else(unknown)
    }

    /// Returns the parameters of a binding, each of which the policy is evaluated with. `namespace` is that of the request.
    ///
    /// # Errors
    ///
    /// The reference does not suit the kind, or names no object although the binding requires one.
    pub(super) async fn collect(
        &self,
        kind: Option<&KnownKind>,
        reference: Option<&ParamRef>,
        namespace: &str,
        lister: &dyn Lister,
    ) -> Result<Vec<Param>, String> {
        let (Some(kind), Some(reference)) = (kind, reference) else {
            return Ok(vec![None]);
        };
        let namespace = match (kind.scope(), reference.namespace.as_str()) {
            (Scope::Cluster, "") => "",
            (Scope::Cluster, _) => {
                return Err("paramRef.namespace must not be provided for a cluster-scoped `paramKind`".to_owned());
            }
            (Scope::Namespaced, "") if namespace.is_empty() => {
                let why = "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources";
                return Err(why.to_owned());
            }
            (Scope::Namespaced, "") => namespace,
            (Scope::Namespaced, own) => own,
        };
        let found = match (reference.name.as_str(), &reference.selector) {
            ("", None) => return Err("one of name or selector must be provided".to_owned()),
            ("", Some(selector)) => self.select(kind, namespace, selector, lister).await?,
            (_, Some(_)) => return Err("paramRef.name and paramRef.selector are mutually exclusive".to_owned()),
            (name, None) => self.get(kind, namespace, name, lister).await?.into_iter().collect(),
        };
        if found.is_empty() && reference.parameter_not_found_action.as_deref() == Some("Deny") {
            return Err("no params found for policy binding with `Deny` parameterNotFoundAction".to_owned());
        }
        Ok(found.into_iter().map(Some).collect())
    }

    async fn get(
        &self,
        kind: &KnownKind,
        namespace: &str,
        name: &str,
        lister: &dyn Lister,
    ) -> Result<Option<Value>, String> {
        match kind {
            KnownKind::Declared(facts) => {
                let found = lister
                    .get(facts, namespace, name)
                    .map_err(|error| error.message().to_owned())?;
                found.map(|object| document(&*object, facts)).transpose()
            }
            KnownKind::Served(served) => {
                let path = format!("{}/{}", path(served, namespace), encode(name));
                match self.loopback.send(Method::GET, &path, None).await {
                    Ok(document) => Ok(Some(document)),
                    Err(error) if error.status() == Some(StatusCode::NOT_FOUND) => Ok(None),
                    Err(error) => Err(error.client_message()),
                }
            }
        }
    }

    async fn select(
        &self,
        kind: &KnownKind,
        namespace: &str,
        selector: &LabelSelector,
        lister: &dyn Lister,
    ) -> Result<Vec<Value>, String> {
        let query = LabelQuery::of_selector(selector).map_err(|error| error.to_string())?;
        let matches = |document: &Value| {
            let labels = document.pointer("/metadata/labels");
            query.matches(|name| labels.and_then(|labels| labels.get(name)).and_then(Value::as_str))
        };
        match kind {
            KnownKind::Declared(facts) => {
                let found = lister
                    .list(facts, namespace)
                    .map_err(|error| error.message().to_owned())?;
                let selected = found.iter().filter(|object| {
                    let labels = &object.meta().labels;
                    query.matches(|name| labels.get(name).map(String::as_str))
                });
                selected.map(|object| document(&**object, facts)).collect()
            }
            KnownKind::Served(served) => {
                let listed = self.loopback.send(Method::GET, &path(served, namespace), None).await;
                let mut list = listed.map_err(|error: LoopbackError| error.client_message())?;
                let Some(Value::Array(items)) = list.get_mut("items").map(Value::take) else {
                    return Ok(Vec::new());
                };
                Ok(items.into_iter().filter(matches).collect())
            }
        }
    }
}

impl KnownKind {
    fn scope(&self) -> Scope {
        match self {
            KnownKind::Declared(facts) => facts.scope,
            KnownKind::Served(served) => served.scope,
        }
    }
}

/// Returns an object as a document in the version of `facts`.
fn document(object: &dyn Object, facts: &ResourceFacts) -> Result<Value, String> {
    if object.resource() == facts {
        return Ok(json::to_value(object));
    }
    let converted = try_convert(object, facts).map_err(|error| error.message().to_owned())?;
    Ok(json::to_value(&*converted))
}

/// Returns the path of the objects of a kind in a namespace.
fn path(served: &ServedResource, namespace: &str) -> String {
    let version = &served.version;
    let root = match &*served.group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    };
    match namespace {
        "" => format!("{root}/{}", served.plural),
        namespace => format!("{root}/namespaces/{}/{}", encode(namespace), served.plural),
    }
}

/// Returns a name as a segment of a path.
fn encode(name: &str) -> String {
    let mut encoded = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => encoded.push(char::from(byte)),
            byte => {
                // Writing to a string cannot fail.
                let _ = write!(encoded, "%{byte:02X}");
            }
        }
    }
    encoded
}

//! The paths of a group version with their operations.

use std::collections::BTreeMap;

use planesmith_codegen_core::resource::{Subresource, SubresourceKind};

use super::definitions::{is_scale, served};
use super::names::{self, META};
use super::operation::{Action, Answer, Operation};
use super::parameter::{self, NAME, NAMESPACE, PRETTY, Parameter};
use crate::generate::model::{Group, Kind, Model, Version};

/// The operations of a path.
#[derive(Debug, Default)]
pub(super) struct PathItem {
    by_method: BTreeMap<&'static str, Operation>,
    /// The parameters of all operations.
    common: Vec<Parameter>,
}

impl PathItem {
    /// Returns the operations by method.
    pub(super) fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.by_method.values()
    }

    /// Returns the description of a parameter in this path; the name parameter mentions the kind.
    pub(super) fn doc_of(&self, parameter: &Parameter) -> String {
        let mut kinds = self.operations().filter_map(|operation| operation.kind.as_ref());
        match kinds.next() {
            Some((_, _, kind)) if *parameter == NAME => format!("name of the {kind}"),
            _ => parameter.doc.to_owned(),
        }
    }

    /// Returns the parameters common to all operations, by name.
    pub(super) fn shared_parameters(&self) -> Vec<Parameter> {
        let mut operations = self.by_method.values();
        let mut shared = self.common.clone();
        if let Some(first) = operations.next() {
            let of_all = |parameter: &&Parameter| operations.clone().all(|other| has(other, parameter));
            shared.extend(first.action.parameters().iter().filter(of_all));
        }
        shared.sort();
        shared
    }

    /// Returns the parameters of `operation` that are not common to all operations, by name.
    pub(super) fn own_parameters(&self, operation: &Operation) -> Vec<Parameter> {
        let own = |parameter: &&Parameter| !self.by_method.values().all(|other| has(other, parameter));
        let mut own: Vec<Parameter> = operation.action.parameters().iter().filter(own).copied().collect();
        own.sort();
        own
    }
}

fn has(operation: &Operation, parameter: &Parameter) -> bool {
    operation.action.parameters().contains(parameter)
}

/// Returns the paths of `version`.
pub(super) fn of(model: &Model, group: &Group, version: &Version) -> BTreeMap<String, PathItem> {
    let root = match group.name.as_str() {
        "" => format!("/api/{}", version.name),
        name => format!("/apis/{name}/{}", version.name),
    };
    let mut paths = Paths {
        model,
        group,
        version,
        root,
        items: BTreeMap::new(),
    };
    paths.add_discovery();
    for kind in served(version) {
        paths.add_kind(kind);
    }
    paths.items
}

struct Paths<'a> {
    model: &'a Model,
    group: &'a Group,
    version: &'a Version,
    root: String,
    items: BTreeMap<String, PathItem>,
}

/// The parts of an operation name: the verb, the part after the group version, and the suffix.
struct Name<'a>(&'a str, &'a str, &'a str);

impl Paths<'_> {
    fn add_discovery(&mut self) {
        let operation = Operation {
            action: Action::Discover,
            id: format!("get{}APIResources", names::operation_infix(self.group, self.version)),
            doc: "get available resources".to_owned(),
            subject: format!("{META}.APIResourceList"),
            answer: None,
            kind: None,
        };
        let item = PathItem {
            by_method: BTreeMap::from([("get", operation)]),
            common: Vec::new(),
        };
        self.items.insert(format!("{}/", self.root), item);
    }

    fn add_kind(&mut self, kind: &Kind) {
        let resource = &kind.resource;
        let (plural, scope) = match resource.namespaced {
            true => (format!("namespaces/{{namespace}}/{}", resource.plural), "Namespaced"),
            false => (resource.plural.clone(), ""),
        };
        if resource.behavior.read_only {
            self.add(kind, &plural, Action::List, Name("list", scope, ""));
            let object = format!("{plural}/{{name}}");
            self.add(kind, &object, Action::Get, Name("read", scope, ""));
            return;
        }
        self.add(kind, &plural, Action::Create, Name("create", scope, ""));
        if resource.behavior.create_only {
            return;
        }
        self.add(kind, &plural, Action::List, Name("list", scope, ""));
        if !resource.behavior.no_delete_collection {
            let collection = format!("Collection{scope}");
            self.add(kind, &plural, Action::DeleteCollection, Name("delete", &collection, ""));
        }
        let object = format!("{plural}/{{name}}");
        for (action, verb) in [
            (Action::Get, "read"),
            (Action::Replace, "replace"),
            (Action::Patch, "patch"),
            (Action::Delete, "delete"),
        ] {
            self.add(kind, &object, action, Name(verb, scope, ""));
        }
        self.add(
            kind,
            &format!("watch/{plural}"),
            Action::WatchList,
            Name("watch", scope, "List"),
        );
        self.add(
            kind,
            &format!("watch/{object}"),
            Action::Watch,
            Name("watch", scope, ""),
        );
        if resource.namespaced {
            let everywhere = "ForAllNamespaces";
            self.add(kind, &resource.plural, Action::List, Name("list", "", everywhere));
            let watched = format!("watch/{}", resource.plural);
            self.add(
                kind,
                &watched,
                Action::WatchList,
                Name("watch", "", "ListForAllNamespaces"),
            );
        }
        for subresource in &resource.subresources {
            let path = format!("{object}/{}", subresource.name);
            let ending = names::capitalized(&subresource.name);
            if let Some(options) = connection(kind, subresource) {
                self.add_connection(kind, &path, subresource, options);
                continue;
            }
            for action in actions(subresource) {
                let verb = match action {
                    Action::Get => "read",
                    Action::Create => "create",
                    Action::Patch => "patch",
                    _ => "replace",
                };
                self.add_below(kind, &path, action, Name(verb, scope, &ending), Some(subresource));
            }
        }
    }

    fn add(&mut self, kind: &Kind, path: &str, action: Action, name: Name<'_>) {
        self.add_below(kind, path, action, name, None);
    }

    fn add_below(
        &mut self,
        kind: &Kind,
        path: &str,
        action: Action,
        Name(verb, scope, ending): Name<'_>,
        below: Option<&Subresource>,
    ) {
        let infix = names::operation_infix(self.group, self.version);
        let id = format!("{verb}{infix}{scope}{}{ending}", kind.resource.kind);
        let operation = self.operation(kind, action, id, below);
        let path = format!("{}/{path}", self.root);
        let mut common = vec![PRETTY];
        for (place, parameter) in [("{name}", NAME), ("{namespace}", NAMESPACE)] {
            if path.contains(place) {
                common.push(parameter);
            }
        }
        if matches!(operation.answer, Some(Answer::Text)) {
            common.extend(parameter::LOG);
        }
        let item = self.items.entry(path).or_default();
        item.common = common;
        item.by_method.insert(action.method(), operation);
    }

    /// Adds a connection subresource; proxies also have a path parameter for the target.
    fn add_connection(&mut self, kind: &Kind, path: &str, below: &Subresource, options: &str) {
        let proxies = below.name == "proxy";
        let methods: &[&str] = match proxies {
            true => &["delete", "get", "head", "options", "patch", "post", "put"],
            false => &["get", "post"],
        };
        let infix = names::operation_infix(self.group, self.version);
        let scope = if kind.resource.namespaced { "Namespaced" } else { "" };
        let about = format!("{}{}", kind.resource.kind, names::capitalized(&below.name));
        let endings: &[(&str, &str)] = if proxies {
            &[("", ""), ("/{path}", "WithPath")]
        } else {
            &[("", "")]
        };
        for (further, ending) in endings {
            let path = format!("{}/{path}{further}", self.root);
            let item = self.items.entry(path.clone()).or_default();
            item.common = [NAME, NAMESPACE]
                .iter()
                .chain(parameters(options))
                .filter(|parameter| parameter.place == "query" || path.contains(&format!("{{{}}}", parameter.name)))
                .copied()
                .collect();
            for method in methods.iter().copied() {
                let operation = Operation {
                    action: Action::Connect(method),
                    id: format!("connect{infix}{}{scope}{about}{ending}", names::capitalized(method)),
                    doc: describe(Action::Connect(method), &kind.resource.kind, Some(below)),
                    subject: String::new(),
                    answer: Some(Answer::Anything),
                    kind: Some((self.group.name.clone(), self.version.name.clone(), options.to_owned())),
                };
                item.by_method.insert(method, operation);
            }
        }
    }

    fn operation(&self, kind: &Kind, action: Action, id: String, below: Option<&Subresource>) -> Operation {
        let resource = &kind.resource;
        let structure = self.model.structure(&kind.path);
        let mut subject = names::definition(self.model, &kind.path, &structure.name);
        let mut group_version_kind = (
            self.group.name.clone(),
            self.version.name.clone(),
            resource.kind.clone(),
        );
        if let Some(scale) = self.scale_of(below) {
            subject = scale;
            group_version_kind = ("autoscaling".to_owned(), "v1".to_owned(), "Scale".to_owned());
        }
        if let Some((group, version, posted)) = below.and_then(|below| self.posted(kind, below)) {
            let structure = self.model.structure(&posted.path);
            subject = names::definition(self.model, &posted.path, &structure.name);
            group_version_kind = (group.name.clone(), version.name.clone(), posted.resource.kind.clone());
        }
        // Deleting a namespace returns the namespace only while it is terminating.
        let lingers = resource
            .subresources
            .iter()
            .any(|subresource| subresource.name == "finalize");
        let answer = match action {
            Action::List => Some(Answer::Object(names::definition(
                self.model,
                &kind.path,
                &resource.list_kind,
            ))),
            Action::Watch | Action::WatchList => Some(Answer::Object(format!("{META}.WatchEvent"))),
            Action::DeleteCollection => Some(Answer::Object(format!("{META}.Status"))),
            Action::Delete if !resource.behavior.returns_deleted || lingers => {
                Some(Answer::Object(format!("{META}.Status")))
            }
            Action::Get if below.is_some_and(|below| below.name == "log") => Some(Answer::Text),
            _ => None,
        };
        let doc = describe(action, &resource.kind, below);
        Operation {
            action,
            id,
            doc,
            subject,
            answer,
            kind: Some(group_version_kind),
        }
    }

    /// Returns the kind of the subresource's body if it differs from the kind itself.
    fn posted(&self, kind: &Kind, below: &Subresource) -> Option<(&Group, &Version, &Kind)> {
        let (group, version, name) = crate::generate::discovery::posted(kind, below);
        let (group, version) = match version {
            "" => (self.group.name.as_str(), self.version.name.as_str()),
            version => (group, version),
        };
        let mut kinds = self.model.kinds();
        kinds.find(|(of_group, of_version, other)| {
            name != kind.resource.kind
                && of_group.name == group
                && of_version.name == version
                && other.resource.kind == name
        })
    }

    /// Returns the definition of Scale if the subresource is a scale.
    fn scale_of(&self, below: Option<&Subresource>) -> Option<String> {
        if !matches!(below?.kind, SubresourceKind::Scale(_)) {
            return None;
        }
        let scale = self.model.structures().find(|definition| is_scale(definition))?;
        Some(names::definition(self.model, &scale.path, &scale.name))
    }
}

/// Returns the kind of the options if the subresource is a connection.
fn connection<'k>(kind: &'k Kind, below: &Subresource) -> Option<&'k str> {
    let (_, _, options) = crate::generate::discovery::posted(kind, below);
    options.ends_with("Options").then_some(options)
}

/// Returns the parameters of connections with `options`.
fn parameters(options: &str) -> &'static [Parameter] {
    match options {
        "PodAttachOptions" => parameter::ATTACH,
        "PodExecOptions" => parameter::EXEC,
        "PodPortForwardOptions" => parameter::PORT_FORWARD,
        "PodProxyOptions" => parameter::POD_PROXY,
        "NodeProxyOptions" => parameter::NODE_PROXY,
        "ServiceProxyOptions" => parameter::SERVICE_PROXY,
        _ => &[],
    }
}

/// Returns the operations of a subresource.
fn actions(subresource: &Subresource) -> Vec<Action> {
    let verbs = crate::generate::discovery::subresource_verbs(subresource);
    let action = |verb: &&str| match *verb {
        "get" => Some(Action::Get),
        "create" => Some(Action::Create),
        "update" => Some(Action::Replace),
        "patch" => Some(Action::Patch),
        _ => None,
    };
    verbs.iter().filter_map(action).collect()
}

/// Returns the description of an operation, in the form common to built-in and custom kinds.
fn describe(action: Action, kind: &str, below: Option<&Subresource>) -> String {
    let part = below.map_or(String::new(), |below| format!("{} of ", below.name));
    let article = match kind.starts_with(['A', 'E', 'I', 'O', 'U']) {
        true => "an",
        false => "a",
    };
    match action {
        Action::Discover => String::new(),
        Action::Get => format!("read {part}the specified {kind}"),
        Action::List => format!("list or watch objects of kind {kind}"),
        Action::Watch => format!(
            "watch changes to an object of kind {kind}. deprecated: use the 'watch' parameter with a list operation \
             instead, filtered to a single item with the 'fieldSelector' parameter."
        ),
        Action::WatchList => format!(
            "watch individual changes to a list of {kind}. deprecated: use the 'watch' parameter with a list operation \
             instead."
        ),
        Action::Create => format!("create {part}{article} {kind}"),
        Action::Replace => format!("replace {part}the specified {kind}"),
        Action::Patch => format!("partially update {part}the specified {kind}"),
        Action::Delete => format!("delete {article} {kind}"),
        Action::DeleteCollection => format!("delete collection of {kind}"),
        Action::Connect(method) => format!("connect {} requests to {part}{kind}", method.to_uppercase()),
    }
}

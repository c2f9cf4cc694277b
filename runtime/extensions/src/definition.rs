//! A typed view of a custom resource definition in JSON form.

use planesmith_machinery::resource::Scope;
use planesmith_store::Revision;
use serde_json::Value;

/// The reason of a definition that is not established because of its conversion webhook.
pub(crate) const INVALID_AUTHORITIES: &str = "InvalidCABundle";

/// A definition, `apiextensions.k8s.io/v1`. Absent fields read as empty: definitions are validated when they are written.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'d>(&'d Value);

/// One version of a definition.
#[derive(Clone, Copy, Debug)]
pub struct Version<'d>(&'d Value);

/// A printer column of a version.
#[derive(Clone, Copy, Debug)]
pub struct PrintedColumn<'d>(&'d Value);

/// The paths of the scale subresource in an object, without the leading dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalePaths<'d> {
    /// The desired replicas.
    pub spec: &'d str,
    /// The observed replicas.
    pub status: &'d str,
    /// The serialized selector; empty for none.
    pub selector: &'d str,
}

impl<'d> Definition<'d> {
    /// Creates a view of `document`.
    #[must_use]
    pub fn new(document: &'d Value) -> Self {
        Self(document)
    }

    /// The revision of the last write; `None` if the document does not tell.
    #[must_use]
    pub fn revision(self) -> Option<Revision> {
        str_at(self.0, "/metadata/resourceVersion").parse().ok().map(Revision)
    }

    /// Returns the name, e.g. `widgets.example.com`.
    #[must_use]
    pub fn name(self) -> &'d str {
        str_at(self.0, "/metadata/name")
    }

    /// Returns the API group.
    #[must_use]
    pub fn group(self) -> &'d str {
        str_at(self.0, "/spec/group")
    }

    /// Returns the requested name `name` of the resource: `plural`, `singular`, `kind` or `listKind`.
    #[must_use]
    pub fn wanted(self, name: &str) -> &'d str {
        str_at(self.0, &format!("/spec/names/{name}"))
    }

    /// Returns the accepted name `name` of the resource; see [`Definition::wanted`].
    #[must_use]
    pub fn accepted(self, name: &str) -> &'d str {
        str_at(self.0, &format!("/status/acceptedNames/{name}"))
    }

    /// Returns the accepted `shortNames` or `categories`.
    #[must_use]
    pub fn accepted_list(self, name: &str) -> Vec<&'d str> {
        texts(self.0, &format!("/status/acceptedNames/{name}"))
    }

    /// Returns the requested `shortNames` or `categories`.
    #[must_use]
    pub fn wanted_list(self, name: &str) -> Vec<&'d str> {
        texts(self.0, &format!("/spec/names/{name}"))
    }

    /// True if all requested names are the accepted ones.
    #[must_use]
    pub fn has_wanted_names(self) -> bool {
        let names = ["plural", "singular", "kind", "listKind"];
        let lists = ["shortNames", "categories"];
        let mut names = names.into_iter().map(|name| self.wanted(name) == self.accepted(name));
        let mut lists = lists
            .into_iter()
            .map(|name| self.wanted_list(name) == self.accepted_list(name));
        names.all(|is_same| is_same) && lists.all(|is_same| is_same)
    }

    /// Returns the scope of the objects.
    #[must_use]
    pub fn scope(self) -> Scope {
        match str_at(self.0, "/spec/scope") {
            "Cluster" => Scope::Cluster,
            _ => Scope::Namespaced,
        }
    }

    /// Returns the versions, in their order.
    pub fn versions(self) -> impl Iterator<Item = Version<'d>> {
        list(self.0, "/spec/versions").iter().map(Version)
    }

    /// Returns the whole spec.
    #[must_use]
    pub fn spec(self) -> &'d Value {
        self.0.get("spec").unwrap_or(&Value::Null)
    }

    /// True if the condition `name` has status `True`.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        self.condition(name) == Some("True")
    }

    /// Returns the status of the condition `name`; `None` if it was never set.
    #[must_use]
    pub fn condition(self, name: &str) -> Option<&'d str> {
        self.whole_condition(name).map(|condition| str_at(condition, "/status"))
    }

    fn whole_condition(self, name: &str) -> Option<&'d Value> {
        let mut conditions = list(self.0, "/status/conditions").iter();
        conditions.find(|condition| str_at(condition, "/type") == name)
    }

    /// True if it is not established because the CA bundle of its conversion webhook cannot be read.
    #[must_use]
    pub fn has_unreadable_authorities(self) -> bool {
        let established = self.whole_condition("Established");
        established.is_some_and(|condition| str_at(condition, "/reason") == INVALID_AUTHORITIES)
    }

    /// True if the definition is being deleted.
    #[must_use]
    pub fn is_terminating(self) -> bool {
        self.0.pointer("/metadata/deletionTimestamp").is_some()
    }
}

impl<'d> Version<'d> {
    /// Returns the name, e.g. `v1`.
    #[must_use]
    pub fn name(self) -> &'d str {
        str_at(self.0, "/name")
    }

    /// True if the version is served.
    #[must_use]
    pub fn is_served(self) -> bool {
        flag(self.0, "/served")
    }

    /// True if this is the storage version.
    #[must_use]
    pub fn is_stored(self) -> bool {
        flag(self.0, "/storage")
    }

    /// Returns the deprecation warning if the version is deprecated: `Some("")` for the default warning.
    #[must_use]
    pub fn deprecation(self) -> Option<&'d str> {
        flag(self.0, "/deprecated").then(|| str_at(self.0, "/deprecationWarning"))
    }

    /// Returns the schema of objects.
    #[must_use]
    pub fn schema(self) -> &'d Value {
        self.0.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null)
    }

    /// True if objects have a status subresource.
    #[must_use]
    pub fn has_status(self) -> bool {
        self.0.pointer("/subresources/status").is_some_and(Value::is_object)
    }

    /// Returns the paths of the scale subresource; `None` without one.
    #[must_use]
    pub fn scale(self) -> Option<ScalePaths<'d>> {
        let scale = self
            .0
            .pointer("/subresources/scale")
            .filter(|scale| scale.is_object())?;
        let path = |name: &str| str_at(scale, name).trim_start_matches('.');
        Some(ScalePaths {
            spec: path("/specReplicasPath"),
            status: path("/statusReplicasPath"),
            selector: path("/labelSelectorPath"),
        })
    }

    /// Returns the paths available to field selectors, without the leading dot.
    pub fn selectable(self) -> impl Iterator<Item = &'d str> {
        let fields = list(self.0, "/selectableFields").iter();
        fields.map(|field| str_at(field, "/jsonPath").trim_start_matches('.'))
    }

    /// Returns the printer columns after the name; empty for the default columns.
    pub fn columns(self) -> impl Iterator<Item = PrintedColumn<'d>> {
        list(self.0, "/additionalPrinterColumns").iter().map(PrintedColumn)
    }
}

impl<'d> PrintedColumn<'d> {
    /// Returns the heading.
    #[must_use]
    pub fn name(self) -> &'d str {
        str_at(self.0, "/name")
    }

    /// Returns the OpenAPI type, or `date`.
    #[must_use]
    pub fn ty(self) -> &'d str {
        str_at(self.0, "/type")
    }

    /// Returns the OpenAPI format; may be empty.
    #[must_use]
    pub fn format(self) -> &'d str {
        str_at(self.0, "/format")
    }

    /// Returns the description; may be empty.
    #[must_use]
    pub fn description(self) -> &'d str {
        str_at(self.0, "/description")
    }

    /// Returns the priority: columns with 0 are always printed, others only in wide output.
    #[must_use]
    pub fn priority(self) -> i32 {
        let priority = self.0.get("priority").and_then(Value::as_i64);
        priority
            .and_then(|priority| i32::try_from(priority).ok())
            .unwrap_or_default()
    }

    /// Returns the JSONPath of the cells, e.g. `.spec.replicas`.
    #[must_use]
    pub fn path(self) -> &'d str {
        str_at(self.0, "/jsonPath")
    }
}

fn str_at<'d>(document: &'d Value, pointer: &str) -> &'d str {
    document.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn flag(document: &Value, pointer: &str) -> bool {
    document.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

fn list<'d>(document: &'d Value, pointer: &str) -> &'d [Value] {
    document
        .pointer(pointer)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn texts<'d>(document: &'d Value, pointer: &str) -> Vec<&'d str> {
    list(document, pointer).iter().filter_map(Value::as_str).collect()
}

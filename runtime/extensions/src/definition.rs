//! A custom resource definition as its JSON says it.

use planesmith_machinery::resource::Scope;
use serde_json::Value;

/// A definition, `apiextensions.k8s.io/v1`. What is missing reads as empty: definitions were checked when they were
/// written.
#[derive(Clone, Copy, Debug)]
pub struct Definition<'d>(&'d Value);

/// One version of a definition.
#[derive(Clone, Copy, Debug)]
pub struct Version<'d>(&'d Value);

/// A column that a version prints.
#[derive(Clone, Copy, Debug)]
pub struct PrintedColumn<'d>(&'d Value);

/// Where the scale of a version finds its numbers; paths without the leading dot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalePaths<'d> {
    /// Wanted replicas.
    pub spec: &'d str,
    /// Observed replicas.
    pub status: &'d str,
    /// The selector as text; empty for none.
    pub selector: &'d str,
}

impl<'d> Definition<'d> {
    /// The definition in `document`.
    #[must_use]
    pub fn new(document: &'d Value) -> Self {
        Self(document)
    }

    /// E.g. `widgets.example.com`.
    #[must_use]
    pub fn name(self) -> &'d str {
        text(self.0, "/metadata/name")
    }

    /// The API group.
    #[must_use]
    pub fn group(self) -> &'d str {
        text(self.0, "/spec/group")
    }

    /// The wanted name `name` of the resource: `plural`, `singular`, `kind` or `listKind`.
    #[must_use]
    pub fn wanted(self, name: &str) -> &'d str {
        text(self.0, &format!("/spec/names/{name}"))
    }

    /// The accepted name `name` of the resource; see [`Definition::wanted`].
    #[must_use]
    pub fn accepted(self, name: &str) -> &'d str {
        text(self.0, &format!("/status/acceptedNames/{name}"))
    }

    /// The accepted `shortNames` or `categories`.
    #[must_use]
    pub fn accepted_list(self, name: &str) -> Vec<&'d str> {
        texts(self.0, &format!("/status/acceptedNames/{name}"))
    }

    /// Whether objects live in namespaces.
    #[must_use]
    pub fn scope(self) -> Scope {
        match text(self.0, "/spec/scope") {
            "Cluster" => Scope::Cluster,
            _ => Scope::Namespaced,
        }
    }

    /// The versions, in their order.
    pub fn versions(self) -> impl Iterator<Item = Version<'d>> {
        list(self.0, "/spec/versions").iter().map(Version)
    }

    /// All that objects depend on.
    #[must_use]
    pub fn spec(self) -> &'d Value {
        self.0.get("spec").unwrap_or(&Value::Null)
    }

    /// Whether the condition `name` holds.
    #[must_use]
    pub fn is(self, name: &str) -> bool {
        let mut conditions = list(self.0, "/status/conditions").iter();
        conditions.any(|condition| text(condition, "/type") == name && text(condition, "/status") == "True")
    }

    /// Whether the definition is on its way out.
    #[must_use]
    pub fn is_leaving(self) -> bool {
        self.0.pointer("/metadata/deletionTimestamp").is_some()
    }
}

impl<'d> Version<'d> {
    /// E.g. `v1`.
    #[must_use]
    pub fn name(self) -> &'d str {
        text(self.0, "/name")
    }

    /// Whether clients reach it.
    #[must_use]
    pub fn is_served(self) -> bool {
        flag(self.0, "/served")
    }

    /// Whether objects are stored in it.
    #[must_use]
    pub fn is_stored(self) -> bool {
        flag(self.0, "/storage")
    }

    /// The warning with each answer, when the version is deprecated: `Some("")` for the usual one.
    #[must_use]
    pub fn deprecation(self) -> Option<&'d str> {
        flag(self.0, "/deprecated").then(|| text(self.0, "/deprecationWarning"))
    }

    /// The schema of objects.
    #[must_use]
    pub fn schema(self) -> &'d Value {
        self.0.pointer("/schema/openAPIV3Schema").unwrap_or(&Value::Null)
    }

    /// Whether objects have a status of their own path.
    #[must_use]
    pub fn has_status(self) -> bool {
        self.0.pointer("/subresources/status").is_some_and(Value::is_object)
    }

    /// Where the scale finds its numbers; `None` without a scale.
    #[must_use]
    pub fn scale(self) -> Option<ScalePaths<'d>> {
        let scale = self
            .0
            .pointer("/subresources/scale")
            .filter(|scale| scale.is_object())?;
        let path = |name: &str| text(scale, name).trim_start_matches('.');
        Some(ScalePaths {
            spec: path("/specReplicasPath"),
            status: path("/statusReplicasPath"),
            selector: path("/labelSelectorPath"),
        })
    }

    /// Paths that field selectors may name, without the leading dot.
    pub fn selectable(self) -> impl Iterator<Item = &'d str> {
        let fields = list(self.0, "/selectableFields").iter();
        fields.map(|field| text(field, "/jsonPath").trim_start_matches('.'))
    }

    /// The columns that are printed behind the name; none for the usual ones.
    pub fn columns(self) -> impl Iterator<Item = PrintedColumn<'d>> {
        list(self.0, "/additionalPrinterColumns").iter().map(PrintedColumn)
    }
}

impl<'d> PrintedColumn<'d> {
    /// Heading.
    #[must_use]
    pub fn name(self) -> &'d str {
        text(self.0, "/name")
    }

    /// OpenAPI type, or `date`.
    #[must_use]
    pub fn ty(self) -> &'d str {
        text(self.0, "/type")
    }

    /// OpenAPI format; may be empty.
    #[must_use]
    pub fn format(self) -> &'d str {
        text(self.0, "/format")
    }

    /// Description; may be empty.
    #[must_use]
    pub fn description(self) -> &'d str {
        text(self.0, "/description")
    }

    /// 0 is always shown, more only in wide output.
    #[must_use]
    pub fn priority(self) -> i32 {
        let priority = self.0.get("priority").and_then(Value::as_i64);
        priority
            .and_then(|priority| i32::try_from(priority).ok())
            .unwrap_or_default()
    }

    /// Where cells come from, e.g. `.spec.replicas`.
    #[must_use]
    pub fn path(self) -> &'d str {
        text(self.0, "/jsonPath")
    }
}

fn text<'d>(document: &'d Value, pointer: &str) -> &'d str {
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

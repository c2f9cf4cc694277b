//! Paths outside of group versions: lists of versions and groups, single groups, the server version, and the OpenID discovery
//! documents.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::layout::{self, Section};
use super::names::{self, META};
use super::operation::meaning;
use super::schema::{Dialect, Schemas};
use crate::generate::model::{Definition, Group, Model, Type};

/// The definition of the response of `/version`.
const INFO: &str = "io.k8s.apimachinery.pkg.version.Info";

/// The fields of `/version`: names, required or not, and descriptions.
const INFO_FIELDS: &[(&str, bool, &str)] = &[
    (
        "major",
        true,
        "Major number of the Kubernetes version whose API is served.",
    ),
    (
        "minor",
        true,
        "Minor number of the Kubernetes version whose API is served.",
    ),
    ("emulationMajor", false, "Major number of the emulated version."),
    ("emulationMinor", false, "Minor number of the emulated version."),
    (
        "minCompatibilityMajor",
        false,
        "Major number of the oldest version that can read the stored data.",
    ),
    (
        "minCompatibilityMinor",
        false,
        "Minor number of the oldest version that can read the stored data.",
    ),
    ("gitVersion", true, "Full version of the build."),
    ("gitCommit", true, "Commit of the build."),
    (
        "gitTreeState",
        true,
        "State of the source tree at build time: clean, or dirty with uncommitted changes.",
    ),
    ("buildDate", true, "Time of the build."),
    ("goVersion", true, "Version of the toolchain of the build."),
    ("compiler", true, "Compiler of the build."),
    ("platform", true, "Operating system and architecture of the build."),
];

/// A path with a single operation.
pub(super) struct Entrance {
    /// The document's path below `/openapi/v3/`.
    pub(super) path: String,
    tag: String,
    operation: String,
    doc: String,
    answer: Answer,
}

/// The response of an operation.
enum Answer {
    /// A metadata type.
    Metadata(&'static str),
    /// The version of the server.
    Version,
    /// Text with a media type.
    Text(&'static str),
}

impl Entrance {
    /// Returns the paths of all servers.
    pub(super) fn of_servers() -> Vec<Self> {
        let entrance = |path: &str, tag: &str, operation: &str, doc: &str, answer| Self {
            path: path.to_owned(),
            tag: tag.to_owned(),
            operation: operation.to_owned(),
            doc: doc.to_owned(),
            answer,
        };
        vec![
            entrance(
                ".well-known/openid-configuration",
                "WellKnown",
                "getServiceAccountIssuerOpenIDConfiguration",
                "Returns the issuer of service account tokens and the location of its keys.",
                Answer::Text("application/json"),
            ),
            entrance(
                "api",
                "core",
                "getCoreAPIVersions",
                "get available API versions",
                Answer::Metadata("APIVersions"),
            ),
            entrance(
                "apis",
                "apis",
                "getAPIVersions",
                "get available API versions",
                Answer::Metadata("APIGroupList"),
            ),
            entrance(
                "openid/v1/jwks",
                "openid",
                "getServiceAccountIssuerOpenIDKeyset",
                "Returns the public keys that verify service account tokens.",
                Answer::Text("application/jwk-set+json"),
            ),
            entrance(
                "version",
                "version",
                "getCodeVersion",
                "get the version of the code that is running",
                Answer::Version,
            ),
        ]
    }

    /// Returns the path that lists the versions of a named group.
    pub(super) fn of_group(group: &Group) -> Self {
        Self {
            path: format!("apis/{}", group.name),
            tag: names::group_tag(group),
            operation: format!("get{}APIGroup", names::group_infix(group)),
            doc: "get information of a group".to_owned(),
            answer: Answer::Metadata("APIGroup"),
        }
    }

    /// Returns the version 3 document as JSON.
    pub(super) fn v3(&self, model: &Model) -> String {
        let mut content = Map::new();
        for media in self.answer.media_types() {
            content.insert((*media).to_owned(), json!({"schema": self.answer.schema(Dialect::V3)}));
        }
        let operation = json!({"get": {
            "tags": [self.tag],
            "description": self.doc,
            "operationId": self.operation,
            "responses": {
                "200": {"description": meaning("200"), "content": content},
                "401": {"description": meaning("401")},
            },
        }});
        let mut components = Vec::new();
        let schemas = self.answer.definitions(model, Dialect::V3);
        if !schemas.is_empty() {
            components.push(("schemas", Section::lines(schemas)));
        }
        components.push((
            "securitySchemes",
            Section::Value(json!({"BearerToken": layout::bearer_token()})),
        ));
        layout::document(&[
            ("openapi", Section::Value("3.0.0".into())),
            ("info", Section::Value(layout::info())),
            ("paths", Section::lines([(self.url(), operation)])),
            ("components", Section::Nested(components)),
        ])
    }

    /// Returns the part of the version 2 document as JSON.
    pub(super) fn v2(&self, model: &Model) -> String {
        let mut get = json!({
            "tags": [self.tag],
            "description": self.doc,
            "operationId": self.operation,
            "produces": self.answer.media_types(),
            "schemes": ["https"],
            "responses": {
                "200": {"description": meaning("200"), "schema": self.answer.schema(Dialect::V2)},
                "401": {"description": meaning("401")},
            },
        });
        if !matches!(self.answer, Answer::Text(_)) {
            get["consumes"] = self.answer.media_types().into();
        }
        layout::document(&[
            ("swagger", Section::Value("2.0".into())),
            ("info", Section::Value(layout::info())),
            ("paths", Section::lines([(self.url(), json!({"get": get}))])),
            (
                "definitions",
                Section::lines(self.answer.definitions(model, Dialect::V2)),
            ),
            (
                "securityDefinitions",
                Section::Value(json!({"BearerToken": layout::bearer_token()})),
            ),
            ("security", Section::Value(json!([{"BearerToken": []}]))),
        ])
    }

    fn url(&self) -> String {
        format!("/{}/", self.path)
    }
}

impl Answer {
    fn media_types(&self) -> Vec<&'static str> {
        match self {
            Self::Metadata(_) => vec![
                "application/json",
                "application/yaml",
                "application/vnd.kubernetes.protobuf",
            ],
            Self::Version => vec!["application/json"],
            Self::Text(media) => vec![media],
        }
    }

    fn schema(&self, dialect: Dialect) -> Value {
        match self {
            Self::Metadata(name) => dialect.reference(&format!("{META}.{name}")),
            Self::Version => dialect.reference(INFO),
            Self::Text(_) => json!({"type": "string"}),
        }
    }

    fn definitions(&self, model: &Model, dialect: Dialect) -> BTreeMap<String, Value> {
        match self {
            Self::Metadata(name) => metadata(model, name, dialect),
            Self::Version => BTreeMap::from([(INFO.to_owned(), info(dialect))]),
            Self::Text(_) => BTreeMap::new(),
        }
    }
}

/// Returns the definition of a metadata type and of its parts.
fn metadata(model: &Model, name: &str, dialect: Dialect) -> BTreeMap<String, Value> {
    let schemas = Schemas { model, dialect };
    let mut found = BTreeMap::new();
    let mut wanted: Vec<&Definition> = model
        .structures()
        .filter(|definition| definition.name == name && definition.path.crate_name() == "planesmith_machinery")
        .collect();
    while let Some(definition) = wanted.pop() {
        let full = names::definition(model, &definition.path, &definition.name);
        let mut schema = schemas.structure(definition, false);
        if definition.type_meta.is_some() {
            schema["x-kubernetes-group-version-kind"] =
                json!([{"group": "", "version": "v1", "kind": definition.name}]);
        }
        if found.insert(full, schema).is_none() {
            wanted.extend(
                model
                    .json_fields(definition)
                    .iter()
                    .filter_map(|field| part(model, &field.ty)),
            );
        }
    }
    found
}

fn part<'m>(model: &'m Model, ty: &Type) -> Option<&'m Definition> {
    match ty {
        Type::Struct(path) => Some(model.structure(path)),
        Type::List(inner) | Type::Map(inner) | Type::Optional(inner) => part(model, inner),
        _ => None,
    }
}

fn info(dialect: Dialect) -> Value {
    let mut properties = Map::new();
    for (name, always, doc) in INFO_FIELDS {
        let mut property = json!({"description": doc, "type": "string"});
        if *always && dialect == Dialect::V3 {
            property["default"] = "".into();
        }
        properties.insert((*name).to_owned(), property);
    }
    let required: Vec<&str> = INFO_FIELDS
        .iter()
        .filter(|field| field.1)
        .map(|field| field.0)
        .collect();
    json!({
        "description": "Version information of the server.",
        "type": "object",
        "properties": properties,
        "required": required,
    })
}

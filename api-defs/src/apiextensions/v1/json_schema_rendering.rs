//! Schemas as error messages of kube-apiserver print them: with the names and the order of its internal type, nothing
//! left out.

use planesmith_machinery::field_error::BadValue;
use planesmith_machinery::go_value::GoValue;
use planesmith_machinery::json::to_value;
use planesmith_machinery::schema_or::{SchemaOrArray, SchemaOrBool, SchemaOrStrings};
use serde_json::Value;
use std::collections::BTreeMap;

use super::{CustomResourceDefinitionVersion, CustomResourceValidation, JSONSchemaProps};

/// Renders the whole schema.
pub(super) fn rendered(schema: &JSONSchemaProps) -> String {
    let rest = to_value(schema);
    let text = |value: &str| Value::from(value).to_string();
    let plain = |name: &str| rest.get(name).unwrap_or(&Value::Null).to_string();
    let flag = |value: bool| value.to_string();
    let docs = schema.external_docs.as_ref();
    let fields = [
        ("ID", text(&schema.id)),
        ("Schema", text(&schema.schema_)),
        ("Ref", plain("$ref")),
        ("Description", text(&schema.description)),
        ("Type", text(&schema.type_)),
        ("Nullable", flag(schema.nullable)),
        ("Format", text(&schema.format)),
        ("Title", text(&schema.title)),
        ("Default", plain("default")),
        ("Maximum", plain("maximum")),
        ("ExclusiveMaximum", flag(schema.exclusive_maximum)),
        ("Minimum", plain("minimum")),
        ("ExclusiveMinimum", flag(schema.exclusive_minimum)),
        ("MaxLength", plain("maxLength")),
        ("MinLength", plain("minLength")),
        ("Pattern", text(&schema.pattern)),
        ("MaxItems", plain("maxItems")),
        ("MinItems", plain("minItems")),
        ("UniqueItems", flag(schema.unique_items)),
        ("MultipleOf", plain("multipleOf")),
        ("Enum", array(schema.enum_.is_some(), plain("enum"))),
        ("MaxProperties", plain("maxProperties")),
        ("MinProperties", plain("minProperties")),
        ("Required", plain("required")),
        ("Items", rendered_items(schema)),
        ("AllOf", list(schema.all_of.as_deref())),
        ("OneOf", list(schema.one_of.as_deref())),
        ("AnyOf", list(schema.any_of.as_deref())),
        ("Not", schema.not.as_deref().map_or("null".to_owned(), rendered)),
        (
            "Properties",
            map(Some(&schema.properties).filter(|all| !all.is_empty()), |schema| {
                rendered(schema)
            }),
        ),
        ("AdditionalProperties", or_bool(schema.additional_properties.as_ref())),
        ("PatternProperties", map(schema.pattern_properties.as_ref(), rendered)),
        ("Dependencies", map(schema.dependencies.as_ref(), or_strings)),
        ("AdditionalItems", or_bool(schema.additional_items.as_ref())),
        ("Definitions", map(schema.definitions.as_ref(), rendered)),
        (
            "ExternalDocs",
            docs.map_or("null".to_owned(), |docs| GoValue(docs).rendered()),
        ),
        ("Example", plain("example")),
        ("XPreserveUnknownFields", plain("x-kubernetes-preserve-unknown-fields")),
        ("XEmbeddedResource", flag(schema.x_kubernetes_embedded_resource)),
        ("XIntOrString", flag(schema.x_kubernetes_int_or_string)),
        (
            "XListMapKeys",
            array(
                schema.x_kubernetes_list_map_keys.is_some(),
                plain("x-kubernetes-list-map-keys"),
            ),
        ),
        ("XListType", plain("x-kubernetes-list-type")),
        ("XMapType", plain("x-kubernetes-map-type")),
        ("XValidations", GoValue(&schema.x_kubernetes_validations).rendered()),
    ];
    object(fields.iter().map(|(name, value)| (*name, value.clone())))
}

/// Renders a version of a kind with its schema.
pub(super) fn rendered_version(version: &CustomResourceDefinitionVersion) -> String {
    let wrapped = |schema: &CustomResourceValidation| {
        let schema = schema.open_apiv3_schema.as_ref();
        object([("OpenAPIV3Schema", schema.map_or("null".to_owned(), rendered))])
    };
    object([
        ("Name", Value::from(&*version.name).to_string()),
        ("Served", version.served.to_string()),
        ("Storage", version.storage.to_string()),
        ("Deprecated", version.deprecated.to_string()),
        ("DeprecationWarning", GoValue(&version.deprecation_warning).rendered()),
        ("Schema", version.schema.as_ref().map_or("null".to_owned(), wrapped)),
        ("Subresources", GoValue(&version.subresources).rendered()),
        (
            "AdditionalPrinterColumns",
            GoValue(&version.additional_printer_columns).rendered(),
        ),
        ("SelectableFields", GoValue(&version.selectable_fields).rendered()),
    ])
}

/// Renders the schemas of list elements.
pub(super) fn rendered_items(schema: &JSONSchemaProps) -> String {
    let (one, each) = match &schema.items {
        None => return "null".to_owned(),
        Some(SchemaOrArray::Nothing) => ("null".to_owned(), "null".to_owned()),
        Some(SchemaOrArray::Schema(schema)) => (rendered(schema), "null".to_owned()),
        Some(SchemaOrArray::Array(schemas)) => ("null".to_owned(), list(Some(schemas))),
    };
    object([("Schema", one), ("JSONSchemas", each)])
}

fn or_bool(choice: Option<&SchemaOrBool<JSONSchemaProps>>) -> String {
    match choice {
        None => "null".to_owned(),
        Some(SchemaOrBool::Bool(allows)) => object([("Allows", allows.to_string()), ("Schema", "null".to_owned())]),
        Some(SchemaOrBool::Schema(schema)) => object([("Allows", "true".to_owned()), ("Schema", rendered(schema))]),
    }
}

fn or_strings(choice: &SchemaOrStrings<JSONSchemaProps>) -> String {
    let (schema, names) = match choice {
        SchemaOrStrings::Nothing => ("null".to_owned(), "null".to_owned()),
        SchemaOrStrings::Schema(schema) => (rendered(schema), "null".to_owned()),
        SchemaOrStrings::Strings(names) => ("null".to_owned(), Value::from(names.as_slice()).to_string()),
    };
    object([("Schema", schema), ("Property", names)])
}

/// A list that is `text`, or null in `text` if it is absent or empty.
fn array(is_there: bool, text: String) -> String {
    match is_there && text == "null" {
        true => "[]".to_owned(),
        false => text,
    }
}

fn list(schemas: Option<&[JSONSchemaProps]>) -> String {
    match schemas {
        None => "null".to_owned(),
        Some(schemas) => format!("[{}]", schemas.iter().map(rendered).collect::<Vec<_>>().join(",")),
    }
}

fn map<T>(entries: Option<&BTreeMap<String, T>>, render: impl Fn(&T) -> String) -> String {
    match entries {
        None => "null".to_owned(),
        Some(entries) => object(entries.iter().map(|(name, value)| (name.as_str(), render(value)))),
    }
}

fn object<'n>(fields: impl IntoIterator<Item = (&'n str, String)>) -> String {
    let fields = fields
        .into_iter()
        .map(|(name, value)| format!("{}:{value}", Value::from(name)));
    format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
}

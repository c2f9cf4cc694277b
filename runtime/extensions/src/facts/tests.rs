use std::sync::Arc;

use planesmith_dynamic::custom::Unchecked;
use serde_json::json;

use super::*;

#[test]
fn facts_say_what_the_definition_says() {
    let document = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Cluster",
            "versions": [
                {"name": "v1beta1", "served": true, "storage": false, "deprecated": true, "schema": {}},
                {"name": "v1", "served": true, "storage": true,
                 "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": {"type": "object"}}}},
                 "subresources": {"status": {}, "scale": {
                     "specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}},
                 "selectableFields": [{"jsonPath": ".spec.color"}],
                 "additionalPrinterColumns": [
                     {"name": "N", "type": "integer", "jsonPath": ".spec.n", "priority": 1}]}
            ]
        },
        "status": {"acceptedNames": {
            "plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList", "shortNames": ["wi"]}}
    });
    let known = KnownFacts::new(|| Arc::new(Unchecked));
    let facts = known.of(Definition::new(&document));
    let [old, new] = &facts[..] else { panic!("two versions") };
    assert!(old.hub() == *new && new.is_hub());
    let warning = "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget";
    assert_eq!(old.deprecated.as_deref(), Some(warning));
    assert_eq!(new.api_version, "example.com/v1");
    assert_eq!((&*new.plural, &*new.short_names), ("widgets", &["wi".into()][..]));
    assert_eq!(*new.selectable, ["spec.color"]);
    assert_eq!(new.subresources.len(), 2);
    assert_eq!(
        new.columns.iter().map(|column| &*column.name).collect::<Vec<_>>(),
        ["Name", "N"]
    );

    // A column whose path cannot be parsed ends them.
    let mut unread = document.clone();
    let columns =
        ["v", "v[", "w"].map(|field| json!({"name": field, "type": "string", "jsonPath": format!(".spec.{field}")}));
    unread["spec"]["versions"][1]["additionalPrinterColumns"] = json!(columns);
    let columns = known.of(Definition::new(&unread))[1].columns.clone();
    let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
    assert_eq!(names, ["Name", "v"]);

    let facts = known.of(Definition::new(&document));
    // The same definition with another status has the same facts.
    let mut again = document.clone();
    again["status"]["conditions"] = json!([]);
    assert!(Arc::ptr_eq(&facts, &known.of(Definition::new(&again))));
    known.forget("widgets.example.com");
    let anew = known.of(Definition::new(&again));
    assert!(
        !Arc::ptr_eq(&facts, &anew) && facts[0] != anew[0],
        "another kind of the same name"
    );
    again["spec"]["versions"][1]["served"] = json!(false);
    assert!(!Arc::ptr_eq(&facts, &known.of(Definition::new(&again))));
}

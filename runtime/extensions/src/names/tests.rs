use super::*;

fn definition(plural: &str, kind: &str, short: &[&str]) -> Value {
    json!({"metadata": {"name": format!("{plural}.example.com")}, "spec": {"group": "example.com", "names": {
        "plural": plural, "singular": kind.to_lowercase(), "kind": kind, "listKind": format!("{kind}List"),
        "shortNames": short}}})
}

fn accepted(mut definition: Value) -> Value {
    let verdict = accept_names(Definition::new(&definition), &TakenNames::default());
    definition["status"] = json!({"acceptedNames": verdict.accepted});
    definition
}

fn taken(definition: &Value) -> TakenNames {
    let mut taken = TakenNames::default();
    taken.take(Definition::new(definition));
    taken
}

#[test]
fn free_names_are_given() {
    let verdict = accept_names(
        Definition::new(&definition("widgets", "Widget", &["wi"])),
        &TakenNames::default(),
    );
    assert_eq!(
        verdict.accepted,
        json!({"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList",
               "shortNames": ["wi"]})
    );
    assert_eq!(
        verdict.condition,
        ConditionState::yes("NoConflicts", "no conflicts found")
    );
}

#[test]
fn other_names_than_before_are_reported() {
    let mut definition = accepted(definition("widgets", "Widget", &["wi"]));
    let mut names = TakenNames::default();
    assert!(!names.take(Definition::new(&definition)));
    assert!(!names.take(Definition::new(&definition)));
    definition["status"]["acceptedNames"]["shortNames"] = json!([]);
    assert!(names.take(Definition::new(&definition)));
}

#[test]
fn taken_names_are_not() {
    let first = accepted(definition("widgets", "Widget", &["wi", "wd"]));
    let verdict = accept_names(
        Definition::new(&definition("gadgets", "Gadget", &["wi", "ga", "wd"])),
        &taken(&first),
    );
    assert_eq!(
        verdict.condition,
        ConditionState::no(
            "ShortNamesConflict",
            "[\"wd\" is already in use, \"wi\" is already in use]"
        )
    );
    assert_eq!(verdict.accepted["plural"], "gadgets");
    assert_eq!(verdict.accepted.get("shortNames"), None);
    let verdict = accept_names(Definition::new(&definition("gadgets", "Widget", &[])), &taken(&first));
    assert_eq!(
        verdict.condition,
        ConditionState::no("ListKindConflict", "\"WidgetList\" is already in use")
    );
    assert_eq!(verdict.accepted["kind"], "");
}

#[test]
fn names_that_were_given_before_stay() {
    let first = accepted(definition("widgets", "Widget", &["wi"]));
    let verdict = accept_names(Definition::new(&first), &taken(&first));
    assert_eq!(
        verdict.condition,
        ConditionState::yes("NoConflicts", "no conflicts found")
    );
}

#[test]
fn a_name_of_the_definition_itself_is_used_already() {
    let mut first = accepted(definition("widgets", "Widget", &["wi"]));
    let conflict = |first: &Value| accept_names(Definition::new(first), &taken(first)).condition;
    first["spec"]["names"]["shortNames"] = json!(["wi", "widget"]);
    assert_eq!(
        conflict(&first),
        ConditionState::no("ShortNamesConflict", "\"widget\" is already in use")
    );
    first["spec"]["names"]["shortNames"] = json!(["wi"]);
    first["spec"]["names"]["singular"] = json!("wi");
    assert_eq!(
        conflict(&first),
        ConditionState::no("SingularConflict", "\"wi\" is already in use")
    );
}

#[test]
fn names_are_free_again_when_their_definition_goes_or_is_renamed() {
    let mut first = accepted(definition("widgets", "Widget", &["wi"]));
    let mut names = taken(&first);
    let second = definition("gadgets", "Widget", &["wi"]);
    assert!(!accept_names(Definition::new(&second), &names).condition.holds);
    first["status"]["acceptedNames"] = json!({"plural": "widgets", "kind": "Other", "listKind": "OtherList"});
    names.take(Definition::new(&first));
    assert!(accept_names(Definition::new(&second), &names).condition.holds);
    names.give_back("widgets.example.com");
    assert_eq!(names, TakenNames::default());
}

#[test]
fn a_plural_of_the_server_itself_is_never_given() {
    let mut names = TakenNames::default();
    names.reserve("widgets");
    let document = definition("widgets", "Widget", &[]);
    let wanted = Definition::new(&document);
    let verdict = accept_names(wanted, &names);
    assert_eq!(
        verdict.condition,
        ConditionState::no("PluralConflict", "\"widgets\" is already in use")
    );
    assert_eq!(verdict.accepted["plural"], "");
    names.take(wanted);
    names.give_back(wanted.name());
    assert_eq!(accept_names(wanted, &names), verdict);
    // Objects are stored under the plural only.
    let short = definition("gadgets", "Gadget", &["widgets"]);
    assert!(accept_names(Definition::new(&short), &names).condition.holds);
}

use super::*;

fn stored(annotation: Option<&str>, generation: i64, shares: i64) -> Value {
    let annotations = annotation.map(|value| json!({AUTO_UPDATE: value}));
    json!({
        "metadata": {"name": "system", "generation": generation, "annotations": annotations},
        "spec": {"type": "Limited", "shares": shares},
    })
}

/// Returns the shares and the annotation that are written; `None` if nothing is.
fn written(stored: Value, mandatory: bool) -> Option<(i64, String)> {
    let object = revised(stored, &json!({"type": "Limited", "shares": 1}), mandatory)?;
    let annotation = object["metadata"]["annotations"][AUTO_UPDATE].as_str()?;
    Some((object["spec"]["shares"].as_i64()?, annotation.to_owned()))
}

#[test]
fn a_correct_object_is_not_written() {
    assert_eq!(written(stored(Some("true"), 1, 1), false), None);
    assert_eq!(written(stored(Some("false"), 3, 5), false), None);
}

#[test]
fn specs_of_the_server_are_repaired() {
    assert_eq!(written(stored(Some("true"), 2, 5), false), Some((1, "true".into())));
    assert_eq!(written(stored(None, 1, 5), false), Some((1, "true".into())));
}

#[test]
fn specs_that_somebody_made_their_own_stay() {
    assert_eq!(written(stored(None, 2, 5), false), Some((5, "false".into())));
    assert_eq!(written(stored(Some("no"), 2, 5), false), Some((5, "false".into())));
}

#[test]
fn mandatory_specs_are_nobodys_own() {
    assert_eq!(written(stored(Some("false"), 4, 5), true), Some((1, "true".into())));
}

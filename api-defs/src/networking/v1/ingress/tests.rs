use serde_json::{Value, json};

use super::*;

fn ingress(spec: &Value, status: &Value) -> Ingress {
    serde_json::from_value(json!({"metadata": {"name": "i"}, "spec": spec, "status": status})).unwrap()
}

fn messages(check: impl FnOnce(&mut FieldErrors)) -> Vec<String> {
    let mut errors = FieldErrors::default();
    check(&mut errors);
    errors.as_slice().iter().map(|error| error.message()).collect()
}

#[test]
fn names_of_services_are_labels() {
    let to = |name: &str| json!({"defaultBackend": {"service": {"name": name, "port": {"number": 80}}}});
    let complaints = |name: &str| messages(|errors| ingress(&to(name), &json!({})).validate(errors));
    assert_eq!(complaints("web"), Vec::<String>::new());
    assert_eq!(complaints("1web"), Vec::<String>::new());
    assert!(complaints("Web")[0].starts_with("spec.defaultBackend.service.name: Invalid value: \"Web\": a lowercase"));
    assert_eq!(
        messages(|errors| ingress(&json!({}), &json!({})).validate(errors)),
        ["spec: Invalid value: null: either `defaultBackend` or `rules` must be specified"]
    );
}

#[test]
fn addresses_in_old_forms_are_reported_at_their_field() {
    let at = |address: &str| ingress(&json!({}), &json!({"loadBalancer": {"ingress": [{"ip": address}]}}));
    let (old, new) = (at("010.0.0.1"), at("010.0.0.2"));
    assert_eq!(
        messages(|errors| new.validate_status_update(&old, errors)),
        ["status.loadBalancer.ingress[0].ip: Invalid value: \"010.0.0.2\": must not have leading 0s"]
    );
    assert_eq!(
        messages(|errors| old.validate_status_update(&old, errors)),
        Vec::<String>::new()
    );
    assert_eq!(
        old.warnings_on_status_update(&old),
        ["status.loadBalancer.ingress[0]: non-standard IP address \"010.0.0.1\" is invalid: use \"10.0.0.1\""]
    );
}

use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::strategy::{Strategy as _, StrategyExtensions as _};
use serde_json::{Value, json};

use super::EndpointSlice;

fn slice(address_type: &str, addresses: &Value) -> EndpointSlice {
    let mut slice: EndpointSlice = serde_json::from_value(json!({
        "metadata": {"name": "s"},
        "addressType": address_type,
        "endpoints": [{"addresses": addresses}],
        "ports": [{"name": "A"}],
    }))
    .unwrap();
    slice.set_defaults();
    slice
}

#[test]
fn addresses_are_of_the_type_of_the_slice() {
    let cases = [
        ("IPv4", json!(["10.0.0.1"]), ""),
        (
            "IPv4",
            json!(["2001:db8::1", "010.0.0.1", "127.0.0.1"]),
            "endpoints[0].addresses: Invalid value: \"2001:db8::1\": must be an IPv4 address\n\
             endpoints[0].addresses[1]: Invalid value: \"010.0.0.1\": must not have leading 0s\n\
             endpoints[0].addresses[2]: Invalid value: \"127.0.0.1\": may not be in the loopback range (127.0.0.0/8, ::1/128)",
        ),
        (
            "IPv6",
            json!(["2001:DB8::1", "10.0.0.1", "x"]),
            "endpoints[0].addresses[0]: Invalid value: \"2001:DB8::1\": must be in canonical form (\"2001:db8::1\")\n\
             endpoints[0].addresses: Invalid value: \"10.0.0.1\": must be an IPv6 address\n\
             endpoints[0].addresses[2]: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        ),
    ];
    for (address_type, addresses, expected) in cases {
        let slice = slice(address_type, &addresses);
        let mut errors = FieldErrors::default();
        slice.validate(&mut errors);
        let found = errors.as_slice().iter().map(|error| error.message());
        let mut found: Vec<String> = found.collect();
        assert!(found.remove(0).starts_with("ports[0].name: Invalid value: \"A\""));
        assert_eq!(found.join("\n"), expected);
    }
}

#[test]
fn endpoints_that_stay_may_be_wrong() {
    let old = slice("IPv4", &json!(["010.0.0.1"]));
    let complaints = |new: &EndpointSlice| {
        let mut errors = FieldErrors::default();
        new.validate_replacement(&old, &mut errors);
        errors.as_slice().len() - 1
    };
    assert_eq!(complaints(&old), 0);
    assert_eq!(complaints(&slice("IPv4", &json!(["010.0.0.1", "10.0.0.2"]))), 1);
}

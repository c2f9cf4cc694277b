use super::*;

fn check(name: &str, good: &[&str], bad: &[&str]) {
    let format = Format::from_name(SchemaType::String, name).unwrap_or_else(|| panic!("{name} is known"));
    for text in good {
        assert!(format.holds(text), "{text:?} is of the format {name}");
    }
    for text in bad {
        assert!(!format.holds(text), "{text:?} is not of the format {name}");
    }
}

#[test]
fn addresses() {
    check("ipv4", &["1.2.3.4", "010.0.0.1"], &["1.2.3", "::1", "1.2.3.256", ""]);
    check(
        "ipv6",
        &["::1", "fe80::1", "::ffff:1.2.3.4"],
        &["1.2.3.4", "fe80::1%eth0", ""],
    );
    check(
        "cidr",
        &["10.0.0.0/8", "::/0", "010.0.0.1/8"],
        &["10.0.0.0", "10.0.0.0/33", ""],
    );
    check(
        "mac",
        &["01:23:45:67:89:ab", "01-23-45-67-89-ab-cd-ef", "0123.4567.89ab"],
        &[
            "01:23:45:67:89",
            "01:23:45:67:89:ag",
            "0123456789ab",
            "01:23-45:67:89:ab",
        ],
    );
    check(
        "hostname",
        &["a", "example.com", "1host", "a-b.example.org", "\u{e9}.example.com"],
        &["-a.com", "a..b", "a_b.com", "", "a.b.c1"],
    );
    check(
        "uri",
        &[
            "http://a.b/c?d",
            "/path",
            "mailto:x@y",
            "http://[::1]:80/",
            "http://u:p@h/%41",
            "*",
        ],
        &["", "path", "http://a b/", "http://h:x/", "/%4", ":x", "http://[::1/"],
    );
    check(
        "email",
        &["a@b", "a.b+c@example.com", "\"a b\"@c.d", "Name <a@b.c>", "a@[1.2.3.4]"],
        &["", "a", "a@", "@b", "a..b@c", "a b@c", "a@b@c", "Name a@b.c"],
    );
}

#[test]
fn numbers() {
    check(
        "isbn",
        &["0321751043", "978-0321751041"],
        &["0321751044", "978-0321751042", ""],
    );
    check("isbn10", &["0-321-75104-3", "080442957X"], &["978-0321751041"]);
    check(
        "creditcard",
        &["4111-1111-1111-1111", "378282246310005"],
        &["4111111111111112", "1234", ""],
    );
    check("ssn", &["111-22-3333", "111 22 3333"], &["111223333", "111-22-333x"]);
    check("hexcolor", &["#FFFFFF", "abc"], &["#ffff", "#ggg", ""]);
    check(
        "rgbcolor",
        &["rgb(0,255, 7)"],
        &["rgb(256,0,0)", "rgb(01,0,0)", "rgb(0,0)", "0,0,0"],
    );
    check("byte", &["YQ==", "YWI=", "YWJj"], &["YQ=", "", "YW Jj", "===="]);
    check(
        "uuid",
        &[
            "123e4567-e89b-12d3-a456-426614174000",
            "123E4567e89b12d3a456426614174000",
        ],
        &[
            "123e4567-e89b-12d3-a456-42661417400",
            "123e-4567e89b12d3a456426614174000",
            "123e4567--e89b12d3a456426614174000",
            "",
        ],
    );
    check(
        "uuid4",
        &["123e4567-e89b-42d3-a456-426614174000"],
        &["123e4567-e89b-12d3-a456-426614174000"],
    );
    check(
        "bsonobjectid",
        &["507f1f77bcf86cd799439011"],
        &["507f1f77bcf86cd79943901"],
    );
}

#[test]
fn times() {
    check(
        "date",
        &["2024-02-29", "0000-01-01"],
        &["2023-02-29", "2024-13-01", "2024-1-01", "2024-02-29T", ""],
    );
    check(
        "date-time",
        &[
            "2024-05-06T07:08:09Z",
            "2024-05-06t07:08:09.123+25:99",
            "2024-05-06T07:08:09,5z",
        ],
        &[
            "yesterday",
            "2024-05-06 07:08:09Z",
            "2024-05-06T24:08:09Z",
            "2024-05-06T07:08:09",
            "2024-05-06T07:08:60Z",
            "",
        ],
    );
    check(
        "duration",
        &["1h30m", "22 ns", "3 days", "2weeks", "0"],
        &["", "one day", "5", "7 q", "99999999999999999999 s"],
    );
}

#[test]
fn names_and_what_is_not_known() {
    check("k8s-short-name", &["a-b"], &["A", "-a", "a.b"]);
    check("k8s-long-name", &["a.b-c"], &["A.b", "a..b"]);
    check("password", &["", "anything"], &[]);
    assert!(Format::from_name(SchemaType::String, "semver").is_none());
    assert!(Format::from_name(SchemaType::String, "int32").is_none());
    assert!(Format::from_name(SchemaType::Integer, "uint8").is_none());
    assert!(Format::from_name(SchemaType::Integer, "date").is_none());
    assert!(Format::from_name(SchemaType::Number, "float").is_some_and(|format| !format.is_of_text()));
    assert!(Format::from_name(SchemaType::Object, "date").is_none());
}

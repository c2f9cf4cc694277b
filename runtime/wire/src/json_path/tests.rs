use serde_json::json;

use super::*;

fn check(path: &str, expected: &[&str]) {
    let document = json!({"a": {"b": 1, "x.y": "dot", "n": null}, "l": ["p", "q", "r"], "e": [],
        "o": [{"k": "a", "v": 1}, {"k": "b", "v": 2.5, "on": true}, {"v": 3}], "f": 1.5});
    let read = JsonPath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let found = read
        .find(&document)
        .map(|found| found.into_iter().map(print).collect::<Vec<String>>());
    assert_eq!(found, Ok(expected.iter().map(ToString::to_string).collect()), "{path}");
}

#[test]
fn paths_lead_to_values() {
    check(".a.b", &["1"]);
    check("$.a.b", &["1"]);
    check(".a", &[r#"{"b":1,"n":null,"x.y":"dot"}"#]);
    check(r".a.x\.y", &["dot"]);
    check(r"['a']['b']", &["1"]);
    check(r".a['x\.y']", &["dot"]);
    check(".a.n", &["<no value>"]);
    check(".a.n.m", &[]);
    check(".no.where", &[]);
    check(".a.b.c", &[]);
    check(".f", &["1.5"]);
    check(".l[0]", &["p"]);
    check(".l[-1]", &["r"]);
    check(".l[-2:]", &["q", "r"]);
    check(".l[0:2]", &["p", "q"]);
    check(".l[::2]", &["p", "r"]);
    check(".l[*]", &["p", "q", "r"]);
    check(".e[*]", &[]);
    check(".l[0,2]", &["p", "r"]);
    check(".o[*].v", &["1", "2.5", "3"]);
    check(".o.*.k", &["a", "b"]);
    check("..k", &["a", "b"]);
    check(r#".o[?(@.k=="b")].v"#, &["2.5"]);
    check(r#".o[?(@.k!="b")].v"#, &["1"]);
    check(".o[?(@.on==true)].k", &["b"]);
    check(".o[?(@.on)].k", &["b"]);
    check(".l[?(@>='q')]", &["q", "r"]);
}

#[test]
fn some_documents_do_not_fit() {
    let document = json!({"l": ["p"], "o": [{"v": 1}, {"v": "x"}], "t": "text"});
    for path in [
        ".l[1]",
        ".l[5:9]",
        ".t[0]",
        ".t[?(@.a)]",
        ".o[?(@.v==1)]",
        ".o[?(@.v=1)]",
        ".l[0:1:0]",
    ] {
        let read = JsonPath::parse(path).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert_eq!(read.find(&document), Err(Misfit), "{path}");
    }
}

#[test]
fn an_invalid_path_is_refused() {
    for path in [
        ".a[",
        ".a[x]",
        ".a[?(@.b",
        ".a[?(@.b)",
        "....",
        "range",
        "!",
        ".a[1:2:3:4]",
        "'open",
        ".a}",
    ] {
        assert!(JsonPath::parse(path).is_err(), "{path}");
    }
}

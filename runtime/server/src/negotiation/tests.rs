use http::Request;

use planesmith_machinery::strategy::Extensions;

use super::*;

fn parts(accept: &str, query: &str, agent: &str) -> Parts {
    let request = Request::builder()
        .uri(format!("/api/v1/namespaces/a/configmaps?{query}"))
        .header(ACCEPT, accept)
        .header(USER_AGENT, agent);
    request.body(()).expect("legal").into_parts().0
}

fn accepted(accept: &str) -> Result<(Format, Target), String> {
    match negotiate(&parts(accept, "", ""), Acceptable::Object) {
        Ok(output) => Ok((output.format, output.target)),
        Err(error) => Err(error.message().to_owned()),
    }
}

#[test]
fn the_best_clause_that_can_be_given_wins() {
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let cases = [
        ("", Format::Json, Target::Object),
        ("*/*", Format::Json, Target::Object),
        ("application/yaml, application/json", Format::Yaml, Target::Object),
        (
            "application/yaml;q=0.3, application/json;q=0.9",
            Format::Json,
            Target::Object,
        ),
        ("application/json;q=0, application/yaml", Format::Yaml, Target::Object),
        ("*/*, application/yaml;q=0.5", Format::Yaml, Target::Object),
        (
            "application/json;q=abc, application/yaml;q=0.5",
            Format::Yaml,
            Target::Object,
        ),
        (
            "application/json;q= 0.9, application/yaml;q=0.5",
            Format::Yaml,
            Target::Object,
        ),
        (
            "application/json;q=0.4 , application/yaml;q=0.3",
            Format::Json,
            Target::Object,
        ),
        ("text/html, application/json", Format::Json, Target::Object),
        (
            "text/html,application/xml;q=0.9,*/*;q=0.8",
            Format::Json,
            Target::Object,
        ),
        (
            "application/vnd.kubernetes.protobuf,application/json",
            Format::Protobuf,
            Target::Object,
        ),
        (
            "application/json;as=Nothing;v=v1;g=meta.k8s.io,application/json",
            Format::Json,
            Target::Object,
        ),
        ("application/json;pretty=1", Format::Json, Target::Object),
        ("application/json;export=1", Format::Json, Target::Object),
        ("application/json;stream=watch", Format::Json, Target::Object),
        (table, Format::Json, Target::Table),
        (&format!("{table},application/json"), Format::Json, Target::Table),
        (&format!("application/json,{table}"), Format::Json, Target::Object),
        (
            "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;g=meta.k8s.io;v=v1",
            Format::Protobuf,
            Target::PartialObject,
        ),
    ];
    for (accept, format, target) in cases {
        assert_eq!(accepted(accept), Ok((format, target)), "{accept}");
    }
}

#[test]
fn unavailable_media_types_are_refused_in_one_of_two_ways() {
    let offered = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    for accept in [
        "application/*",
        "text/html",
        "application/cbor",
        "nonsense",
        "Application/JSON",
    ] {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {offered}");
        assert_eq!(accepted(accept), Err(message), "{accept}");
    }
    for accept in [
        "application/json;v=v1",
        "application/json;stream=other",
        "application/json;as=Table;g=meta.k8s.io",
        "application/json;as=Table;v=v1;g=apps",
        "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
    ] {
        let message = format!("only the following media types are accepted: {offered}");
        assert_eq!(accepted(accept), Err(message), "{accept}");
    }
}

#[test]
fn people_get_indented_json() {
    let pretty = |query, agent| {
        negotiate(&parts("application/json", query, agent), Acceptable::Object)
            .expect("json")
            .pretty
    };
    assert!(pretty("pretty=1", ""));
    assert!(pretty("", "curl/8.0"));
    assert!(pretty("", "Mozilla/5.0 (X)"));
    assert!(!pretty("pretty=0", "curl/8.0"));
    assert!(!pretty("pretty=", "kubectl/v1"));
    assert!(!pretty("", "kubectl/v1"));
}

#[test]
fn a_watch_is_never_yaml() {
    let watched = |accept, agent| negotiate(&parts(accept, "", agent), Acceptable::Collection).and_then(streamed);
    assert!(watched("application/yaml", "").is_err());
    let output = watched("application/json;stream=watch", "curl").expect("json");
    assert_eq!((output.format, output.pretty), (Format::Json, false));
}

#[test]
fn failures_go_out_in_any_case() {
    let output = |accept| negotiate_failure(&parts(accept, "", ""));
    assert_eq!(output("application/yaml").expect("negotiated").format, Format::Yaml);
    for accept in ["text/html", "application/json;as=Table;v=v1;g=meta.k8s.io"] {
        let output = output(accept).expect_err("not negotiated");
        assert_eq!(
            (output.format, output.target),
            (Format::Json, Target::Object),
            "{accept}"
        );
    }
}

#[test]
fn streams_are_for_clients_that_accept_objects() {
    let refusal = |accept| {
        let refused = check_streamed(&parts(accept, "", ""), "text/plain").err();
        refused.map(|error| error.message().to_owned()).unwrap_or_default()
    };
    for accept in ["", "*/*", "application/json, */*", "text/plain, application/yaml"] {
        assert_eq!(refusal(accept), "", "{accept}");
    }
    for accept in ["application/*", "text/html"] {
        let expected = "406: Not Acceptable\n\nAvailable representations: text/plain, application/json, ";
        assert!(refusal(accept).starts_with(expected), "{accept}");
    }
    for accept in ["text/plain", "application/json;as=Table;v=v1;g=meta.k8s.io"] {
        let expected = "only the following media types are accepted: application/json, ";
        assert!(refusal(accept).starts_with(expected), "{accept}");
    }
}

#[test]
fn above_the_apis_a_header_need_not_name_what_is_offered() {
    let parts = parts("application/*", "", "");
    assert!(negotiate(&parts, Acceptable::Plain).is_err());
    assert_eq!(
        negotiate_document(&parts).map(|output| output.format).ok(),
        Some(Format::Json)
    );
    assert!(
        negotiate_failure(&parts).is_ok_and(|output| !output.pretty),
        "the refusal is what the client takes"
    );
    let error = negotiate_document(&self::parts("text/plain", "", "")).expect_err("nothing");
    assert!(
        error
            .message()
            .starts_with("only the following media types are accepted")
    );
}

#[test]
fn no_table_is_made_of_parts_of_objects() {
    let table = "application/json;as=Table;v=v1;g=meta.k8s.io";
    let whole = Extensions::NONE;
    let forgetful = Extensions {
        status_as_table: false,
        ..Extensions::NONE
    };
    let offered_by = |extensions: &Extensions, accept: &str, subresource| {
        negotiate(&parts(accept, "", ""), Acceptable::of_object(extensions, subresource))
    };
    let offered = |accept: &str, subresource| offered_by(&whole, accept, subresource);
    assert!(offered(table, "resize").is_err());
    assert!(offered(table, "").is_ok() && offered(table, "status").is_ok());
    assert!(offered_by(&forgetful, table, "").is_ok() && offered_by(&forgetful, table, "status").is_err());
    let agreed = offered(&format!("{table},application/json"), "resize").expect("JSON");
    assert_eq!(agreed.target, Target::Object);
}

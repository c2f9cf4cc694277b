use std::time::Duration;

use http::{Method, Uri};

use super::{RequestInfo, parse_duration};

/// The parsed `METHOD PATH`: verb, group/version, namespace, resource, name and subresource.
fn check(request: &str, expected: &str) {
    let (method, path) = request.split_once(' ').unwrap();
    let uri: Uri = path.parse().unwrap();
    let info = RequestInfo::new(&Method::try_from(method).unwrap(), &uri);
    let read = format!(
        "{} {}/{} ns={} {} {} {} {}",
        info.verb_text(),
        info.group(),
        info.version(),
        info.namespace(),
        info.resource(),
        info.name(),
        info.subresource(),
        info.rest(),
    );
    assert_eq!(read.trim_end(), expected, "{request}");
}

#[test]
fn paths_of_resources_are_taken_apart() {
    check("GET /api/v1/namespaces", "list /v1 ns= namespaces");
    check("GET /api/v1/namespaces/a", "get /v1 ns=a namespaces a");
    check(
        "PUT /api/v1/namespaces/a/finalize",
        "update /v1 ns=a namespaces a finalize",
    );
    check("PUT /api/v1/namespaces/a/status", "update /v1 ns=a namespaces a status");
    check("DELETE /api/v1/namespaces/a/pods", "deletecollection /v1 ns=a pods");
    check("DELETE /api/v1/namespaces/a/pods/p", "delete /v1 ns=a pods p");
    check(
        "POST /apis/apps/v1/namespaces/a/deployments",
        "create apps/v1 ns=a deployments",
    );
    check(
        "PATCH /apis/apps/v1/namespaces/a/deployments/d/scale",
        "patch apps/v1 ns=a deployments d scale",
    );
    check("GET /api/v1/nodes/n/proxy/a/b/", "get /v1 ns= nodes n proxy a/b");
    check("HEAD /api/v1/nodes/n", "get /v1 ns= nodes n");
    check("FROB /api/v1/nodes/n", " /v1 ns= nodes n");
}

#[test]
fn verbs_in_paths_are_taken_for_what_they_were() {
    check("GET /api/v1/watch/nodes", "watch /v1 ns= nodes");
    check(
        "GET /apis/apps/v1/watch/namespaces/a/deployments/d",
        "watch apps/v1 ns=a deployments d",
    );
    check("GET /api/v1/proxy/namespaces/a/pods/p/x", "proxy /v1 ns=a pods p  x");
    check("GET /api/v1/watch", "list /v1 ns= watch");
}

#[test]
fn verbs_in_paths_need_something_to_be_about() {
    for (path, expected) in [
        ("/api/v1/watch", true),
        ("/api/v1/proxy/", true),
        ("/apis/apps/v1/watch", true),
        ("/api/v1/watch/pods", false),
        ("/apis/apps/watch", false),
        ("/api/watch", false),
        ("/other/v1/watch", false),
    ] {
        assert_eq!(RequestInfo::lacks_a_subject(path), expected, "{path}");
    }
}

#[test]
fn reads_of_collections_may_be_watches_or_about_one_name() {
    check("GET /api/v1/nodes?watch", "watch /v1 ns= nodes");
    check("GET /api/v1/nodes?watch=true&watch=0", "watch /v1 ns= nodes");
    check("GET /api/v1/nodes?watch=FALSE", "list /v1 ns= nodes");
    check("GET /api/v1/nodes/n?watch=1", "get /v1 ns= nodes n");
    check(
        "GET /api/v1/nodes?fieldSelector=a%3Db,metadata.name%3Dn",
        "list /v1 ns= nodes n",
    );
    check(
        "GET /api/v1/nodes?%66ieldSelector=metadata.name!%3Dn&fieldSelector=metadata.name%3Dn",
        "list /v1 ns= nodes",
    );
    check(
        "GET /api/v1/nodes?fieldSelector=metadata.name!%3Dn",
        "list /v1 ns= nodes",
    );
    check(
        "GET /api/v1/nodes?fieldSelector=metadata.name%3Db,metadata.name%3D%3Da",
        "list /v1 ns= nodes a",
    );
    check(
        "GET /api/v1/nodes?fieldSelector=metadata.name%3Db,metadata.name%3Da&watch=1",
        "watch /v1 ns= nodes a",
    );
    check(
        "GET /api/v1/nodes?fieldSelector=metadata.name%3Da,b",
        "list /v1 ns= nodes",
    );
    check(
        "GET /api/v1/nodes?fieldSelector=metadata.name%3Da/b",
        "list /v1 ns= nodes",
    );
}

#[test]
fn other_paths_have_the_method_as_verb() {
    check("GET /", "get / ns=");
    check("POST /healthz", "post / ns=");
    check("FROB /version", "frob / ns=");
    check("GET /apis/apps/v1", "get / ns=");
    check("GET /api/v1/", "get / ns=");
    check("GET /logs/api/v1/pods", "get / ns=");
}

#[test]
fn durations_are_read_as_go_reads_them() {
    for (text, expected) in [
        ("32s", Ok(Duration::from_secs(32))),
        ("1m30.5s", Ok(Duration::from_millis(90_500))),
        ("0", Ok(Duration::ZERO)),
        ("-5s", Ok(Duration::ZERO)),
        ("", Err("time: invalid duration \"\"")),
        ("5", Err("time: missing unit in duration \"5\"")),
        ("5x", Err("time: unknown unit \"x\" in duration \"5x\"")),
        ("s", Err("time: invalid duration \"s\"")),
        (
            "9999999999999999999999999h",
            Err("time: invalid duration \"9999999999999999999999999h\""),
        ),
    ] {
        let read = parse_duration(text);
        assert_eq!(
            read.as_ref().map_err(|error| error.0.as_str()),
            expected.as_ref().map_err(|error| *error),
            "{text}"
        );
    }
}

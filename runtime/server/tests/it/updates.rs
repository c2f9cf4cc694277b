//! Updates and patches of objects.

use std::sync::Arc;

use axum::body::Body;
use http::Request;
use serde_json::{Value, json};

use crate::harness::{NOTES, SHELVES, Server};

#[tokio::test]
async fn a_stale_version_is_refused_and_no_version_wins() {
    let server = Server::with_places().await;
    let old = server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let body = |version: &str, text: &str| {
        format!(r#"{{"metadata":{{"name":"n","resourceVersion":"{version}"}},"data":{{"a":"{text}"}}}}"#)
    };
    let won = server.put(&path, &body("", "1")).await;
    assert_eq!((won.code, won.at("/data/a")), (200, json!("1")));
    assert_eq!(won.at("/metadata/uid"), old["metadata"]["uid"]);
    assert_eq!(
        won.at("/metadata/creationTimestamp"),
        old["metadata"]["creationTimestamp"]
    );
    let stale = server
        .put(
            &path,
            &body(old["metadata"]["resourceVersion"].as_str().expect("text"), "2"),
        )
        .await;
    let words = "Operation cannot be fulfilled on notes \"n\": the object has been modified; please apply your changes \
                 to the latest version and try again";
    assert_eq!(stale.refusal(), (409, words.to_owned()));
    let current = server.put(&path, &body(&won.version(), "3")).await;
    assert_eq!(current.code, 200);
    let unchanged = server.put(&path, &body("", "3")).await;
    assert_eq!(unchanged.version(), current.version());
    let text = server.put(&path, &body("x", "4")).await;
    assert_eq!(
        text.refusal(),
        (500, "strconv.ParseUint: parsing \"x\": invalid syntax".to_owned())
    );
}

#[tokio::test]
async fn an_update_is_about_the_object_in_the_path() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let cases = [
        (
            r#"{"metadata":{"name":"m"}}"#,
            "the name of the object (m) does not match the name on the URL (n)",
        ),
        (
            r#"{"metadata":{}}"#,
            "the name of the object (n based on URL) was undeterminable: name must be provided",
        ),
        (
            r#"{"metadata":{"name":"n","namespace":"b"}}"#,
            "the namespace of the provided object does not match the namespace sent on the request",
        ),
    ];
    for (body, message) in cases {
        assert_eq!(server.put(&path, body).await.refusal(), (400, message.to_owned()));
    }
    let missing = server.put(&format!("{NOTES}/m"), r#"{"metadata":{"name":"m"}}"#).await;
    assert_eq!(missing.refusal(), (404, "notes \"m\" not found".to_owned()));
    let other = server.put(&path, r#"{"metadata":{"name":"n","uid":"1"}}"#).await;
    assert_eq!(other.code, 409);
    let words = other.at("/message");
    let words = words.as_str().expect("text");
    assert!(
        words.contains("Key: /registry/notes/a/n, ResourceVersion: 0"),
        "{words}"
    );
    let made = server
        .put("/api/v1/sites/c", r#"{"metadata":{"name":"c","resourceVersion":"1"}}"#)
        .await;
    assert_eq!(made.code, 201);
}

#[tokio::test]
async fn status_and_content_have_their_own_paths() {
    let server = Server::with_places().await;
    server
        .create(SHELVES, r#"{"metadata":{"name":"s"},"spec":{"size":1}}"#)
        .await;
    let body = r#"{"metadata":{"name":"s"},"spec":{"size":2},"status":{"phase":"Up"}}"#;
    let content = server.put(&format!("{SHELVES}/s"), body).await;
    assert_eq!(content.at("/spec/size"), 2);
    assert_eq!(content.at("/status"), json!({}));
    assert_eq!(content.at("/metadata/generation"), 2);
    let body = r#"{"metadata":{"name":"s"},"spec":{"size":9},"status":{"phase":"Up"}}"#;
    let status = server.put(&format!("{SHELVES}/s/status"), body).await;
    assert_eq!(
        (status.at("/spec/size"), status.at("/status/phase")),
        (json!(2), json!("Up"))
    );
    assert_eq!(status.at("/metadata/generation"), 2);
    let labelled = server
        .patch("merge", &format!("{SHELVES}/s"), r#"{"metadata":{"labels":{"a":"b"}}}"#)
        .await;
    assert_eq!((labelled.code, labelled.at("/metadata/generation")), (200, json!(2)));
    assert_eq!(labelled.at("/status/phase"), "Up");
}

#[tokio::test]
async fn patches_of_each_kind_change_a_part() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let merged = server.patch("merge", &path, r#"{"data":{"a":"1","n":null}}"#).await;
    assert_eq!(
        (merged.code, merged.at("/data")),
        (200, json!({ "a": "1" })),
        "{}",
        merged.text
    );
    let operated = server
        .patch("json", &path, r#"[{"op":"add","path":"/data/b","value":"2"}]"#)
        .await;
    assert_eq!(operated.at("/data"), json!({ "a": "1", "b": "2" }));
    let strategic = server.patch("strategic-merge", &path, r#"{"data":{"b":null}}"#).await;
    assert_eq!(strategic.at("/data"), json!({ "a": "1" }));
    let failed = server
        .patch("json", &path, r#"[{"op":"test","path":"/data/a","value":"9"}]"#)
        .await;
    let words = "the server rejected our request due to an error in our request";
    assert_eq!(failed.refusal(), (422, words.to_owned()));
    let odd = server.patch("merge", &path, r#"{"data":"x"}"#).await;
    assert_eq!((odd.code, odd.at("/details/causes/0/field")), (422, json!("patch")));
    let other = server.patch("merge", &path, r#"{"kind":"Site"}"#).await;
    assert_eq!(other.code, 422);
    let kept = server.patch("merge", &path, r#"{"metadata":{"uid":"1"}}"#).await;
    assert_eq!(kept.code, 422);
    let renamed = server.patch("merge", &path, r#"{"metadata":{"name":"m"}}"#).await;
    assert_eq!(renamed.code, 400);
    let unknown = server.patch("merge", &path, r#"{"extra":1}"#).await;
    assert_eq!(
        (unknown.code, unknown.warnings),
        (200, vec!["unknown field \"extra\"".to_owned()])
    );
    let none = server.patch("merge", &format!("{NOTES}/m"), "{}").await;
    assert_eq!(none.code, 404);
    let plain = server.patch("unknown", &path, "{}").await;
    assert_eq!(plain.refusal(), (415, "415: Unsupported Media Type".to_owned()));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn changes_at_the_same_time_all_count() {
    let server = Arc::new(Server::with_places().await);
    server.note("n", "{}").await;
    let writers = (0..8).map(|writer| {
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            for round in 0..20 {
                let body = format!(r#"{{"data":{{"w{writer}":"{round}"}}}}"#);
                let answer = server.patch("merge", &format!("{NOTES}/n"), &body).await;
                assert_eq!(answer.code, 200, "{}", answer.text);
            }
        })
    });
    for writer in writers.collect::<Vec<_>>() {
        writer.await.expect("no writer failed");
    }
    let data = server.get(&format!("{NOTES}/n")).await.at("/data");
    for writer in 0..8 {
        assert_eq!(data[format!("w{writer}")], Value::from("19"));
    }
}

#[tokio::test]
async fn a_dry_run_shows_the_change_and_leaves_the_object() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let dry = server
        .patch("merge", &format!("{NOTES}/n?dryRun=All"), r#"{"data":{"n":"new"}}"#)
        .await;
    assert_eq!(dry.at("/data/n"), "new");
    assert_eq!(server.get(&format!("{NOTES}/n")).await.at("/data/n"), "n");
}

#[tokio::test]
async fn an_object_refused_for_its_keys_is_not_stored() {
    let server = Server::with_places().await;
    let twice = "apiVersion: v1\nkind: Note\nmetadata: {name: twice}\ndata: {a: one, a: two}\n";
    let path = format!("{NOTES}/twice?fieldManager=me&fieldValidation=Strict");
    let refused = server.apply(&path, twice).await;
    assert_eq!(refused.code, 400, "{}", refused.text);
    assert_eq!(server.get(&format!("{NOTES}/twice")).await.code, 404);
    let warned = server.apply(&path.replace("Strict", "Warn"), twice).await;
    assert_eq!((warned.code, warned.warnings.len()), (201, 1), "{}", warned.text);
    let sized = "apiVersion: autoscaling/v1\nkind: Scale\nmetadata: {name: s}\nspec: {replicas: 3, replicas: 3}\n";
    server
        .create(SHELVES, r#"{"metadata":{"name":"s"},"spec":{"size":1}}"#)
        .await;
    let scale = format!("{SHELVES}/s/scale?fieldManager=me&fieldValidation=Strict&force=true");
    let refused = server.apply(&scale, sized).await;
    assert_eq!(refused.code, 400, "{}", refused.text);
    assert_eq!(server.get(&format!("{SHELVES}/s")).await.at("/spec/size"), json!(1));
}

#[tokio::test]
async fn a_scale_of_a_former_version_is_not_of_the_expected_one() {
    let server = Server::with_places().await;
    server
        .create(SHELVES, r#"{"metadata":{"name":"s"},"spec":{"size":1}}"#)
        .await;
    for (version, message) in [
        (
            "apps/v1beta1",
            "the API version in the data (apps/v1beta1) does not match the expected API version (autoscaling/v1)",
        ),
        (
            "apps/v1",
            "Scale in version \"v1\" cannot be handled as a Scale: no kind \"Scale\" is registered for version \"apps/v1\" in \
             scheme \"pkg/api/legacyscheme/scheme.go:30\"",
        ),
    ] {
        let scale =
            format!(r#"{{"apiVersion":"{version}","kind":"Scale","metadata":{{"name":"s"}},"spec":{{"replicas":2}}}}"#);
        let refused = server.put(&format!("{SHELVES}/s/scale"), &scale).await;
        assert_eq!(refused.refusal(), (400, message.to_owned()), "{version}");
    }
}

#[tokio::test]
async fn an_update_that_would_create_is_not_about_an_object_with_an_identity() {
    let server = Server::with_places().await;
    let path = "/api/v1/sites/new";
    let other = server.put(path, r#"{"metadata":{"name":"new","uid":"u"}}"#).await;
    let (code, message) = other.refusal();
    assert_eq!(code, 409);
    let why = "Precondition failed: UID in precondition: u, UID in object meta: ";
    assert!(message.ends_with(why), "{message}");
    assert!(message.contains("Key: /registry/sites/new,"), "{message}");
    let dry = server
        .put(
            &format!("{path}?dryRun=All"),
            r#"{"metadata":{"name":"new","uid":"u"}}"#,
        )
        .await;
    assert!(dry.refusal().1.contains("Key: /sites/new,"), "{}", dry.text);
    let applied = r#"{"apiVersion":"v1","kind":"Site","metadata":{"uid":"u"}}"#;
    let missing = server.apply(&format!("{path}?fieldManager=a"), applied).await;
    let why = "Operation cannot be fulfilled on sites \"new\": uid mismatch: the provided object specified uid u, and no \
               existing object was found";
    assert_eq!(missing.refusal(), (409, why.to_owned()));
    assert_eq!(server.put(path, r#"{"metadata":{"name":"new"}}"#).await.code, 201);
}

#[tokio::test]
async fn a_link_to_itself_is_told_in_a_dry_run_and_not_stored() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let (path, body) = (
        format!("{NOTES}/n"),
        r#"{"metadata":{"name":"n","selfLink":"x"},"data":{"a":"b"}}"#,
    );
    let dry = server.put(&format!("{path}?dryRun=All"), body).await;
    assert_eq!(dry.at("/metadata/selfLink"), "x");
    assert_eq!(server.put(&path, body).await.at("/metadata/selfLink"), Value::Null);
}

#[tokio::test]
async fn mutating_plugins_come_before_the_check_of_the_version() {
    let server = Server::with_places().await;
    let old = server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let changed = server.patch("merge", &path, r#"{"data":{"a":"b"}}"#).await;
    assert_eq!(changed.code, 200);
    let version = &old["metadata"]["resourceVersion"];
    let put = |annotations: &str| {
        format!(r#"{{"metadata":{{"name":"n","resourceVersion":{version},"annotations":{annotations}}}}}"#)
    };
    let denied = server.put(&path, &put(r#"{"denied":""}"#)).await;
    assert_eq!(denied.refusal(), (400, "it is denied".to_owned()));
    let stale = server.put(&path, &put("{}")).await;
    assert_eq!(
        (stale.code, stale.at("/reason")),
        (409, json!("Conflict")),
        "{}",
        stale.text
    );
}

#[tokio::test]
async fn types_of_patches_are_compared_to_the_letter() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let route = "415: Unsupported Media Type";
    let handler = "the body of the request was in an unknown format - accepted media types include: \
                   application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, \
                   application/apply-patch+yaml";
    for (media_type, expected) in [
        ("application/merge-patch+json;charset=utf-8", None),
        ("application/merge-patch+json ; charset=utf-8", Some(handler)),
        ("text/plain, application/merge-patch+json", Some(handler)),
        ("text/plain", Some(route)),
    ] {
        let request = Request::patch(format!("{NOTES}/n"))
            .header("content-type", media_type)
            .header("content-length", 2);
        let answer = server.send(request.body(Body::from("{}")).expect("legal")).await;
        match expected {
            None => assert_eq!(answer.code, 200, "{media_type}"),
            Some(message) => assert_eq!(answer.refusal(), (415, message.to_owned()), "{media_type}"),
        }
    }
}

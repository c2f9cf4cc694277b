//! Creation of objects.

use crate::harness::{NOTES, SHELVES, Server, text};

#[tokio::test]
async fn a_created_object_has_what_the_server_decides() {
    let server = Server::with_places().await;
    let body = r#"{"apiVersion":"test.example.com/v1","kind":"Shelf","metadata":{"name":"s","uid":"x","generation":7,
        "creationTimestamp":"2001-01-01T00:00:00Z","selfLink":"/x"},"spec":{"size":3},"status":{"phase":"Done"}}"#;
    let shelf = server.create(SHELVES, body).await;
    assert_eq!(text(&shelf, "/kind"), "Shelf");
    assert_eq!(text(&shelf, "/metadata/namespace"), "a");
    assert_eq!(text(&shelf, "/metadata/uid").len(), 36);
    assert_eq!(shelf["metadata"]["generation"], 1);
    assert_ne!(text(&shelf, "/metadata/creationTimestamp"), "2001-01-01T00:00:00Z");
    assert_eq!(shelf["metadata"].get("selfLink"), None);
    assert_eq!(text(&shelf, "/spec/colour"), "white");
    assert_eq!(shelf["status"], serde_json::json!({}));
    assert_eq!(text(&shelf, "/metadata/managedFields/0/manager"), "unknown");
    let read = server.get(&format!("{SHELVES}/s")).await;
    assert_eq!(read.json(), shelf);
    assert!(
        read.text
            .starts_with(r#"{"kind":"Shelf","apiVersion":"test.example.com/v1","metadata":{"name":"s","#)
    );
    assert!(read.text.ends_with("}\n"));
}

#[tokio::test]
async fn names_are_generated_and_taken_ones_refused() {
    let server = Server::with_places().await;
    let made = server.create(NOTES, r#"{"metadata":{"generateName":"made-"}}"#).await;
    let name = text(&made, "/metadata/name");
    assert_eq!(name.len(), "made-".len() + 5);
    server.note("n", "{}").await;
    let again = server.post(NOTES, r#"{"metadata":{"name":"n"}}"#).await;
    assert_eq!(again.refusal(), (409, "notes \"n\" already exists".to_owned()));
    let both = server
        .post(NOTES, r#"{"metadata":{"name":"n","generateName":"n"}}"#)
        .await;
    let words = "notes \"n\" already exists, the server was not able to generate a unique name for the object";
    assert_eq!(both.refusal(), (409, words.to_owned()));
    let none = server.post(NOTES, "{}").await;
    let words = "Note \"\" is invalid: metadata.name: Required value: name or generateName is required";
    assert_eq!(none.refusal(), (422, words.to_owned()));
}

#[tokio::test]
async fn nothing_is_created_in_a_place_that_is_not_there() {
    let server = Server::with_places().await;
    let missing = server
        .post("/api/v1/namespaces/nowhere/notes", r#"{"metadata":{"name":"n"}}"#)
        .await;
    assert_eq!(missing.refusal(), (404, "namespaces \"nowhere\" not found".to_owned()));
}

#[tokio::test]
async fn errors_of_rules_about_other_objects_come_before_those_of_the_object() {
    let server = Server::with_places().await;
    let shelf = r#"{"metadata":{"name":"s","annotations":{"crowded":""}},"spec":{"colour":"green"}}"#;
    let refused = server.post(SHELVES, shelf).await;
    let causes = refused.at("/details/causes");
    let fields = [0, 1].map(|cause| text(&causes, &format!("/{cause}/field")));
    assert_eq!(
        (refused.code, fields.as_slice()),
        (422, &["spec.size", "spec.colour"].map(str::to_owned)[..])
    );
    let shelf = shelf.replace("green", "red").replace("crowded", "free");
    assert_eq!(server.post(SHELVES, &shelf).await.code, 201);
    let crowded = r#"{"metadata":{"annotations":{"crowded":""}}}"#;
    assert_eq!(server.patch("merge", &format!("{SHELVES}/s"), crowded).await.code, 422);
}

#[tokio::test]
async fn bodies_that_are_no_such_object_are_refused_in_words() {
    let server = Server::with_places().await;
    let unrecognized = "the object provided is unrecognized (must be of type Note): ";
    let cases = [
        ("", format!("{unrecognized}couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)")),
        (
            r#"{"apiVersion":"a/b/c","kind":"Note"}"#,
            format!(r#"{unrecognized}unexpected GroupVersion string: a/b/c ({{"apiVersion":"a/b/c","kind":" ...)"#),
        ),
        (
            r#"{"apiVersion":"v1","kind":"Site"}"#,
            "Site in version \"v1\" cannot be handled as a Note: converting (v1.Site) to (core.Note): unknown conversion"
                .to_owned(),
        ),
        (
            r#"{"apiVersion":"v1","kind":"List"}"#,
            "List in version \"v1\" cannot be handled as a Note: converting (v1.List) to (core.Note): unknown conversion"
                .to_owned(),
        ),
        (
            r#"{"apiVersion":"v1","kind":"Status","status":{}}"#,
            "Status in version \"v1\" cannot be handled as a Note: json: cannot unmarshal object into Go struct field \
             Status.status of type string"
                .to_owned(),
        ),
        (
            r#"{"apiVersion":"v7","kind":"Note"}"#,
            "Note in version \"v7\" cannot be handled as a Note: no kind \"Note\" is registered for version \"v7\" in \
             scheme \"pkg/api/legacyscheme/scheme.go:30\""
                .to_owned(),
        ),
        (
            r#"{"data":{"a":5}}"#,
            "Note in version \"v1\" cannot be handled as a Note: json: cannot unmarshal number into Go struct field \
             Note.data of type string"
                .to_owned(),
        ),
    ];
    for (body, message) in cases {
        assert_eq!(server.post(NOTES, body).await.refusal(), (400, message), "{body}");
    }
    let deep = format!("{{\"data\":{}", "[".repeat(100_000));
    assert_eq!(server.post(NOTES, &deep).await.code, 400);
    let huge = "x".repeat((3 << 20) + 1);
    let limit = "Request entity too large: limit is 3145728".to_owned();
    assert_eq!(server.post(NOTES, &huge).await.refusal(), (413, limit));
}

#[tokio::test]
async fn objects_that_have_no_internal_form_are_refused() {
    let server = Server::with_places().await;
    let site = |storeys: &str| {
        format!(r#"{{"metadata":{{"name":"s","annotations":{{"test.example.com/storeys":"{storeys}"}}}}}}"#)
    };
    let problem = "Site in version \"v1\" cannot be handled as a Site: many is no number";
    let path = "/api/v1/sites/s";
    let refused = server.post("/api/v1/sites", &site("many")).await;
    assert_eq!(refused.refusal(), (400, problem.to_owned()));
    server.create("/api/v1/sites", &site("2")).await;
    assert_eq!(
        server.put(path, &site("many")).await.refusal(),
        (400, problem.to_owned())
    );
    let merged = server.patch("merge", path, &site("many")).await;
    let (code, message) = merged.refusal();
    assert_eq!(code, 422);
    assert!(message.ends_with(": many is no number"), "{message}");
    let strategic = server.patch("strategic-merge", path, &site("many")).await;
    assert_eq!(strategic.refusal(), (500, "many is no number".to_owned()));
    let configuration = site("many").replacen('{', r#"{"apiVersion":"v1","kind":"Site","#, 1);
    let applied = server
        .apply(&format!("{path}?fieldManager=a&force=true"), &configuration)
        .await;
    let problem = "failed to convert to unversioned (/s; /v1, Kind=Site): many is no number";
    assert_eq!(applied.refusal(), (500, problem.to_owned()));
    assert_eq!(server.put(path, &site("3")).await.code, 200);
}

#[tokio::test]
async fn unknown_fields_warn_or_fail_or_pass() {
    let server = Server::with_places().await;
    let body = |name: &str| format!(r#"{{"metadata":{{"name":"{name}"}},"extra":1,"data":{{"a":"1","a":"2"}}}}"#);
    let warned = server.post(NOTES, &body("w")).await;
    assert_eq!(warned.code, 201);
    assert_eq!(
        warned.warnings,
        ["unknown field \"extra\"", "duplicate field \"data.a\""]
    );
    let ignored = server
        .post(&format!("{NOTES}?fieldValidation=Ignore"), &body("i"))
        .await;
    assert_eq!((ignored.code, ignored.warnings.len()), (201, 0));
    let strict = server
        .post(&format!("{NOTES}?fieldValidation=Strict"), &body("s"))
        .await;
    let words = "Note in version \"v1\" cannot be handled as a Note: strict decoding error: unknown field \"extra\", \
                 duplicate field \"data.a\"";
    assert_eq!(strict.refusal(), (400, words.to_owned()));
}

#[tokio::test]
async fn a_dry_run_checks_everything_and_stores_nothing() {
    let server = Server::with_places().await;
    let dry = format!("{NOTES}?dryRun=All");
    let made = server.post(&dry, r#"{"metadata":{"name":"d"}}"#).await;
    assert_eq!(made.code, 201);
    assert_eq!(made.at("/metadata/resourceVersion"), serde_json::Value::Null);
    assert_eq!(server.get(&format!("{NOTES}/d")).await.code, 404);
    server.note("d", "{}").await;
    assert_eq!(server.post(&dry, r#"{"metadata":{"name":"d"}}"#).await.code, 409);
}

#[tokio::test]
async fn rules_are_told_as_causes_and_warnings() {
    let server = Server::with_places().await;
    let bad = server
        .post(
            SHELVES,
            r#"{"metadata":{"name":"s"},"spec":{"colour":"green","size":101}}"#,
        )
        .await;
    assert_eq!(bad.code, 422);
    assert_eq!(bad.at("/details/kind"), "Shelf");
    let fields: Vec<String> = (0..2)
        .map(|i| text(&bad.json(), &format!("/details/causes/{i}/field")))
        .collect();
    assert_eq!(fields, ["spec.colour", "spec.size"]);
    let high = server
        .post(SHELVES, r#"{"metadata":{"name":"s"},"spec":{"size":51}}"#)
        .await;
    assert_eq!((high.code, high.warnings), (201, vec!["mind your head".to_owned()]));
}

#[tokio::test]
async fn versions_and_other_namespaces_do_not_belong_on_new_objects() {
    let server = Server::with_places().await;
    let version = server
        .post(NOTES, r#"{"metadata":{"name":"n","resourceVersion":"5"}}"#)
        .await;
    let words = "resourceVersion should not be set on objects to be created";
    assert_eq!(version.refusal(), (500, words.to_owned()));
    assert_eq!(version.at("/reason"), serde_json::Value::Null);
    assert_eq!(
        server
            .post(NOTES, r#"{"metadata":{"name":"n","resourceVersion":"abc"}}"#)
            .await
            .code,
        201
    );
    let elsewhere = server.post(NOTES, r#"{"metadata":{"name":"m","namespace":"b"}}"#).await;
    let words = "the namespace of the provided object does not match the namespace sent on the request";
    assert_eq!(elsewhere.refusal(), (400, words.to_owned()));
    let placed = server
        .post("/api/v1/sites", r#"{"metadata":{"name":"p","namespace":"b"}}"#)
        .await;
    assert_eq!(
        (placed.code, placed.at("/metadata/namespace")),
        (201, serde_json::Value::Null)
    );
}

#[tokio::test]
async fn another_name_is_generated_after_the_mutating_plugins() {
    let server = Server::start();
    let path = "/api/v1/floors";
    server.create(path, r#"{"metadata":{"name":"10.0.0.1"}}"#).await;
    let (mutating, validating) = server.calls.counts();
    let taken = server.post(path, r#"{"metadata":{"generateName":"10.0.0.1"}}"#).await;
    let words = "floors \"10.0.0.1\" already exists, the server was not able to generate a unique name for the object";
    assert_eq!(taken.refusal(), (409, words.to_owned()));
    assert_eq!(server.calls.counts(), (mutating + 1, validating + 8));
}

#[tokio::test]
async fn only_a_name_that_is_taken_is_tried_again() {
    let server = Server::with_places().await;
    let (_, validating) = server.calls.counts();
    let refused = server
        .apply(
            &format!("{NOTES}/n?fieldManager=m"),
            r#"{"apiVersion":"v1","kind":"Note","metadata":{"name":"n","annotations":{"exists":""}}}"#,
        )
        .await;
    assert_eq!(refused.refusal(), (409, "notes \"another\" already exists".to_owned()));
    let put = r#"{"metadata":{"name":"c","annotations":{"exists":""}}}"#;
    let refused = server.put("/api/v1/sites/c", put).await;
    assert_eq!(refused.refusal(), (409, "sites \"another\" already exists".to_owned()));
    assert_eq!(server.calls.counts().1, validating + 2);
}

//! Deletion of objects.

use std::sync::Arc;

use planesmith_access::authorization::{AlwaysAllow, AlwaysDeny, Authorizer};
use planesmith_machinery::object::Resource as _;
use planesmith_server::stores::StoresOptions;
use planesmith_store::{Draft, Expect, Op, Row};
use serde_json::{Value, json};

use crate::harness::{NOTES, Server, with_feature};
use crate::kinds::Note;

#[tokio::test]
async fn a_plain_object_goes_at_once() {
    let server = Server::with_places().await;
    let note = server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let gone = server.delete(&path, "").await;
    let details = json!({ "name": "n", "kind": "notes", "uid": note["metadata"]["uid"] });
    assert_eq!(
        (gone.code, gone.at("/status"), gone.at("/details")),
        (200, json!("Success"), details)
    );
    assert_eq!(gone.at("/code"), Value::Null);
    assert_eq!(
        server.delete(&path, "").await.refusal(),
        (404, "notes \"n\" not found".to_owned())
    );
}

#[tokio::test]
async fn preconditions_name_the_object_that_is_meant() {
    let server = Server::with_places().await;
    let note = server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let uid = note["metadata"]["uid"].as_str().expect("text");
    let other = server
        .delete(
            &path,
            r#"{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"1"}}"#,
        )
        .await;
    let words = format!(
        "Operation cannot be fulfilled on Note \"n\": the UID in the precondition (1) does not match the UID in record \
         ({uid}). The object might have been deleted and then recreated"
    );
    assert_eq!(other.refusal(), (409, words));
    let version = server
        .delete(&path, r#"{"preconditions":{"resourceVersion":"1"}}"#)
        .await;
    assert_eq!(version.code, 409);
    let kind = server.delete(&path, r#"{"kind":"Note","apiVersion":"v1"}"#).await;
    let words = "no kind \"Note\" is registered for version \"v1\" in scheme \
                 \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:27\"";
    assert_eq!(kind.refusal(), (400, words.to_owned()));
    for (body, words) in [
        (r#"{"apiVersion":"a/b/c"}"#, "unexpected GroupVersion string: a/b/c"),
        (
            r#"{"kind":"CreateOptions","apiVersion":"v1"}"#,
            "converting (v1.CreateOptions) to (v1.DeleteOptions): unknown conversion",
        ),
    ] {
        assert_eq!(server.delete(&path, body).await.refusal(), (400, words.to_owned()));
    }
    let version = note["metadata"]["resourceVersion"].as_str().expect("text");
    let right = format!(r#"{{"preconditions":{{"uid":"{uid}","resourceVersion":"{version}"}}}}"#);
    assert_eq!(server.delete(&path, &right).await.code, 200);
}

#[tokio::test]
async fn kinds_with_a_phase_for_it_have_words_of_their_own_for_preconditions() {
    let server = Server::with_places().await;
    let path = "/api/v1/sites/b";
    let site = server.get(path).await.json();
    for (what, member, actual) in [
        ("UID", "uid", &site["metadata"]["uid"]),
        (
            "ResourceVersion",
            "resourceVersion",
            &site["metadata"]["resourceVersion"],
        ),
    ] {
        let refused = server
            .delete(path, &format!(r#"{{"preconditions":{{"{member}":"1"}}}}"#))
            .await;
        let words = format!(
            "Operation cannot be fulfilled on sites \"b\": Precondition failed: {what} in precondition: 1, {what} in object \
             meta: {}",
            actual.as_str().expect("text")
        );
        assert_eq!(refused.refusal(), (409, words));
    }
}

#[tokio::test]
async fn finalizers_keep_an_object_until_the_last_one_goes() {
    let server = Server::with_places().await;
    let path = format!("{NOTES}/n");
    server
        .create(NOTES, r#"{"metadata":{"name":"n","finalizers":["example.com/x"]}}"#)
        .await;
    let dry = server.delete(&format!("{path}?dryRun=All"), "").await;
    assert_ne!(dry.at("/metadata/deletionTimestamp"), Value::Null);
    assert_eq!(server.get(&path).await.at("/metadata/deletionTimestamp"), Value::Null);
    let marked = server.delete(&path, "").await;
    assert_eq!((marked.code, marked.at("/kind")), (200, json!("Note")));
    assert_eq!(marked.at("/metadata/deletionGracePeriodSeconds"), 0);
    let again = server.delete(&path, "").await;
    assert_eq!(again.version(), marked.version());
    let taken = server.post(NOTES, r#"{"metadata":{"name":"n"}}"#).await;
    assert_eq!(
        taken.refusal(),
        (409, "object is being deleted: notes \"n\" already exists".to_owned())
    );
    let dry = server
        .post(&format!("{NOTES}?dryRun=All"), r#"{"metadata":{"name":"n"}}"#)
        .await;
    assert_eq!(dry.refusal(), taken.refusal(), "a dry run gets the same answer");
    let more = r#"{"metadata":{"finalizers":["example.com/x","example.com/y"]}}"#;
    assert_eq!(server.patch("merge", &path, more).await.code, 422);
    let last = server
        .patch("merge", &path, r#"{"metadata":{"finalizers":null}}"#)
        .await;
    assert_eq!((last.code, last.at("/metadata/finalizers")), (200, Value::Null));
    assert_eq!(server.get(&path).await.code, 404);
}

#[tokio::test]
async fn removal_of_the_last_finalizer_updates_and_deletes_nothing() {
    let server = Server::with_places().await;
    let path = format!("{NOTES}/kept");
    server
        .create(NOTES, r#"{"metadata":{"name":"kept","finalizers":["example.com/x"]}}"#)
        .await;
    assert_eq!(server.delete(&path, "").await.code, 200);
    let last = server
        .patch("merge", &path, r#"{"metadata":{"finalizers":null}}"#)
        .await;
    assert_eq!(last.code, 200, "{}", last.text);
    assert_eq!(server.get(&path).await.code, 404);
    server.create(NOTES, r#"{"metadata":{"name":"kept"}}"#).await;
    assert_eq!(
        server.delete(&path, "").await.code,
        400,
        "plugins are asked about removals"
    );
}

#[tokio::test]
async fn propagation_becomes_finalizers() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let orphan = server.delete(&format!("{path}?propagationPolicy=Orphan"), "").await;
    assert_eq!(orphan.at("/metadata/finalizers"), json!(["orphan"]));
    let foreground = server.delete(&path, r#"{"propagationPolicy":"Foreground"}"#).await;
    assert_eq!(foreground.at("/metadata/finalizers"), json!(["foregroundDeletion"]));
    let old = server.delete(&path, r#"{"orphanDependents":true}"#).await;
    assert_eq!(old.at("/metadata/finalizers"), json!(["orphan"]));
    let background = server.delete(&format!("{path}?propagationPolicy=Background"), "").await;
    assert_eq!(background.at("/status"), "Success");
}

#[tokio::test]
async fn a_server_that_collects_no_garbage_keeps_finalizers_as_they_are() {
    let server = Server::with_options(StoresOptions {
        collects_garbage: false,
        ..StoresOptions::new(Arc::new(AlwaysAllow))
    });
    server.create("/api/v1/sites", r#"{"metadata":{"name":"a"}}"#).await;
    server.note("n", "{}").await;
    let path = format!("{NOTES}/n");
    let deleted = server.delete(&format!("{path}?propagationPolicy=Foreground"), "").await;
    assert_eq!(deleted.at("/status"), "Success");
    assert_eq!(server.get(&path).await.code, 404);
}

#[tokio::test]
async fn a_kind_may_hold_itself_back_until_it_is_finalized() {
    let server = Server::with_places().await;
    let path = "/api/v1/sites/b";
    let marked = server.delete(path, "").await;
    assert_eq!((marked.code, marked.at("/status/phase")), (200, json!("Terminating")));
    assert_eq!(marked.at("/metadata/deletionGracePeriodSeconds"), Value::Null);
    assert_eq!(server.delete(path, "").await.version(), marked.version());
    let late = server
        .post("/api/v1/namespaces/b/notes", r#"{"metadata":{"name":"late"}}"#)
        .await;
    assert_eq!(
        (late.code, late.at("/details/causes/0/reason")),
        (403, json!("NamespaceTerminating"))
    );
    let finalized = server
        .put(&format!("{path}/finalize"), r#"{"metadata":{"name":"b"},"spec":{}}"#)
        .await;
    assert_eq!(
        (finalized.code, finalized.at("/status/phase")),
        (200, json!("Terminating"))
    );
    assert_eq!(server.get(path).await.code, 404);
}

#[tokio::test]
async fn a_kind_with_a_phase_for_it_is_marked_first_though_nothing_holds_it() {
    let server = Server::with_places().await;
    let path = "/api/v1/sites/b";
    let finalized = server
        .put(&format!("{path}/finalize"), r#"{"metadata":{"name":"b"},"spec":{}}"#)
        .await;
    assert_eq!((finalized.code, finalized.at("/spec")), (200, json!({})));
    let marked = server.delete(path, "").await;
    assert_eq!((marked.code, marked.at("/status/phase")), (200, json!("Terminating")));
    assert_eq!(server.get(path).await.version(), marked.version());
    assert_eq!(server.delete(path, "").await.code, 200);
    assert_eq!(server.get(path).await.code, 404);
}

#[tokio::test]
async fn a_collection_goes_as_its_list_says() {
    let server = Server::with_places().await;
    for name in ["c0", "c1", "c2"] {
        server.note(name, &format!(r#"{{"n":"{name}"}}"#)).await;
    }
    let dry = server.delete(&format!("{NOTES}?dryRun=All"), "").await;
    assert_eq!(dry.names(), ["c0", "c1", "c2"]);
    let one = server.delete(&format!("{NOTES}?labelSelector=n%3Dc1"), "").await;
    assert_eq!(
        (one.at("/kind"), one.names()),
        (json!("NoteList"), vec!["c1".to_owned()])
    );
    assert_eq!(server.get(NOTES).await.names(), ["c0", "c2"]);
    let other = server.delete(NOTES, r#"{"preconditions":{"uid":"1"}}"#).await;
    assert_eq!(other.code, 409);
    assert_eq!(server.delete(NOTES, "").await.names(), ["c0", "c2"]);
    assert_eq!(server.delete(NOTES, "").await.names(), [""; 0]);
}

/// A server whose store has a note that cannot be decoded.
async fn with_broken_note(authorizer: Arc<dyn Authorizer>) -> Server {
    let mut server = Server::with_options(StoresOptions::new(authorizer));
    server.features = with_feature("AllowUnsafeMalformedObjectDeletion");
    server.create("/api/v1/sites", r#"{"metadata":{"name":"a"}}"#).await;
    let store = server.stores.resource(Note::RESOURCE);
    let (head, tail) = (&br#"{"metadata":{"name":7,"resourceVersion":""#[..], br#""}}"#);
    let put = Op::Put {
        key: store.key("a", "broken").expect("a key").into(),
        draft: Draft::new([head, tail].concat(), head.len()),
        row: Row::default(),
        expect: Expect::Absent,
        ttl: None,
    };
    store.collection().write(put).await.expect("stored");
    server
}

#[tokio::test]
async fn unreadable_objects_are_deleted_only_on_request_and_with_permission() {
    let path = format!("{NOTES}/broken");
    let unread = r#"{"ignoreStoreReadErrorWithClusterBreakingPotential":true}"#;

    let server = with_broken_note(Arc::new(AlwaysDeny)).await;
    let (code, why) = server.delete(&path, unread).await.refusal();
    let expected = "notes \"broken\" is forbidden: not permitted to do \"unsafe-delete-ignore-read-errors\", reason: ";
    assert!(code == 403 && why.starts_with(expected), "{code} {why}");

    let server = with_broken_note(Arc::new(AlwaysAllow)).await;
    assert_eq!(server.delete(&path, "").await.code, 500, "it cannot be read");
    server.note("whole", "{}").await;
    let (code, why) = server.delete(&format!("{NOTES}/whole"), unread).await.refusal();
    assert!(
        code == 409 && why.ends_with("unsafe deletion is not allowed because the object is decodable from storage"),
        "{code} {why}"
    );
    let both = r#"{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"gracePeriodSeconds":0}"#;
    let field = "DeleteOptions.meta.k8s.io \"\" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true";
    assert_eq!(
        server.delete(&path, both).await.refusal(),
        (422, format!("{field}: cannot be set together with .gracePeriodSeconds"))
    );
    assert_eq!(
        server.delete(NOTES, unread).await.refusal(),
        (
            422,
            format!("{field}: is not allowed with DELETECOLLECTION, try again after removing the option")
        )
    );
    let tried = server.delete(&format!("{path}?dryRun=All"), "").await;
    assert_eq!(tried.code, 500);
    let gone = server.delete(&path, unread).await;
    assert_eq!(
        (gone.code, gone.at("/status"), gone.at("/details")),
        (200, json!("Success"), json!({"name": "broken", "kind": "Note"}))
    );
    let query = format!("{path}?ignoreStoreReadErrorWithClusterBreakingPotential=true");
    assert_eq!(
        server.delete(&query, "").await.refusal(),
        (404, "notes \"broken\" not found".to_owned())
    );
}

#[tokio::test]
async fn a_collection_is_deleted_as_it_was_at_the_revision() {
    let server = Server::with_places().await;
    let first = server.note("a", "{}").await;
    server.note("b", "{}").await;
    let version = first["metadata"]["resourceVersion"].as_str().expect("text");
    let deleted = server.delete(&format!("{NOTES}?resourceVersion={version}"), "").await;
    assert_eq!(deleted.names(), ["a"]);
    assert_eq!(server.get(NOTES).await.names(), ["b"]);
}

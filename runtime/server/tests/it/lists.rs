//! Lists: pages, selectors, revisions.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use crate::harness::{NOTES, SHELVES, Server};

#[tokio::test]
async fn pages_show_the_state_of_the_first_one() {
    let server = Server::with_places().await;
    for number in 1..=7 {
        server.note(&format!("p{number}"), "{}").await;
    }
    let whole = server.get(NOTES).await;
    assert_eq!(whole.names().len(), 7);
    assert!(
        whole
            .text
            .starts_with(r#"{"kind":"NoteList","apiVersion":"v1","metadata":{"resourceVersion":""#)
    );
    assert_eq!(whole.at("/items/0/kind"), Value::Null);
    assert_eq!(whole.at("/metadata/remainingItemCount"), Value::Null);
    let first = server.get(&format!("{NOTES}?limit=3")).await;
    assert_eq!(first.names(), ["p1", "p2", "p3"]);
    assert_eq!(first.at("/metadata/remainingItemCount"), 4);
    let token = first.at("/metadata/continue");
    let token = token.as_str().expect("a token");
    server.delete(&format!("{NOTES}/p5"), "").await;
    server.note("p4a", "{}").await;
    let second = server.get(&format!("{NOTES}?limit=3&continue={token}")).await;
    assert_eq!(second.names(), ["p4", "p5", "p6"]);
    assert_eq!(second.version(), first.version());
    let rest = server.get(&format!("{NOTES}?continue={token}")).await;
    assert_eq!(rest.names(), ["p4", "p5", "p6", "p7"]);
    assert_eq!(rest.at("/metadata/continue"), Value::Null);
    assert_eq!(
        server.get(NOTES).await.names(),
        ["p1", "p2", "p3", "p4", "p4a", "p6", "p7"]
    );
    let both = server.get(&format!("{NOTES}?continue={token}&resourceVersion=3")).await;
    let words = "specifying resource version is not allowed when using continue";
    assert_eq!(both.refusal(), (400, words.to_owned()));
    let any = server
        .get(&format!("{NOTES}?limit=1&continue={token}&resourceVersion=0"))
        .await;
    assert_eq!(any.names().len(), 4);
}

#[tokio::test]
async fn a_page_starts_where_its_token_says() {
    let server = Server::with_places().await;
    for name in ["p1", "p2", "p2a", "p3"] {
        server.note(name, "{}").await;
    }
    for (start, names) in [
        ("p2", &["p2", "p2a", "p3"][..]),
        ("p2\0", &["p2a", "p3"]),
        ("/p2b", &["p3"]),
        ("/", &["p1", "p2", "p2a", "p3"]),
        ("zz", &[]),
    ] {
        let version = server.storage.revision().0;
        let token = json!({ "v": "meta.k8s.io/v1", "rv": version, "start": start });
        let token = URL_SAFE_NO_PAD.encode(token.to_string());
        let page = server.get(&format!("{NOTES}?continue={token}")).await;
        assert_eq!(page.names(), names, "{start:?}");
    }
}

#[tokio::test]
async fn a_list_that_is_too_old_may_go_on_with_the_newest_state() {
    let server = Server::with_places().await;
    for name in ["a", "b", "c"] {
        server.note(name, "{}").await;
    }
    let first = server.get(&format!("{NOTES}?limit=1")).await;
    let token = first.at("/metadata/continue");
    server.note("d", "{}").await;
    server.storage.compact(server.storage.revision());
    while server.storage.oldest() < server.storage.revision() {
        tokio::task::yield_now().await;
    }
    let gone = server
        .get(&format!("{NOTES}?limit=1&continue={}", token.as_str().expect("text")))
        .await;
    assert_eq!((gone.code, gone.at("/reason")), (410, json!("Expired")));
    let token = gone.at("/metadata/continue");
    let newest = server
        .get(&format!("{NOTES}?continue={}", token.as_str().expect("another token")))
        .await;
    assert_eq!(newest.names(), ["b", "c", "d"]);
    let exact = server
        .get(&format!("{NOTES}?resourceVersion=3&resourceVersionMatch=Exact"))
        .await;
    let words = "The resourceVersion for the provided list is too old.";
    assert_eq!(exact.refusal(), (410, words.to_owned()));
}

#[tokio::test]
async fn lists_are_of_the_revision_that_was_asked_for() {
    let server = Server::with_places().await;
    let first = server.note("a", "{}").await;
    let first = first["metadata"]["resourceVersion"].as_str().expect("text");
    server
        .patch("merge", &format!("{NOTES}/a"), r#"{"data":{"n":"2"}}"#)
        .await;
    server.note("b", "{}").await;
    let exact = server
        .get(&format!("{NOTES}?resourceVersion={first}&resourceVersionMatch=Exact"))
        .await;
    assert_eq!(
        (exact.names(), exact.at("/items/0/data/n")),
        (vec!["a".to_owned()], json!("a"))
    );
    assert_eq!(exact.version(), first);
    let newer = server.get(&format!("{NOTES}?resourceVersion={first}")).await;
    assert_eq!(newer.names(), ["a", "b"]);
    let future = server.get(&format!("{NOTES}?resourceVersion=1000000")).await;
    assert_eq!(
        (future.code, future.at("/details/causes/0/reason")),
        (504, json!("ResourceVersionTooLarge"))
    );
    let text = server.get(&format!("{NOTES}?resourceVersion=abc")).await;
    assert_eq!(text.code, 400);
}

#[tokio::test]
async fn selectors_read_labels_and_fields() {
    let server = Server::with_places().await;
    for (name, colour) in [("r1", "red"), ("r2", "red"), ("b1", "blue")] {
        let body =
            format!(r#"{{"metadata":{{"name":"{name}","labels":{{"c":"{colour}"}}}},"spec":{{"colour":"{colour}"}}}}"#);
        server.create(SHELVES, &body).await;
    }
    let names = async |query: &str| server.get(&format!("{SHELVES}?{query}")).await.names();
    assert_eq!(names("labelSelector=c%3Dred").await, ["r1", "r2"]);
    assert_eq!(names("labelSelector=c%21%3Dred").await, ["b1"]);
    assert_eq!(names("fieldSelector=spec.colour%3Dblue").await, ["b1"]);
    assert_eq!(names("fieldSelector=metadata.name%3Dr2").await, ["r2"]);
    let two_names = "fieldSelector=metadata.name%3Dr2,metadata.name%3Dr1";
    assert_eq!(names(two_names).await, [""; 0]);
    let everywhere = format!("/apis/test.example.com/v1/shelves?{two_names}");
    assert_eq!(server.get(&everywhere).await.names(), [""; 0]);
    assert_eq!(names("fieldSelector=metadata.namespace%3Db").await, [""; 0]);
    assert_eq!(
        names("fieldSelector=spec.colour%3Dred,metadata.name%21%3Dr1").await,
        ["r2"]
    );
    let page = server.get(&format!("{SHELVES}?labelSelector=c%3Dred&limit=1")).await;
    assert_eq!(page.at("/metadata/remainingItemCount"), Value::Null);
    assert_ne!(page.at("/metadata/continue"), Value::Null);
    let unknown = server.get(&format!("{SHELVES}?fieldSelector=spec.size%3D1")).await;
    assert_eq!(
        unknown.refusal(),
        (400, "field label not supported: spec.size".to_owned())
    );
    let plain = server.get(&format!("{NOTES}?fieldSelector=data.x%3D1")).await;
    let words = r#""data.x" is not a known field selector: only "metadata.name", "metadata.namespace""#;
    assert_eq!(plain.refusal(), (400, words.to_owned()));
    let everywhere = server
        .get("/apis/test.example.com/v1/shelves?fieldSelector=metadata.name%3Dr1")
        .await;
    assert_eq!(everywhere.names(), ["r1"]);
}

#[tokio::test]
async fn lists_come_in_other_forms_too() {
    let server = Server::with_places().await;
    server.note("n", "{}").await;
    let partial = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
    let none = server
        .get_as(partial, &format!("{NOTES}?labelSelector=no%3Dsuch"))
        .await;
    assert!(none.text.ends_with("\"items\":null}\n"), "{}", none.text);
    let partial = server.get_as(partial, NOTES).await;
    assert_eq!(partial.at("/kind"), "PartialObjectMetadataList");
    assert_eq!(partial.at("/items/0/kind"), "PartialObjectMetadata");
    assert_eq!(partial.at("/items/0/metadata/name"), "n");
    let wrong = server
        .get_as("application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", NOTES)
        .await;
    assert_eq!(wrong.code, 406);
    let protobuf = server.get_as("application/vnd.kubernetes.protobuf", NOTES).await;
    assert!(protobuf.text.starts_with("k8s\0"));
    let yaml = server.get_as("application/yaml", NOTES).await;
    assert!(
        yaml.text
            .starts_with("apiVersion: v1\nitems:\n- data:\n    \"n\": \"n\"\n  metadata:\n"),
        "{}",
        yaml.text
    );
    let pretty = server.get(&format!("{NOTES}?pretty=true")).await;
    assert!(pretty.text.starts_with("{\n  \"kind\": \"NoteList\""));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_taken_while_others_write_add_up_to_one_state() {
    let server = std::sync::Arc::new(Server::with_places().await);
    let writers: Vec<_> = (0..3_u64)
        .map(|writer| {
            let server = std::sync::Arc::clone(&server);
            tokio::spawn(async move {
                let mut random = fastrand::Rng::with_seed(writer);
                for _ in 0..150 {
                    let path = format!("{NOTES}/n{}", random.u8(..40));
                    let name = path.rsplit('/').next().unwrap_or_default();
                    match random.u8(..4) {
                        0 => drop(server.delete(&path, "").await),
                        1 => drop(
                            server
                                .patch("merge", &path, &format!(r#"{{"data":{{"r":"{}"}}}}"#, random.u8(..)))
                                .await,
                        ),
                        _ => drop(
                            server
                                .post(NOTES, &format!(r#"{{"metadata":{{"name":"{name}"}}}}"#))
                                .await,
                        ),
                    }
                }
            })
        })
        .collect();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..40 {
        let first = server.get(&format!("{NOTES}?limit={}", random.u8(1..6))).await;
        let (version, mut page) = (first.version(), first);
        let mut items = Vec::new();
        loop {
            assert_eq!(page.version(), version);
            items.extend(page.at("/items").as_array().cloned().unwrap_or_default());
            let token = page.at("/metadata/continue");
            let Some(token) = token.as_str() else { break };
            page = server
                .get(&format!("{NOTES}?limit={}&continue={token}", random.u8(1..6)))
                .await;
        }
        let whole = server
            .get(&format!("{NOTES}?resourceVersion={version}&resourceVersionMatch=Exact"))
            .await;
        assert_eq!(Value::from(items), whole.at("/items"));
    }
    for writer in writers {
        writer.await.expect("no writer failed");
    }
}

#[tokio::test]
async fn parameters_that_cannot_be_decoded_are_passed_over() {
    let server = Server::with_places().await;
    server.note("a", "{}").await;
    let page = server
        .get(&format!("{NOTES}?continue=%25%25%zz&limit=x;y&labelSelector=%"))
        .await;
    assert_eq!(page.names(), ["a"]);
}

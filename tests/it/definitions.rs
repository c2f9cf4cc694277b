//! Kinds defined at run time: the condition that reports them is not ahead of discovery and routes.

use std::time::Duration;

use bytes::Bytes;
use http::Method;
use planesmith_e2e::{Binary, Home, Watch};
use serde_json::{Value, json};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/// The time limit for establishing a definition.
const TIMEOUT: Duration = Duration::from_secs(60);

fn definition(group: &str) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("kites.{group}")},
        "spec": {
            "group": group, "scope": "Cluster",
            "names": {"plural": "kites", "singular": "kite", "kind": "Kite", "listKind": "KiteList"},
            "versions": [{"name": "v1", "served": true, "storage": true,
                          "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    })
}

/// True if the group is in a list of groups, aggregated or not.
fn lists(groups: &Value, group: &str) -> bool {
    let items = groups["groups"].as_array().or(groups["items"].as_array());
    let mut items = items.expect("a list of groups").iter();
    items.any(|item| item["name"] == group || item["metadata"]["name"] == group)
}

#[tokio::test]
async fn an_established_kind_is_in_every_document() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let mut watch = connection.watch(&format!("{DEFINITIONS}?watch=1")).await.unwrap();
    for number in 0..20 {
        let group = &format!("g{number}.example.com");
        let made = connection.call(Method::POST, DEFINITIONS, definition(group).to_string());
        made.await.unwrap().expect(201).unwrap();
        let established = async {
            loop {
                let event = watch.event().await.unwrap().expect("the watch goes on");
                let conditions = event["object"]["status"]["conditions"].as_array();
                let mut conditions = conditions.into_iter().flatten();
                if event["object"]["spec"]["group"] == *group
                    && conditions.any(|condition| condition["type"] == "Established" && condition["status"] == "True")
                {
                    return;
                }
            }
        };
        tokio::time::timeout(TIMEOUT, established)
            .await
            .expect("it is established");

        for form in ["application/json", AGGREGATED] {
            let groups = connection.get_json_as("/apis", form).await.unwrap();
            assert!(lists(&groups, group), "{group} is missing in {groups}");
            if form == AGGREGATED {
                let items = groups["items"].as_array().into_iter().flatten();
                let own = items.filter(|item| item["metadata"]["name"] == *group);
                let kinds = own.map(|item| &item["versions"][0]["resources"][0]["responseKind"]);
                let expected = json!({"group": group, "version": "v1", "kind": "Kite"});
                assert_eq!(kinds.collect::<Vec<_>>(), [&expected]);
            }
        }
        let resources = connection
            .get_json_as(&format!("/apis/{group}/v1"), "application/json")
            .await
            .unwrap();
        assert_eq!(resources["resources"][0]["name"], "kites");
        let documents = connection.get_json_as("/openapi/v3", "application/json").await.unwrap();
        assert!(
            documents["paths"][format!("apis/{group}/v1")].is_object(),
            "{documents}"
        );
        let kite = json!({"apiVersion": format!("{group}/v1"), "kind": "Kite", "metadata": {"name": "k"}});
        let kites = format!("/apis/{group}/v1/kites");
        let made = connection.call(Method::POST, &kites, kite.to_string()).await;
        made.unwrap().expect(201).unwrap();
    }
}

#[tokio::test]
async fn a_definition_never_shares_the_keys_of_a_built_in_kind() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let mut wanted = definition("apiregistration.k8s.io");
    wanted["metadata"] = json!({
        "name": "apiservices.apiregistration.k8s.io",
        "annotations": {"api-approved.kubernetes.io": "https://github.com/kubernetes/enhancements/pull/1111"},
    });
    wanted["spec"]["names"]["plural"] = json!("apiservices");
    wanted["spec"]["versions"][0]["name"] = json!("v7");
    let mut watch = connection.watch(&format!("{DEFINITIONS}?watch=1")).await.unwrap();
    let made = connection.call(Method::POST, DEFINITIONS, wanted.to_string()).await;
    made.unwrap().expect(201).unwrap();
    let conditions = async {
        loop {
            let mut event = watch.event().await.unwrap().expect("the watch goes on");
            if event["object"]["status"]["conditions"].is_array() {
                return event["object"]["status"]["conditions"].take();
            }
        }
    };
    let conditions = tokio::time::timeout(TIMEOUT, conditions).await.unwrap();
    let status = |name: &str| {
        let mut all = conditions.as_array().unwrap().iter();
        let found = all.find(|condition| condition["type"] == name).unwrap();
        (found["status"].clone(), found["reason"].clone())
    };
    assert_eq!(status("NamesAccepted"), (json!("False"), json!("PluralConflict")));
    assert_eq!(status("Established"), (json!("False"), json!("NotAccepted")));
    let path = "/apis/apiregistration.k8s.io/v7/apiservices";
    assert_eq!(connection.get(path).await.unwrap().status, 404);
}

#[tokio::test]
async fn watches_end_with_what_they_watch() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let group = "ending.example.com";
    let one = format!("{DEFINITIONS}/kites.{group}");
    let mut wanted = definition(group);
    let other = json!({"name": "v2", "served": true, "storage": false,
                       "schema": {"openAPIV3Schema": {"type": "object"}}});
    wanted["spec"]["versions"].as_array_mut().unwrap().push(other);
    let made = connection.call(Method::POST, DEFINITIONS, wanted.to_string()).await;
    made.unwrap().expect(201).unwrap();
    let kites = |version: &str| format!("/apis/{group}/{version}/kites");
    let kite = json!({"apiVersion": format!("{group}/v1"), "kind": "Kite", "metadata": {"name": "k"}});
    let added = async {
        while connection.get(&kites("v2")).await.unwrap().status != 200 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, added).await.expect("it is served");
    connection
        .call(Method::POST, &kites("v1"), kite.to_string())
        .await
        .unwrap()
        .expect(201)
        .unwrap();
    let mut other = connection.watch(&format!("{}?watch=1", kites("v1"))).await.unwrap();
    let mut ends = connection.watch(&format!("{}?watch=1", kites("v2"))).await.unwrap();
    let next = async |watch: &mut Watch| {
        let event = tokio::time::timeout(TIMEOUT, watch.event()).await;
        event
            .expect("there is an event")
            .unwrap()
            .map(|event| event["type"].clone())
    };
    for watch in [&mut other, &mut ends] {
        assert_eq!(next(watch).await, Some(json!("ADDED")));
    }
    let gone = json!([{"op": "replace", "path": "/spec/versions/1/served", "value": false}]);
    let request = connection.request(Method::PATCH, &one);
    let request = request.header("content-type", "application/json-patch+json");
    let patched = connection.finish(request.body(Bytes::from(gone.to_string()).into()).unwrap());
    patched.await.unwrap().expect(200).unwrap();
    assert_eq!(next(&mut ends).await, None, "the version is not served any more");
    assert_eq!(next(&mut other).await, None, "the definition has changed");
    let mut again = connection.watch(&format!("{}?watch=1", kites("v1"))).await.unwrap();
    assert_eq!(next(&mut again).await, Some(json!("ADDED")));
    let deleted = connection.call(Method::DELETE, &one, String::new()).await;
    deleted.unwrap().expect(200).unwrap();
    // The watch reports the deletion of the last object.
    loop {
        match next(&mut again).await {
            Some(kind) if kind == "MODIFIED" => {}
            other => break assert_eq!(other, Some(json!("DELETED"))),
        }
    }
    assert_eq!(next(&mut again).await, None, "the definition is gone");
}

#[tokio::test]
async fn a_change_of_the_schema_is_seen_at_once_and_never_later() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let group = "changing.example.com";
    let one = format!("{DEFINITIONS}/kites.{group}");
    let (kites, kite) = (format!("/apis/{group}/v1/kites"), format!("/apis/{group}/v1/kites/k"));
    let text = json!({"type": "string"});
    let schema = |properties: Value| json!({"type": "object", "properties": {"spec": {"type": "object", "properties": properties}}});
    let mut wanted = definition(group);
    let place = "/spec/versions/0/schema/openAPIV3Schema";
    *wanted.pointer_mut(place).unwrap() = schema(json!({"a": text, "x": text}));
    let made = connection.call(Method::POST, DEFINITIONS, wanted.to_string()).await;
    made.unwrap().expect(201).unwrap();
    let object = json!({"apiVersion": format!("{group}/v1"), "kind": "Kite", "metadata": {"name": "k"},
                        "spec": {"a": "1", "x": "2"}})
    .to_string();
    let created = async {
        while connection
            .call(Method::POST, &kites, object.clone())
            .await
            .unwrap()
            .status
            != 201
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(TIMEOUT, created).await.expect("it is served");
    for (properties, expected) in [
        (json!({"a": text}), json!({"a": "1"})),
        (
            json!({"a": text, "c": {"type": "string", "default": "C"}}),
            json!({"a": "1", "c": "C"}),
        ),
        (json!({"a": text, "c": text, "x": text}), json!({"a": "1", "x": "2"})),
    ] {
        let list = connection.get_json_as(&kites, "application/json").await.unwrap();
        let version = list["metadata"]["resourceVersion"].as_str().unwrap();
        let path = format!("{kites}?watch=1&resourceVersion={version}");
        let mut watch = connection.watch(&path).await.unwrap();
        let change = json!([{"op": "replace", "path": place, "value": schema(properties)}]);
        let request = connection.request(Method::PATCH, &one);
        let request = request.header("content-type", "application/json-patch+json");
        let patched = connection.finish(request.body(Bytes::from(change.to_string()).into()).unwrap());
        patched.await.unwrap().expect(200).unwrap();
        let end = tokio::time::timeout(TIMEOUT, watch.event()).await;
        assert_eq!(end.expect("the watch ends").unwrap(), None, "it ends without an error");
        let mut resumed = connection.watch(&path).await.unwrap();
        let refusal = resumed.event().await.unwrap().expect("an error");
        assert_eq!(refusal["object"]["reason"], "Expired", "{refusal}");
        let list = connection.get_json_as(&kites, "application/json").await.unwrap();
        assert_eq!(list["items"][0]["spec"], expected);
        let read = connection.get_json_as(&kite, "application/json").await.unwrap();
        assert_eq!(read["spec"], expected);
    }
    server.kill().await.unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let read = connection.get_json_as(&kite, "application/json").await.unwrap();
    assert_eq!(read["spec"], json!({"a": "1", "x": "2"}), "as before the start");
}

#[tokio::test]
async fn stored_objects_are_never_missing_while_the_server_starts() {
    const GROUPS: usize = 40;
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &[]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let paths: Vec<String> = (0..GROUPS)
        .map(|number| format!("/apis/g{number}.example.com/v1/kites"))
        .collect();
    for (number, kites) in paths.iter().enumerate() {
        let group = format!("g{number}.example.com");
        let made = connection.call(Method::POST, DEFINITIONS, definition(&group).to_string());
        made.await.unwrap().expect(201).unwrap();
        let kite = json!({"apiVersion": format!("{group}/v1"), "kind": "Kite", "metadata": {"name": "k"}}).to_string();
        let made = async {
            while connection.call(Method::POST, kites, kite.clone()).await.unwrap().status != 201 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, made).await.expect("it is served");
    }
    server.kill().await.unwrap();

    let mut server = home.spawn(&binary, &[]).unwrap();
    let connection = server.listening().await.unwrap();
    loop {
        let is_ready = connection.get("/readyz").await.unwrap().status == 200;
        for kites in &paths {
            for path in [format!("{kites}/k"), kites.clone(), kites.replace("/kites", "")] {
                let answer = connection.get(&path).await.unwrap();
                match answer.status.as_u16() {
                    200 => {}
                    503 if !is_ready => assert!(answer.headers.contains_key("retry-after"), "{path}"),
                    status => panic!("{path}: {status} {}", answer.excerpt()),
                }
            }
        }
        if is_ready {
            return;
        }
    }
}

#[tokio::test]
async fn a_definition_gets_the_names_that_another_one_gives_up() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let named = |plural: &str, kind: &str| {
        let mut named = definition("names.example.com");
        named["metadata"]["name"] = json!(format!("{plural}.names.example.com"));
        named["spec"]["names"] = json!({"plural": plural, "singular": kind.to_lowercase(), "kind": kind,
            "listKind": format!("{kind}List"), "shortNames": ["kt"]});
        named
    };
    let until = async |plural: &str, accepted: &str| {
        let path = format!("{DEFINITIONS}/{plural}.names.example.com");
        let holds = async {
            loop {
                let read = connection.get_json(&path).await.unwrap();
                let conditions = read["status"]["conditions"].as_array();
                let mut conditions = conditions.into_iter().flatten();
                if conditions.any(|condition| condition["type"] == "NamesAccepted" && condition["status"] == accepted) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(TIMEOUT, holds)
            .await
            .expect("the names are decided");
    };
    for (plural, kind, accepted) in [("kites", "Kite", "True"), ("kittens", "Kitten", "False")] {
        let made = connection.call(Method::POST, DEFINITIONS, named(plural, kind).to_string());
        made.await.unwrap().expect(201).unwrap();
        until(plural, accepted).await;
    }
    let path = format!("{DEFINITIONS}/kites.names.example.com");
    let patch = connection.request(Method::PATCH, &path);
    let patch = patch.header("content-type", "application/merge-patch+json");
    let text = Bytes::from_static(br#"{"spec":{"names":{"shortNames":["ki"]}}}"#);
    let patched = connection.finish(patch.body(text.into()).unwrap()).await.unwrap();
    patched.expect(200).unwrap();
    until("kittens", "True").await;
}

#[tokio::test]
async fn patches_without_a_name_are_refused_for_their_type_first() {
    let home = Home::new().unwrap();
    let binary = Binary::Planesmith.path().unwrap();
    let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
    let connection = server.connect().await.unwrap();
    let made = connection.call(Method::POST, DEFINITIONS, definition("patched.example.com").to_string());
    made.await.unwrap().expect(201).unwrap();
    let kites = "/apis/patched.example.com/v1/kites";
    let served = async { while connection.get(kites).await.unwrap().status != 200 {} };
    tokio::time::timeout(TIMEOUT, served).await.expect("the kind is served");
    for (media_type, status, problem) in [
        (
            "application/json",
            415,
            "the body of the request was in an unknown format",
        ),
        ("application/merge-patch+json", 400, "name must be provided"),
    ] {
        let patch = connection
            .request(Method::PATCH, kites)
            .header("content-type", media_type);
        let patch = patch.body(Bytes::from_static(b"{}").into()).unwrap();
        let answer = connection.finish(patch).await.unwrap().expect(status).unwrap();
        let message = answer.json().unwrap()["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with(problem), "{message}");
    }
}

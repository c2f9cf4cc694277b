//! Conversion of custom objects by a webhook.

mod hook;

use std::time::Duration;

use http::{Method, StatusCode};
use planesmith_e2e::{Answer, Binary, Connection, Home, Server};
use serde_json::{Value, json};

use crate::base64::encoded;
use hook::{Hook, SERVICE, Spoil};

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const DEFINITION: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sails.conv.example.com";
const V1: &str = "/apis/conv.example.com/v1/namespaces/default/sails";
const V2: &str = "/apis/conv.example.com/v2/namespaces/default/sails";

/// The time limit for background work, far above the usual duration.
const TIMEOUT: Duration = Duration::from_secs(120);

struct Setting {
    connection: Connection,
    hook: Hook,
    _server: Server,
    _home: Home,
}

/// Returns the definition with the storage version `stored`.
fn definition(client: &Value, stored: &str) -> Value {
    let spec = |properties: Value| {
        json!({"openAPIV3Schema": {"type": "object", "properties": {"spec": {
            "type": "object", "properties": properties}}}})
    };
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "sails.conv.example.com"},
        "spec": {
            "group": "conv.example.com", "scope": "Namespaced",
            "names": {"plural": "sails", "singular": "sail", "kind": "Sail", "listKind": "SailList"},
            "versions": [
                {"name": "v1", "served": true, "storage": stored == "v1",
                 "schema": spec(json!({"size": {"type": "string", "pattern": "^[0-9]+x[0-9]+$"},
                                  "mast": {"type": "string", "default": "oak"}}))},
                {"name": "v2", "served": true, "storage": stored == "v2",
                 "schema": spec(json!({"width": {"type": "integer"}, "height": {"type": "integer", "maximum": 100}}))},
            ],
            "conversion": {"strategy": "Webhook", "webhook": {
                "conversionReviewVersions": ["v1"], "clientConfig": client}},
        },
    })
}

impl Setting {
    /// Creates a server with the kind Sail, stored as v1, and its conversion webhook.
    async fn new() -> Self {
        let home = Home::new().unwrap();
        let binary = Binary::Planesmith.path().unwrap();
        let server = home.start(&binary, &["--storage=memory"]).await.unwrap();
        let connection = server.connect().await.unwrap();
        let hook = Hook::start().await;
        let setting = Self {
            connection,
            hook,
            _server: server,
            _home: home,
        };
        let definition = definition(&setting.by_url(), "v1");
        setting.send(Method::POST, DEFINITIONS, &definition, 201).await;
        setting.until(V1, |answer| answer.status == 200).await;
        setting
    }

    /// Returns a client configuration that refers to the webhook by URL.
    fn by_url(&self) -> Value {
        let url = format!("https://127.0.0.1:{}/convert", self.hook.port);
        json!({"url": url, "caBundle": encoded(self.hook.certificate.as_bytes())})
    }

    async fn call(&self, method: Method, path: &str, body: &Value) -> Answer {
        let body = match body {
            Value::Null => String::new(),
            body => body.to_string(),
        };
        self.connection.call(method, path, body).await.unwrap()
    }

    async fn send(&self, method: Method, path: &str, body: &Value, status: u16) -> Value {
        self.call(method, path, body)
            .await
            .expect(status)
            .unwrap()
            .json()
            .unwrap()
    }

    async fn get(&self, path: &str) -> Value {
        self.send(Method::GET, path, &Value::Null, 200).await
    }

    /// Returns the message of an error response.
    async fn refused(&self, method: Method, path: &str, body: &Value, status: u16) -> String {
        let answer = self.send(method, path, body, status).await;
        answer["message"].as_str().unwrap().to_owned()
    }

    /// Repeats a read until the response matches.
    async fn until(&self, path: &str, wanted: impl Fn(&Answer) -> bool) -> Answer {
        let read = async {
            loop {
                let answer = self.connection.get(path).await.unwrap();
                if wanted(&answer) {
                    return answer;
                }
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(TIMEOUT, read)
            .await
            .expect("the answer comes in time")
    }

    /// Replaces the definition, and waits until the new one is in effect.
    async fn redefine(&self, definition: &Value) {
        let patch = self.connection.request(Method::PATCH, DEFINITION);
        let patch = patch.header("content-type", "application/merge-patch+json");
        let patch = patch
            .body(json!({"spec": definition["spec"]}).to_string().into())
            .unwrap();
        self.connection.finish(patch).await.unwrap().expect(200).unwrap();
    }
}

fn sail(name: &str, version: &str, spec: &Value) -> Value {
    json!({"apiVersion": format!("conv.example.com/{version}"), "kind": "Sail", "metadata": {"name": name}, "spec": spec})
}

#[tokio::test]
async fn objects_lists_and_watches_are_shown_in_each_version() {
    let setting = Setting::new().await;
    let old = sail("a", "v1", &json!({"size": "2x3"}));
    setting.send(Method::POST, V1, &old, 201).await;
    assert!(
        setting.hook.calls().is_empty(),
        "nothing is converted that is stored as it came"
    );

    let shown = setting.get(&format!("{V2}/a")).await;
    assert_eq!(
        (&shown["apiVersion"], &shown["spec"]),
        (&json!("conv.example.com/v2"), &json!({"width": 2, "height": 3}))
    );
    let [call] = &setting.hook.calls()[..] else {
        panic!("one call")
    };
    assert_eq!(call["path"], "/convert?timeout=30s");
    assert_eq!(call["review"]["request"]["desiredAPIVersion"], "conv.example.com/v2");
    assert_eq!(
        call["review"]["request"]["objects"][0]["metadata"]["uid"],
        shown["metadata"]["uid"]
    );

    let mut watch = setting
        .connection
        .watch(&format!("{V2}?watch=1&resourceVersion=0"))
        .await
        .unwrap();
    assert_eq!(
        watch.event().await.unwrap().unwrap()["object"]["spec"],
        json!({"width": 2, "height": 3})
    );
    let new = sail("b", "v2", &json!({"width": 4, "height": 5}));
    let made = setting.send(Method::POST, V2, &new, 201).await;
    assert_eq!(made["spec"], new["spec"]);
    assert_eq!(watch.event().await.unwrap().unwrap()["object"]["spec"], new["spec"]);
    let stored = json!({"size": "4x5", "mast": "oak"});
    assert_eq!(
        setting.get(&format!("{V1}/b")).await["spec"],
        stored,
        "the defaults are those of its version"
    );

    let listed = setting.get(V2).await;
    let specs: Vec<&Value> = listed["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| &item["spec"])
        .collect();
    assert_eq!(
        specs,
        [&json!({"width": 2, "height": 3}), &json!({"width": 4, "height": 5})]
    );
    assert_eq!(setting.get(V1).await["items"][1]["spec"], stored);
}

#[tokio::test]
async fn one_question_is_about_all_objects_of_a_list() {
    let setting = Setting::new().await;
    for name in ["a", "b", "c"] {
        setting
            .send(Method::POST, V1, &sail(name, "v1", &json!({"size": "2x3"})), 201)
            .await;
    }
    let heights = |list: &Value| -> Vec<Value> {
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| item["spec"]["height"].clone()).collect()
    };
    assert_eq!(heights(&setting.get(V2).await), [3, 3, 3]);
    let sizes: Vec<usize> = setting
        .hook
        .calls()
        .iter()
        .map(|call| call["review"]["request"]["objects"].as_array().unwrap().len())
        .collect();
    assert_eq!(sizes, [3]);

    // Cached conversions are reused, for all representations.
    setting
        .send(Method::POST, V1, &sail("d", "v1", &json!({"size": "4x5"})), 201)
        .await;
    assert_eq!(heights(&setting.get(V2).await), [3, 3, 3, 5]);
    let request = setting.connection.request(Method::GET, V2);
    let request = request.header("accept", "application/json;as=Table;v=v1;g=meta.k8s.io");
    let table = setting.connection.finish(request.body(String::new().into()).unwrap());
    let table = table.await.unwrap().expect(200).unwrap().json().unwrap();
    assert_eq!(table["rows"].as_array().unwrap().len(), 4);
    assert_eq!(table["rows"][3]["object"]["metadata"]["name"], "d");
    let calls = setting.hook.calls();
    assert_eq!(calls.len(), 1, "{calls:?}");
    assert_eq!(calls[0]["review"]["request"]["objects"][0]["metadata"]["name"], "d");

    // Reading a single object converts it anew, unless the client accepts cached data.
    setting.hook.spoil(Some(|answer| {
        answer["response"]["convertedObjects"][0]["spec"]["height"] = json!(77);
    }));
    let one = format!("{V2}/a");
    assert_eq!(setting.get(&one).await["spec"]["height"], 77);
    assert_eq!(
        setting.get(&format!("{one}?resourceVersion=0")).await["spec"]["height"],
        3
    );
    setting.hook.spoil(None);
    assert_eq!(setting.get(&one).await["spec"]["height"], 3);

    setting
        .hook
        .spoil(Some(|answer| drop(answer["response"]["convertedObjects"].take())));
    setting
        .send(Method::POST, V1, &sail("e", "v1", &json!({"size": "4x5"})), 201)
        .await;
    let why = setting.refused(Method::GET, V2, &Value::Null, 500).await;
    assert!(why.ends_with("returned 0 objects, expected 1"), "{why}");
}

#[tokio::test]
async fn changes_in_either_version_are_those_of_one_object() {
    let setting = Setting::new().await;
    setting
        .send(Method::POST, V1, &sail("a", "v1", &json!({"size": "2x3"})), 201)
        .await;
    let path = format!("{V2}/a");
    let request = setting.connection.request(Method::PATCH, &path);
    let request = request.header("content-type", "application/merge-patch+json");
    let request = request.body(
        json!({"spec": {"height": 7}, "metadata": {"labels": {"a": "b"}}})
            .to_string()
            .into(),
    );
    setting
        .connection
        .finish(request.unwrap())
        .await
        .unwrap()
        .expect(200)
        .unwrap();
    let old = setting.get(&format!("{V1}/a")).await;
    assert_eq!(
        (&old["spec"]["size"], &old["metadata"]["labels"]["a"]),
        (&json!("2x7"), &json!("b"))
    );

    let applied = sail("a", "v2", &json!({"width": 9}));
    let request = setting
        .connection
        .request(Method::PATCH, &format!("{path}?fieldManager=me&force=true"));
    let request = request.header("content-type", "application/apply-patch+yaml");
    let request = request.body(applied.to_string().into()).unwrap();
    setting.connection.finish(request).await.unwrap().expect(200).unwrap();
    assert_eq!(setting.get(&format!("{V1}/a")).await["spec"]["size"], "9x7");

    // The rules are those of the version of the request.
    let too_high = sail("c", "v2", &json!({"width": 1, "height": 101}));
    let why = setting.refused(Method::POST, V2, &too_high, 422).await;
    assert!(
        why.ends_with("spec.height: Invalid value: 101: spec.height in body should be less than or equal to 100"),
        "{why}"
    );
    setting
        .send(Method::POST, V1, &sail("c", "v1", &json!({"size": "1x101"})), 201)
        .await;
}

#[tokio::test]
async fn wrong_answers_are_reported() {
    let setting = Setting::new().await;
    setting
        .send(Method::POST, V1, &sail("a", "v1", &json!({"size": "2x3"})), 201)
        .await;
    let path = format!("{V2}/a");
    let cases: [(Spoil, &str); 9] = [
        (
            |answer| answer["response"]["result"] = json!({"status": "Failed", "message": "no such sail"}),
            "failed: no such sail",
        ),
        (
            |answer| answer["response"]["result"] = json!({"status": "Failed"}),
            "failed: response.result.status was 'Failed', not 'Success'",
        ),
        (
            |answer| answer["response"]["convertedObjects"] = json!([]),
            "returned 0 objects, expected 1",
        ),
        (
            |answer| answer["response"]["convertedObjects"][0]["apiVersion"] = json!("conv.example.com/v1"),
            "returned invalid object at index 0: invalid groupVersion (expected conv.example.com/v2, received \
             conv.example.com/v1)",
        ),
        (
            |answer| answer["response"]["convertedObjects"][0]["kind"] = json!("Boat"),
            "returned invalid object at index 0: invalid kind (expected Sail, received Boat)",
        ),
        (
            |answer| answer["response"]["convertedObjects"][0]["metadata"]["name"] = json!("b"),
            "returned invalid object: must have the same name: a != b",
        ),
        (
            |answer| answer["response"]["convertedObjects"][0]["metadata"]["labels"] = json!(["a"]),
            "returned invalid metadata: invalid metadata.labels of type []interface {} in converted object",
        ),
        (
            |answer| answer["response"]["convertedObjects"][0]["metadata"]["labels"] = json!({"a b": ""}),
            "returned invalid metadata: metadata.labels: Invalid value: \"a b\": ",
        ),
        (|answer| drop(answer["response"].take()), "failed: no response provided"),
    ];
    for (spoil, expected) in cases {
        setting.hook.spoil(Some(spoil));
        let why = setting.refused(Method::GET, &path, &Value::Null, 500).await;
        let expected = format!("conversion webhook for conv.example.com/v1, Kind=Sail {expected}");
        assert!(why.starts_with(&expected), "{why}\n{expected}");
    }
    setting
        .hook
        .spoil(Some(|answer| answer["response"]["uid"] = json!("other")));
    let why = setting.refused(Method::GET, &path, &Value::Null, 500).await;
    assert!(
        why.contains("failed: expected response.uid=") && why.ends_with(", got \"other\""),
        "{why}"
    );
    setting.hook.refuse(StatusCode::INTERNAL_SERVER_ERROR, "out of cloth");
    let why = setting.refused(Method::GET, &path, &Value::Null, 500).await;
    assert!(
        why.ends_with("an error on the server (\"out of cloth\") has prevented the request from succeeding"),
        "{why}"
    );

    // Labels and annotations can change; changes to other metadata are discarded.
    setting.hook.spoil(Some(|answer| {
        answer["response"]["convertedObjects"][0]["metadata"]["labels"] = json!({"by": "hook"});
        answer["response"]["convertedObjects"][0]["metadata"]["generation"] = json!(77);
    }));
    let shown = setting.get(&path).await;
    assert_eq!(
        (&shown["metadata"]["labels"]["by"], &shown["metadata"]["generation"]),
        (&json!("hook"), &json!(1))
    );
}

#[tokio::test]
async fn a_webhook_is_found_by_its_service_and_only_with_the_right_certificate() {
    let setting = Setting::new().await;
    setting
        .send(Method::POST, V1, &sail("a", "v1", &json!({"size": "2x3"})), 201)
        .await;
    let path = format!("{V2}/a");
    let by_service = |bundle: &str| {
        json!({"caBundle": encoded(bundle.as_bytes()), "service": {
            "namespace": "default", "name": SERVICE, "path": "/by/service", "port": setting.hook.port}})
    };
    setting
        .redefine(&definition(
            &json!({"url": null, "service": by_service("")["service"],
        "caBundle": encoded(setting.hook.certificate.as_bytes())}),
            "v1",
        ))
        .await;
    let missing = |answer: &Answer| answer.excerpt().contains("service \\\"sails\\\" not found");
    setting.until(&path, missing).await;

    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": SERVICE},
                         "spec": {"type": "ExternalName", "externalName": "localhost"}});
    setting
        .send(Method::POST, "/api/v1/namespaces/default/services", &service, 201)
        .await;
    setting.hook.calls();
    assert_eq!(setting.get(&path).await["spec"]["width"], 2);
    assert_eq!(setting.hook.calls()[0]["path"], "/by/service?timeout=30s");

    let other = Hook::start().await;
    setting
        .redefine(&definition(&by_service(&other.certificate), "v1"))
        .await;
    let refused = |answer: &Answer| answer.status == 500 && answer.excerpt().contains("conversion webhook for");
    setting.until(&path, refused).await;
}

#[tokio::test]
async fn a_write_goes_on_while_the_version_of_another_manager_cannot_be_had() {
    let setting = Setting::new().await;
    let send = async |path: &str, kind: &str, body: Value| {
        let request = setting.connection.request(Method::PATCH, path);
        let request = request.header("content-type", kind).body(body.to_string().into());
        setting.connection.finish(request.unwrap()).await.unwrap()
    };
    let apply = "application/apply-patch+yaml";
    let applied = sail("a", "v2", &json!({"width": 2, "height": 3}));
    let made = send(&format!("{V2}/a?fieldManager=two"), apply, applied).await;
    assert_eq!(made.status, 201, "{}", made.excerpt());
    setting.hook.refuse(StatusCode::INTERNAL_SERVER_ERROR, "out of cloth");

    let applied = sail("a", "v1", &json!({"mast": "pine"}));
    let refused = send(&format!("{V1}/a?fieldManager=one"), apply, applied).await;
    assert_eq!(refused.status, 500, "{}", refused.excerpt());
    let why = refused.json().unwrap()["message"].as_str().unwrap().to_owned();
    let expected =
        "conversion webhook for conv.example.com/v1, Kind=Sail failed: an error on the server (\"out of cloth\")";
    assert!(why.starts_with(expected), "{why}");

    let merge = "application/merge-patch+json";
    let changed = send(&format!("{V1}/a"), merge, json!({"spec": {"mast": "pine"}})).await;
    let changed = changed.expect(200).unwrap().json().unwrap();
    assert_eq!(changed["spec"]["mast"], "pine");
    assert_eq!(changed["metadata"]["managedFields"], Value::Null, "{changed}");
}

#[tokio::test]
async fn nothing_waits_for_a_webhook_that_is_gone_to_be_deleted() {
    let setting = Setting::new().await;
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "yard"}});
    setting.send(Method::POST, "/api/v1/namespaces", &namespace, 201).await;
    let yard = V1.replace("default", "yard");
    for (path, name) in [(V1, "a"), (V1, "held"), (&yard, "a")] {
        let mut object = sail(name, "v1", &json!({"size": "2x3"}));
        if name == "held" {
            object["metadata"]["finalizers"] = json!(["conv.example.com/hold"]);
        }
        setting.send(Method::POST, path, &object, 201).await;
    }
    // From now on, the stored objects are not in the storage version.
    let client = setting.by_url();
    setting.redefine(&definition(&client, "v2")).await;
    setting
        .until(DEFINITION, |answer| {
            answer.json().unwrap()["status"]["storedVersions"] == json!(["v1", "v2"])
        })
        .await;
    let Setting {
        connection,
        hook,
        _server,
        _home,
    } = setting;
    hook.stop().await;
    let setting = Setting {
        connection,
        hook: Hook::start().await,
        _server,
        _home,
    };
    setting.until(&format!("{V2}/a"), |answer| answer.status == 500).await;

    setting
        .send(Method::DELETE, &format!("{V1}/a"), &Value::Null, 200)
        .await;
    setting.until(&format!("{V1}/a"), |answer| answer.status == 404).await;
    setting
        .send(Method::DELETE, "/api/v1/namespaces/yard", &Value::Null, 200)
        .await;
    setting
        .until("/api/v1/namespaces/yard", |answer| answer.status == 404)
        .await;

    setting.send(Method::DELETE, DEFINITION, &Value::Null, 200).await;
    let is_marked = |answer: &Answer| {
        answer
            .json()
            .is_ok_and(|object| object["metadata"]["deletionTimestamp"].is_string())
    };
    let held = setting.until(&format!("{V1}/held"), is_marked).await.json().unwrap();
    assert_eq!(held["spec"]["size"], "2x3", "what was stored is still there");
    let mut free = held.clone();
    free["metadata"]["finalizers"] = json!([]);
    setting.call(Method::PUT, &format!("{V1}/held"), &free).await;
    setting.until(DEFINITION, |answer| answer.status == 404).await;
}

#[tokio::test]
async fn objects_of_a_definition_whose_authorities_cannot_be_read_are_refused() {
    let setting = Setting::new().await;
    let bundle = json!({"url": "https://127.0.0.1:1/convert", "caBundle": encoded(b"no certificates")});
    let mut unusable = definition(&bundle, "v1");
    unusable["metadata"]["name"] = json!("sails.broken.example.com");
    unusable["spec"]["group"] = json!("broken.example.com");
    setting.send(Method::POST, DEFINITIONS, &unusable, 201).await;
    let path = "/apis/broken.example.com/v2/namespaces/default/sails";
    let answer = setting.until(path, |answer| answer.status != 404).await;
    let status = answer.expect(500).unwrap().json().unwrap();
    assert_eq!(status["message"], "Internal error occurred: error resolving resource");
    let problem = setting
        .refused(Method::DELETE, &format!("{path}/big"), &Value::Null, 500)
        .await;
    assert_eq!(problem, "Internal error occurred: error resolving resource");
    // No document names the resource, as it is not established; the group is that of its APIServices.
    let document = setting
        .call(Method::GET, "/apis/broken.example.com/v2", &Value::Null)
        .await;
    document.expect(404).unwrap();
    let broken = format!("{DEFINITIONS}/sails.broken.example.com");
    let patch = setting.connection.request(Method::PATCH, &broken);
    let patch = patch.header("content-type", "application/merge-patch+json");
    let repaired = json!({"spec": {"conversion": {"webhook": {"clientConfig": setting.by_url()}}}});
    let patch = patch.body(repaired.to_string().into()).unwrap();
    setting.connection.finish(patch).await.unwrap().expect(200).unwrap();
    setting.until(path, |answer| answer.status == 200).await;
}

use std::borrow::Cow;

use planesmith_dynamic::custom::CustomKind;
use planesmith_machinery::resource::ResourceTable;
use serde_json::json;

use super::*;
use http::StatusCode;
use planesmith_control_plane::service_resolver::NoServices;
use planesmith_server::proxy::{BufferedResponse, Dialer};

static V2_TABLE: ResourceTable = ResourceTable {
    api_version: Cow::Borrowed("shop.example.com/v2"),
    kind: Cow::Borrowed("Order"),
    ..CustomKind::FACTS
};
static V2: ResourceFacts = ResourceFacts::declared(&V2_TABLE);

fn stored() -> Value {
    json!({"apiVersion": "shop.example.com/v1", "kind": "Order", "metadata": {
        "name": "a", "uid": "u", "generation": 3, "labels": {"old": "1"}, "finalizers": ["x/y"],
    }})
}

#[test]
fn only_labels_and_annotations_of_the_metadata_come_from_the_webhook() {
    let mut answer = json!({"apiVersion": V2.api_version, "kind": "Order", "metadata": {
        "name": "a", "uid": "u", "generation": 9, "labels": {"new": "2"},
    }});
    assert_eq!(metadata::check(&stored(), &answer, &V2), Ok(()));
    assert_eq!(metadata::restore(&stored(), &mut answer), Ok(()));
    let expected = json!({"name": "a", "uid": "u", "generation": 3, "labels": {"new": "2"}, "finalizers": ["x/y"]});
    assert_eq!(answer["metadata"], expected);
}

#[test]
fn another_object_is_no_answer() {
    let problem = |patch: fn(&mut Value)| {
        let mut answer = stored();
        answer["apiVersion"] = json!(V2.api_version);
        patch(&mut answer);
        metadata::check(&stored(), &answer, &V2).unwrap_err()
    };
    assert_eq!(
        problem(|object| object["metadata"]["name"] = json!("b")),
        ": must have the same name: a != b"
    );
    assert_eq!(
        problem(|object| object["metadata"]["uid"] = json!("")),
        ": must have the same UID: u != "
    );
    assert_eq!(
        problem(|object| object["apiVersion"] = json!("v9")),
        " at index 0: invalid groupVersion (expected shop.example.com/v2, received v9)"
    );
}

#[test]
fn reviews_are_answered_in_their_version() {
    let review = Review::new(&["v9".to_owned(), "v1".to_owned()], &[stored()], &V2.api_version).unwrap();
    let uid = review.document()["request"]["uid"].clone();
    let answer = |response: Value| {
        review
            .answer(json!({"apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response}))
    };
    let success = json!({"uid": uid, "result": {"status": "Success"}, "convertedObjects": [{}]});
    assert_eq!(answer(success), Ok(vec![json!({})]));
    let refused = json!({"uid": uid, "result": {"status": "Failed", "message": "no such color"}});
    assert_eq!(answer(refused), Err("no such color".to_owned()));
    assert!(answer(json!({"uid": "other", "result": {"status": "Success"}})).is_err());
    assert!(Review::new(&["v9".to_owned()], &[stored()], &V2.api_version).is_err());
}

#[test]
fn an_answer_that_is_no_review_is_explained() {
    let response = |body: &'static str| BufferedResponse {
        status: StatusCode::OK,
        headers: HeaderMap::new(),
        body: body.into(),
    };
    assert_eq!(
        Review::read(&response("hello")),
        Err(
            "couldn't get version/kind; json parse error: invalid character 'h' looking for beginning of value"
                .to_owned()
        )
    );
    assert_eq!(
        Review::read(&response("")),
        Err("0-length response with status code: 200 and content type: application/json".to_owned())
    );
    let review = Review::new(&["v1".to_owned()], &[stored()], &V2.api_version).unwrap();
    let got = |answer: Value| review.answer(answer).unwrap_err();
    assert!(got(json!({})).ends_with("got /, Kind="));
    assert!(got(json!({"apiVersion": "v1", "kind": "Pod"})).ends_with("got /v1, Kind=Pod"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_webhook_that_does_not_answer_is_not_waited_for_forever() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("https://{}/convert", listener.local_addr().unwrap());
    let link = client_tls_by(&[]).map(|tls| Link::new(tls, TIMEOUT, &Dialer::default()));
    let client = WebhookClient {
        location: Location::Url(url.clone()),
        link: link.map_err(|error| error.to_string()),
        timeout: Duration::from_millis(20),
        reviews: vec!["v1".to_owned()],
        services: Arc::new(NoServices),
    };
    let webhook = Webhook {
        client: Arc::new(client),
        dedicated: DedicatedRuntime::default(),
    };
    // The system completes the connection before it is accepted; nothing answers on it.
    let why = webhook.convert(vec![stored()], &V2).await.unwrap_err();
    drop(listener);
    let expected = "conversion webhook for shop.example.com/v1, Kind=Order failed";
    assert_eq!(
        why,
        format!("{expected}: Post \"{url}?timeout=30s\": context deadline exceeded")
    );
}

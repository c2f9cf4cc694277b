//! Events as text.

use super::*;

fn event<'a>(
    user: &'a UserInfo,
    object: ObjectReference<'a>,
    annotations: &'a BTreeMap<Cow<'static, str>, String>,
) -> Event<'a> {
    Event {
        level: Level::RequestResponse,
        id: "an-id",
        stage: Stage::ResponseComplete,
        uri: "/api/v1/namespaces/a/pods?x=<y>",
        verb: "create",
        user: Some(user),
        impersonated: None,
        impersonation_constraint: "",
        source_ips: &[],
        user_agent: "kubectl",
        object: Some(object),
        status: br#"{"metadata":{},"code":201}"#,
        code: 201,
        request_object: br#"{"kind":"Pod"}"#,
        response_object: &[],
        received: "2026-01-02T03:04:05.000006Z".parse().unwrap(),
        at: "2026-01-02T03:04:05.100000Z".parse().unwrap(),
        annotations,
        json: OnceCell::new(),
    }
}

fn ann() -> UserInfo {
    UserInfo {
        name: "ann".to_owned(),
        groups: vec!["dev".to_owned(), "ops".to_owned()],
        extra: BTreeMap::from([("scopes".to_owned(), vec!["view".to_owned()])]),
        ..UserInfo::default()
    }
}

fn pods() -> ObjectReference<'static> {
    ObjectReference {
        resource: "pods",
        namespace: "a",
        version: "v1",
        ..ObjectReference::default()
    }
}

#[test]
fn fields_have_the_order_and_the_escapes_of_go() {
    let (user, object) = (ann(), pods());
    let annotations = BTreeMap::from([("b".into(), String::new()), ("a".into(), "1".to_owned())]);
    let event = event(&user, object, &annotations);
    let expected = concat!(
        r#"{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"RequestResponse","auditID":"an-id","#,
        r#""stage":"ResponseComplete","requestURI":"/api/v1/namespaces/a/pods?x=\u003cy\u003e","verb":"create","#,
        r#""user":{"username":"ann","groups":["dev","ops"],"extra":{"scopes":["view"]}},"userAgent":"kubectl","#,
        r#""objectRef":{"resource":"pods","namespace":"a","apiVersion":"v1"},"responseStatus":{"metadata":{},"code":201},"#,
        r#""requestObject":{"kind":"Pod"},"requestReceivedTimestamp":"2026-01-02T03:04:05.000006Z","#,
        r#""stageTimestamp":"2026-01-02T03:04:05.100000Z","annotations":{"a":"1","b":""}}"#
    );
    assert_eq!(String::from_utf8_lossy(event.to_json()), expected);
}

#[test]
fn refused_credentials_have_no_user() {
    let (user, object, annotations) = (ann(), pods(), BTreeMap::new());
    let event = Event {
        user: None,
        ..event(&user, object, &annotations)
    };
    let json: serde_json::Value = serde_json::from_slice(event.to_json()).unwrap();
    assert_eq!(json["user"], serde_json::json!({}));
    assert!(json.get("annotations").is_none());
}

#[test]
fn requests_without_a_verb_have_an_empty_one() {
    let (user, object, annotations) = (ann(), pods(), BTreeMap::new());
    let event = Event {
        verb: "",
        ..event(&user, object, &annotations)
    };
    let json: serde_json::Value = serde_json::from_slice(event.to_json()).unwrap();
    assert_eq!(json["verb"], "");
}

#[test]
fn a_truncated_event_says_so_and_has_no_objects() {
    let (user, object, annotations) = (ann(), pods(), BTreeMap::new());
    let event = event(&user, object, &annotations);
    let json: serde_json::Value = serde_json::from_slice(&event.to_truncated_json()).unwrap();
    assert!(json.get("requestObject").is_none());
    assert_eq!(
        json["annotations"],
        serde_json::json!({"audit.k8s.io/truncated": "true"})
    );
}

#[test]
fn the_older_format_is_one_line() {
    let (user, object, annotations) = (ann(), pods(), BTreeMap::new());
    let line = legacy_line(&event(&user, object, &annotations));
    let expected = concat!(
        r#"2026-01-02T03:04:05.000006Z AUDIT: id="an-id" stage="ResponseComplete" ip="<unknown>" method="create" user="ann" "#,
        r#"groups="\"dev\",\"ops\"" as="<self>" asgroups="<lookup>" user-agent="kubectl" namespace="a" "#,
        r#"uri="/api/v1/namespaces/a/pods?x=<y>" response="201""#
    );
    assert_eq!(line, expected);
}

#[test]
fn two_events_of_a_request_are_encoded_as_each_alone() {
    let (user, object) = (ann(), pods());
    let (before, after) = (BTreeMap::new(), BTreeMap::from([("a".into(), "1".to_owned())]));
    let address: IpAddr = [192, 0, 2, 1].into();
    let addresses = [address, "2001:db8::1".parse().unwrap()];
    let arrival = || {
        let event = event(&user, object, &before);
        Event {
            stage: Stage::RequestReceived,
            at: event.received,
            status: &[],
            request_object: &[],
            source_ips: &addresses,
            ..event
        }
    };
    let end = || Event {
        impersonated: Some(&user),
        impersonation_constraint: "impersonate:user-info",
        source_ips: &addresses,
        ..event(&user, object, &after)
    };
    let (first, second) = (arrival(), end());
    encode_both(&first, &second);
    for (together, alone) in [(first, arrival()), (second, end())] {
        assert_eq!(together.json.get(), Some(alone.to_json()));
    }
    let json: serde_json::Value = serde_json::from_slice(end().to_json()).unwrap();
    assert_eq!(json["sourceIPs"], serde_json::json!(["192.0.2.1", "2001:db8::1"]));
}

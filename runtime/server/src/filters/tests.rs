use http::HeaderValue;
use planesmith_access::audit::{Annotations, Level};
use planesmith_access::authentication::{Chain, RequestHeaderAuthenticator, RequestHeaders};
use planesmith_access::authorization::{Attributes, AuthorizationOutcome, Authorizer, Decision, Reason, Selectors};
use planesmith_machinery::clock::SystemClock;

use super::*;
use crate::metrics::SharedMetrics;
use crate::response::Relayed;
use crate::shutdown::Stop;

fn exchange(request: http::request::Builder) -> Exchange {
    let (_stop, shutdown) = Stop::new();
    let request = request.body(Body::empty()).unwrap();
    Exchange::new(request, Arc::new(Connection::default()), shutdown, Features::default())
}

#[test]
fn clients_cannot_send_the_headers_of_a_proxy() {
    let proxies = RequestHeaders {
        username: vec!["X-User".to_owned(), "X-Remote-User".to_owned()],
        extra_prefix: vec!["X-More-".to_owned()],
        ..RequestHeaders::default()
    };
    let proxies = RequestHeaderAuthenticator::new(proxies, Arc::new(SystemClock));
    let chain = Chain::new(vec![Box::new(proxies)], true);
    let filter = Authentication::new(Arc::new(chain), SharedMetrics::default());
    let mut request = Request::get("/apis/shop.example.com/v1/orders");
    for name in ["x-user", "x-more-scopes", "x-remote-user", "x-remote-group", "accept"] {
        request = request.header(name, "admin");
    }
    let mut exchange = exchange(request);
    assert!(matches!(filter.enter(&mut exchange), Step::Continue));
    let left: Vec<_> = exchange.request.headers().keys().collect();
    assert_eq!(left, ["accept"]);
}

/// An authorizer that cannot decide.
#[derive(Debug)]
struct Lost;

impl Authorizer for Lost {
    fn authorize(&self, _: &Attributes<'_>) -> AuthorizationOutcome {
        Decision::Failed("nobody <answers>".to_owned()).into()
    }
}

/// Records the requests that it authorizes.
#[derive(Debug, Default)]
struct Curious(std::sync::Mutex<Vec<String>>);

impl Authorizer for Curious {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let Selectors { field, label } = attributes.selectors;
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {field:?} {label:?}", attributes.verb));
        AuthorizationOutcome::ALLOW
    }
}

#[test]
fn selectors_are_part_of_the_attributes() {
    let curious = Arc::new(Curious::default());
    let read = ReadInfo;
    let filter = Authorization::new(Arc::clone(&curious) as Arc<dyn Authorizer>, SharedMetrics::default());
    let query = "fieldSelector=spec.nodeName%3Da&labelSelector=app+in+(x)";
    for uri in [
        format!("/api/v1/pods?{query}"),
        format!("/api/v1/namespaces/n/pods/p?{query}"),
    ] {
        let mut exchange = exchange(Request::get(uri));
        assert!(matches!(read.enter(&mut exchange), Step::Continue));
        assert!(matches!(filter.enter(&mut exchange), Step::Continue));
    }
    let seen = curious.0.lock().unwrap();
    assert_eq!(*seen, [r#"list "spec.nodeName=a" "app in (x)""#, r#"get "" """#]);
}

#[tokio::test]
async fn a_failed_authorizer_is_a_server_error() {
    let filter = Authorization::new(Arc::new(Lost), SharedMetrics::default());
    let mut exchange = exchange(Request::get("/apis?a=1&b=2"));
    let Step::Answer(answer) = filter.enter(&mut exchange) else {
        panic!("the request goes on");
    };
    assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
    let body = axum::body::to_bytes(answer.into_body(), 1 << 10).await.unwrap();
    assert_eq!(
        body,
        "Internal Server Error: \"/apis?a=1&amp;b=2\": nobody &lt;answers&gt;\n"
    );
}

/// Decides after the task was scheduled again.
#[derive(Debug)]
struct Distant(Decision);

impl Authorizer for Distant {
    fn authorize(&self, _: &Attributes<'_>) -> AuthorizationOutcome {
        let decision = self.0.clone();
        AuthorizationOutcome::pending(async {
            tokio::task::yield_now().await;
            decision
        })
    }
}

#[tokio::test]
async fn the_decision_of_another_server_is_awaited_and_recorded() {
    let decide = async |decision| {
        let filter = Authorization::new(Arc::new(Distant(decision)), SharedMetrics::default());
        let mut exchange = exchange(Request::get("/apis"));
        exchange.ctx.annotations = Annotations::recorded(Level::Metadata);
        let Step::Wait(wait) = filter.enter(&mut exchange) else {
            panic!("the decision is not awaited");
        };
        let status = wait.await.map(|answer| answer.status());
        let annotations = exchange.ctx.annotations.collected();
        let annotations: Vec<_> = annotations
            .iter()
            .map(|(key, value)| format!("{key}={value}"))
            .collect();
        (status, annotations.join(" "))
    };
    let allow = "authorization.k8s.io/decision=allow authorization.k8s.io/reason=by rule";
    assert_eq!(
        decide(Decision::Allow(Reason::new("by ", Arc::new("rule")))).await,
        (None, allow.to_owned())
    );
    let forbid = "authorization.k8s.io/decision=forbid authorization.k8s.io/reason=never";
    let refused = (Some(StatusCode::FORBIDDEN), forbid.to_owned());
    assert_eq!(decide(Decision::Deny("never".to_owned())).await, refused);
    let failed = (
        Some(StatusCode::INTERNAL_SERVER_ERROR),
        "authorization.k8s.io/reason=internal error".to_owned(),
    );
    assert_eq!(decide(Decision::Failed("unreachable".to_owned())).await, failed);
}

#[test]
fn the_headers_of_this_server_precede_those_of_a_relayed_answer() {
    let (id, cache) = (AssignId, CacheControl);
    let left = |relayed: bool| {
        let mut exchange = exchange(Request::get("/apis").header("audit-id", "own"));
        assert!(matches!(id.enter(&mut exchange), Step::Continue));
        let mut response = Response::default();
        for (name, value) in [
            ("audit-id", "theirs"),
            ("cache-control", "max-age=1"),
            ("cache-control", "public"),
        ] {
            response.headers_mut().append(name, HeaderValue::from_static(value));
        }
        if relayed {
            response.extensions_mut().insert(Relayed);
        }
        id.leave(&mut exchange, &mut response);
        cache.leave(&mut exchange, &mut response);
        ["audit-id", "cache-control"].map(|name| {
            let values = response.headers().get_all(name).iter();
            values
                .map(|value| value.to_str().unwrap().to_owned())
                .collect::<Vec<_>>()
                .join("; ")
        })
    };
    assert_eq!(left(true), ["own; theirs", "no-cache, private; max-age=1; public"]);
    assert_eq!(left(false), ["own", "max-age=1; public"]);
}

//! The filter with a flow control that decides as the test says.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use futures_util::FutureExt as _;
use http::header::{HeaderValue, RETRY_AFTER};
use http::{HeaderMap, Method, Request, StatusCode};
use planesmith_access::user::UserInfo;
use planesmith_machinery::feature::Features;
use tokio::sync::oneshot;

use super::*;
use crate::connection::Connection;
use crate::filters::ReadInfo;
use crate::flow_control::{DebugPage, Flow, Rejected, RequestedWork};
use crate::in_flight::WatchStart;
use crate::metrics::FlowReadings;
use crate::request::Context;
use crate::shutdown::Stop;

type Decision = Result<Option<oneshot::Receiver<()>>, Rejected>;

/// Returns the decision that the test sets, and counts the seats in use.
#[derive(Debug, Default)]
struct ScriptedControl {
    decision: Mutex<Option<Decision>>,
    decisions: AtomicUsize,
    seats: Arc<AtomicUsize>,
}

/// A seat that counts.
#[derive(Debug)]
struct Seat(Arc<AtomicUsize>);

impl Seat {
    fn occupied(seats: &Arc<AtomicUsize>) -> Box<dyn Seats> {
        seats.fetch_add(1, Ordering::Relaxed);
        Box::new(Self(Arc::clone(seats)))
    }
}

impl Seats for Seat {
    fn keep_while_sending(&mut self, user: &Arc<UserInfo>) -> bool {
        user.name != "greedy"
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl FlowControl for ScriptedControl {
    fn begin(&self, _: &Context, _: &RequestedWork) -> Begun {
        self.decisions.fetch_add(1, Ordering::Relaxed);
        let turn = match self.decision.lock().unwrap().take() {
            None | Some(Ok(None)) => Turn::Runs(Seat::occupied(&self.seats)),
            Some(Err(rejected)) => Turn::Rejected(rejected),
            Some(Ok(Some(given))) => {
                let seats = Arc::clone(&self.seats);
                Turn::Waits(Box::pin(async move {
                    given.await.map_err(|_| Rejected { retry_after: 7 })?;
                    Ok(Seat::occupied(&seats))
                }))
            }
        };
        let flow = Flow {
            schema: Some(HeaderValue::from_static("schema")),
            level: None,
        };
        Begun { flow, turn }
    }

    fn page(&self, _: DebugPage) -> String {
        String::new()
    }

    fn readings(&self) -> FlowReadings {
        FlowReadings::default()
    }
}

fn exchange(path: &str) -> Exchange {
    let (_stop, shutdown) = Stop::new();
    let request = Request::builder()
        .method(Method::GET)
        .uri(path)
        .body(Body::empty())
        .unwrap();
    let mut exchange = Exchange::new(request, Arc::new(Connection::default()), shutdown, Features::default());
    assert!(matches!(ReadInfo.enter(&mut exchange), Step::Continue));
    exchange
}

struct Filtered {
    control: Arc<ScriptedControl>,
    filter: FlowControlled,
}

impl Filtered {
    fn new() -> Self {
        let scripted = Arc::new(ScriptedControl::default());
        let control = Arc::clone(&scripted) as Arc<dyn FlowControl>;
        let filter = FlowControlled::new(control, InFlight::unlimited(), ServedObjects::default());
        Self {
            control: scripted,
            filter,
        }
    }

    fn decide(&self, decision: Decision) {
        *self.control.decision.lock().unwrap() = Some(decision);
    }

    fn seats(&self) -> usize {
        self.control.seats.load(Ordering::Relaxed)
    }
}

#[test]
fn a_request_keeps_its_seats_until_it_is_answered() {
    let filtered = Filtered::new();
    let mut running = exchange("/api/v1/pods");
    assert!(matches!(filtered.filter.enter(&mut running), Step::Continue));
    assert_eq!((filtered.seats(), filtered.filter.in_flight.counts()), (1, (1, 0)));
    let mut headers = HeaderMap::new();
    std::mem::take(&mut running.flow).add_to(&mut headers);
    assert_eq!(headers["x-kubernetes-pf-flowschema-uid"], "schema");
    assert_eq!(headers.len(), 1, "the level has no UID");
    let permit = running.permit.take().expect("a permit");
    let user = |name: &str| {
        Arc::new(UserInfo {
            name: name.to_owned(),
            ..UserInfo::default()
        })
    };
    let permit = permit.sending_to(&user("ann"));
    assert_eq!(filtered.seats(), 1);
    drop(permit);
    assert_eq!((filtered.seats(), filtered.filter.in_flight.counts()), (0, (0, 0)));
    assert!(matches!(filtered.filter.enter(&mut running), Step::Continue));
    let permit = running.permit.take().expect("a permit").sending_to(&user("greedy"));
    assert_eq!(filtered.seats(), 0, "unread answers of the user have too many");
    drop(permit);
}

#[test]
fn a_waiting_request_goes_on_with_its_seats_or_is_rejected() {
    let filtered = Filtered::new();
    for is_given in [true, false] {
        let (give, given) = oneshot::channel();
        filtered.decide(Ok(Some(given)));
        let mut waiting = exchange("/api/v1/pods");
        let Step::Wait(mut answer) = filtered.filter.enter(&mut waiting) else {
            panic!("there are no seats");
        };
        assert!(answer.as_mut().now_or_never().is_none());
        if is_given {
            give.send(()).unwrap();
        } else {
            drop(give);
        }
        let refused = answer.as_mut().now_or_never().expect("decided");
        drop(answer);
        assert_eq!(filtered.seats(), usize::from(is_given));
        let retry = refused.map(|answer| answer.headers()[RETRY_AFTER].clone());
        assert_eq!(retry, (!is_given).then(|| HeaderValue::from_static("7")));
        let steps = waiting.ctx.timeline.steps();
        assert!(steps.iter().any(|step| step.stage == Stage::FlowControl));
    }
}

#[test]
fn a_rejected_request_is_answered_429() {
    let filtered = Filtered::new();
    filtered.decide(Err(Rejected { retry_after: 2 }));
    let mut rejected = exchange("/api/v1/pods");
    let Step::Answer(answer) = filtered.filter.enter(&mut rejected) else {
        panic!("it is rejected");
    };
    assert_eq!(
        (answer.status(), &answer.headers()[RETRY_AFTER]),
        (StatusCode::TOO_MANY_REQUESTS, &"2".parse().unwrap())
    );
    assert!(rejected.permit.is_none());
}

#[test]
fn a_watch_has_seats_until_it_has_started_and_other_long_requests_have_none() {
    let filtered = Filtered::new();
    let mut watch = exchange("/api/v1/pods?watch=1");
    assert!(matches!(filtered.filter.enter(&mut watch), Step::Continue));
    assert!(watch.permit.is_none() && filtered.seats() == 1);
    watch
        .request
        .extensions()
        .get::<WatchStart>()
        .expect("its seats")
        .finish();
    assert_eq!(filtered.seats(), 0);
    let mut refused = exchange("/api/v1/pods?watch=1");
    assert!(matches!(filtered.filter.enter(&mut refused), Step::Continue));
    drop(refused);
    assert_eq!(filtered.seats(), 0, "seats go with the request");
    let mut stream = exchange("/api/v1/namespaces/n/pods/p/log?follow=1");
    assert!(matches!(filtered.filter.enter(&mut stream), Step::Continue));
    assert_eq!(filtered.control.decisions.load(Ordering::Relaxed), 2);
}

//! Requests and the stored configuration.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use http::Method;
use planesmith_access::user::UserInfo;
use planesmith_api_defs::flowcontrol::v1::{FlowSchema, PriorityLevelConfiguration};
use planesmith_server::flow_control::{Begun, DebugPage, FlowControl as _, RequestedWork, Turn};
use planesmith_server::in_flight::Seats;
use planesmith_server::request::{Context, RequestInfo};
use planesmith_server::shutdown::Stop;
use planesmith_server::stores::Stores;
use serde_json::json;

use super::PriorityAndFairness;
use crate::memory_stores::{put, stores};

fn memory() -> Stores {
    stores(|scheme| {
        scheme.add::<FlowSchema>();
        scheme.add::<PriorityLevelConfiguration>();
    })
}

async fn put_level(stores: &Stores, name: &str, shares: u32, queuing: serde_json::Value) {
    let kind = if queuing.is_null() { "Reject" } else { "Queue" };
    let level = json!({
        "metadata": {"name": name, "uid": format!("uid-of-{name}")},
        "spec": {"type": "Limited", "limited": {
            "nominalConcurrencyShares": shares,
            "lendablePercent": 0,
            "limitResponse": {"type": kind, "queuing": queuing},
        }},
    });
    put::<PriorityLevelConfiguration>(stores, &level).await;
}

async fn put_schema(stores: &Stores, name: &str, level: &str, precedence: i32, user: &str) {
    let schema = json!({
        "metadata": {"name": name, "uid": format!("uid-of-{name}")},
        "spec": {
            "priorityLevelConfiguration": {"name": level},
            "matchingPrecedence": precedence,
            "distinguisherMethod": {"type": "ByUser"},
            "rules": [{
                "subjects": [{"kind": "User", "user": {"name": user}}],
                "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}],
            }],
        },
    });
    put::<FlowSchema>(stores, &schema).await;
}

fn context(user: &str) -> Context {
    let (_stop, shutdown) = Stop::new();
    let mut ctx = Context::unknown(shutdown);
    ctx.info = Arc::new(RequestInfo::new(&Method::GET, &"/path".parse().unwrap()));
    ctx.user = Arc::new(UserInfo {
        name: user.to_owned(),
        groups: vec!["system:authenticated".to_owned()],
        ..UserInfo::default()
    });
    ctx
}

fn begin(control: &PriorityAndFairness, user: &str) -> Begun {
    control.begin(&context(user), &RequestedWork::Small)
}

#[track_caller]
fn runs(begun: Begun) -> Box<dyn Seats> {
    match begun.turn {
        Turn::Runs(seats) => seats,
        turn => panic!("{turn:?}"),
    }
}

fn schema(control: &PriorityAndFairness, user: &str) -> String {
    let begun = begin(control, user);
    begun
        .flow
        .schema
        .map_or_else(String::new, |uid| uid.to_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_acknowledged_write_counts_from_the_next_request_on() {
    let stores = memory();
    let control = PriorityAndFairness::new(&stores, [10, 0], true);
    assert_eq!(schema(&control, "ann"), "", "the last schema is not stored");
    put_level(&stores, "high", 30, json!(null)).await;
    put_schema(&stores, "second", "high", 20, "ann").await;
    assert_eq!(schema(&control, "ann"), "uid-of-second");
    put_schema(&stores, "first", "high", 10, "ann").await;
    assert_eq!(schema(&control, "ann"), "uid-of-first");
    put_schema(&stores, "first", "there-is-no-such-level", 10, "ann").await;
    assert_eq!(
        schema(&control, "ann"),
        "uid-of-second",
        "a schema without its level does not count"
    );
    assert_eq!(schema(&control, "bob"), "");
}

#[tokio::test]
async fn levels_keep_their_requests_when_the_configuration_changes() {
    let stores = memory();
    put_level(&stores, "small", 1, json!(null)).await;
    put_schema(&stores, "ann", "small", 10, "ann").await;
    // Of six seats the catch-all level has five.
    let control = PriorityAndFairness::new(&stores, [6, 0], true);
    let running = runs(begin(&control, "ann"));
    let refused = begin(&control, "ann");
    assert!(matches!(refused.turn, Turn::Rejected(rejected) if rejected.retry_after == 1));
    put_schema(&stores, "bob", "small", 20, "bob").await;
    assert!(
        matches!(begin(&control, "bob").turn, Turn::Rejected(_)),
        "it has the same level"
    );
    put_level(&stores, "small", 40, json!(null)).await;
    let more = runs(begin(&control, "bob"));
    drop((running, more));
    let page = control.page(DebugPage::PriorityLevels);
    let line = page.lines().find(|line| line.starts_with("small,")).expect("the level");
    let cells: Vec<_> = line.split(',').map(str::trim).collect();
    assert_eq!(cells, ["small", "0", "true", "false", "0", "0", "2", "2", "0", "0"]);
}

#[tokio::test]
async fn requests_wait_in_queues_and_not_for_ever() {
    let stores = memory();
    let queuing = json!({"queues": 2, "handSize": 1, "queueLengthLimit": 5});
    put_level(&stores, "small", 1, queuing).await;
    put_schema(&stores, "ann", "small", 10, "ann").await;
    let control = PriorityAndFairness::new(&stores, [6, 0], true);
    let running = runs(begin(&control, "ann"));
    let Turn::Waits(mut waiting) = begin(&control, "ann").turn else {
        panic!("no seat is free");
    };
    assert!((&mut waiting).now_or_never().is_none());
    let page = control.page(DebugPage::Requests { with_details: true });
    let rows: Vec<Vec<_>> = page
        .lines()
        .map(|line| line.split(',').map(str::trim).collect())
        .collect();
    assert_eq!(rows.len(), 3, "{page}");
    assert_eq!(
        (rows[1][3], rows[1][4], rows[1][9]),
        ("0", "ann", "0001-01-01T00:00:00Z"),
        "{page}"
    );
    assert_eq!((rows[2][3], rows[2][10], rows[2][12]), ("-1", "ann", "/path"), "{page}");
    drop(running);
    let running = waiting.await.expect("the seat is free");
    let mut ctx = context("ann");
    // It waits for a quarter of that.
    ctx.deadline = Some(Instant::now() + Duration::from_millis(80));
    let Turn::Waits(late) = control.begin(&ctx, &RequestedWork::Small).turn else {
        panic!("no seat is free");
    };
    assert_eq!(late.await.expect_err("it waited too long").retry_after, 1);
    drop(running);
    let queues = control.page(DebugPage::Queues);
    assert!(
        queues.lines().filter(|line| line.starts_with("small,")).count() == 2,
        "{queues}"
    );
}

#[tokio::test]
async fn unread_answers_of_one_user_keep_half_of_a_level() {
    let stores = memory();
    put_level(&stores, "four", 4, json!(null)).await;
    put_schema(&stores, "all", "four", 10, "*").await;
    let control = PriorityAndFairness::new(&stores, [9, 0], true);
    let reader = |name: &str| context(name).user;
    let mut answers: Vec<_> = (0..4).map(|_| runs(begin(&control, "ann"))).collect();
    let kept: Vec<_> = answers
        .iter_mut()
        .map(|seats| seats.keep_while_sending(&reader("ann")))
        .collect();
    assert_eq!(kept, [true, true, false, false]);
    answers.truncate(2);
    let mut other = runs(begin(&control, "bob"));
    assert!(other.keep_while_sending(&reader("bob")));
    answers.clear();
    let mut again = runs(begin(&control, "ann"));
    assert!(again.keep_while_sending(&reader("ann")));
}

#[tokio::test]
async fn a_request_that_matches_nothing_has_the_catch_all_schema() {
    let stores = memory();
    put_level(&stores, "high", 30, json!(null)).await;
    // The schema with the highest number, and the last name of those.
    put_schema(&stores, "last", "high", 10_000, "ann").await;
    let control = PriorityAndFairness::new(&stores, [10, 0], true);
    let mut ctx = context("nobody");
    ctx.user = Arc::new(UserInfo {
        name: "nobody".to_owned(),
        ..UserInfo::default()
    });
    let begun = control.begin(&ctx, &RequestedWork::Small);
    assert!(begun.flow.schema.is_none() && matches!(begun.turn, Turn::Runs(_)));
}

#[tokio::test]
async fn a_level_without_schemas_remembers_its_unread_answers() {
    let stores = memory();
    put_level(&stores, "four", 4, json!(null)).await;
    put_schema(&stores, "all", "four", 10, "*").await;
    let control = PriorityAndFairness::new(&stores, [9, 0], true);
    let reader = context("ann").user;
    let mut unread: Vec<_> = (0..2).map(|_| runs(begin(&control, "ann"))).collect();
    assert!(unread.iter_mut().all(|seats| seats.keep_while_sending(&reader)));
    put_schema(&stores, "all", "catch-all", 10, "*").await;
    drop(runs(begin(&control, "ann")));
    put_schema(&stores, "all", "four", 10, "*").await;
    let mut third = runs(begin(&control, "ann"));
    assert!(
        !third.keep_while_sending(&reader),
        "two unread answers have half of the level"
    );
    drop((unread, third));
    let mut next = runs(begin(&control, "ann"));
    assert!(next.keep_while_sending(&reader));
}

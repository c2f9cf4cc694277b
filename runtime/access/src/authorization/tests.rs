use std::sync::mpsc;
use std::task::{Context, Poll, Waker};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use super::{
    AllowedPaths, AlwaysDeny, Attributes, AuthorizationOutcome, Authorizer, Decision, PrivilegedGroup, Target, Union,
};
use crate::user::UserInfo;

/// The decision of authorizers of which none waits.
fn decided(verdict: AuthorizationOutcome) -> Decision {
    match verdict {
        AuthorizationOutcome::Ready(decision) => decision,
        AuthorizationOutcome::Pending(_) => panic!("the decision is not available at once"),
    }
}

fn decide(group: &str, path: &str) -> Decision {
    let authorizers: Vec<Box<dyn Authorizer>> = vec![
        Box::new(PrivilegedGroup),
        Box::new(AllowedPaths::new(["/healthz", "/public/*"])),
        Box::new(AlwaysDeny),
    ];
    let user = UserInfo {
        name: "u".to_owned(),
        groups: vec![group.to_owned()],
        ..UserInfo::default()
    };
    decided(Union::new(authorizers).authorize(&Attributes::new(&user, "get", Target::Path(path))))
}

#[test]
fn the_first_opinion_decides() {
    assert_eq!(decide("system:masters", "/metrics"), Decision::ALLOW);
    assert_eq!(decide("g", "/healthz"), Decision::ALLOW);
    assert_eq!(decide("g", "/public/a/b"), Decision::ALLOW);
}

#[test]
fn without_an_opinion_the_reasons_are_kept() {
    let nobody = Decision::NoOpinion("Everything is forbidden.".to_owned());
    assert_eq!(decide("g", "/healthz/ping"), nobody);
    assert_eq!(decide("g", "/publi"), nobody);
}

/// Fails to decide, with a reason.
#[derive(Debug)]
struct Lost(&'static str);

impl Authorizer for Lost {
    fn authorize(&self, _: &Attributes<'_>) -> AuthorizationOutcome {
        Decision::Failed(self.0.to_owned()).into()
    }
}

#[test]
fn a_failed_evaluation_is_no_refusal() {
    let user = UserInfo::default();
    let decide = |authorizers| {
        let action = Attributes::new(&user, "get", Target::Path("/healthz"));
        decided(Union::new(authorizers).authorize(&action))
    };
    let failed = Decision::Failed("nobody answers".to_owned());
    let lost = || Box::new(Lost("nobody answers"));
    assert_eq!(decide(vec![lost(), Box::new(AlwaysDeny)]), failed);
    assert_eq!(decide(vec![lost(), lost()]), failed);
    let several = decide(vec![lost(), Box::new(Lost("nobody is there")), lost()]);
    assert_eq!(
        several,
        Decision::Failed("[nobody answers, nobody is there]".to_owned())
    );
    let allowed: Box<dyn Authorizer> = Box::new(AllowedPaths::new(["/healthz"]));
    assert_eq!(decide(vec![lost(), allowed]), Decision::ALLOW);
}

/// Decides when the test sends the decision.
#[derive(Debug)]
struct Remote(std::sync::Mutex<Option<mpsc::Receiver<Decision>>>);

impl Remote {
    fn pair() -> (mpsc::Sender<Decision>, Box<dyn Authorizer>) {
        let (sender, receiver) = mpsc::channel();
        (sender, Box::new(Self(std::sync::Mutex::new(Some(receiver)))))
    }
}

impl Authorizer for Remote {
    fn authorize(&self, _: &Attributes<'_>) -> AuthorizationOutcome {
        let answers = self.0.lock().unwrap().take().expect("asked once");
        AuthorizationOutcome::pending(std::future::poll_fn(move |_| match answers.try_recv() {
            Ok(decision) => Poll::Ready(decision),
            Err(_) => Poll::Pending,
        }))
    }
}

#[test]
fn later_authorizers_are_asked_after_the_answer_of_a_remote_one() {
    let user = UserInfo::default();
    let action = Attributes::new(&user, "get", Target::Path("/healthz"));
    let poll = |verdict: &mut BoxFuture<'static, Decision>| {
        let mut context = Context::from_waker(Waker::noop());
        verdict.as_mut().poll(&mut context)
    };
    let all = |later: Box<dyn Authorizer>| {
        let (answer, remote) = Remote::pair();
        let verdict = Union::new(vec![Box::new(PrivilegedGroup), remote, later]).authorize(&action);
        (answer, verdict.wait().boxed())
    };
    let (answer, mut verdict) = all(Box::new(AllowedPaths::new(["/healthz"])));
    assert!(poll(&mut verdict).is_pending());
    answer.send(Decision::Failed("unreachable".to_owned())).unwrap();
    assert_eq!(poll(&mut verdict), Poll::Ready(Decision::ALLOW));
    let (answer, mut verdict) = all(Box::new(AlwaysDeny));
    answer.send(Decision::NoOpinion("not mine".to_owned())).unwrap();
    let both = "not mine\nEverything is forbidden.".to_owned();
    assert_eq!(poll(&mut verdict), Poll::Ready(Decision::NoOpinion(both)));
    let (answer, mut verdict) = all(Box::new(AllowedPaths::new(["/healthz"])));
    answer.send(Decision::Deny("never".to_owned())).unwrap();
    assert_eq!(poll(&mut verdict), Poll::Ready(Decision::Deny("never".to_owned())));
}

use std::future::poll_fn;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::task::Poll;

use futures_util::FutureExt as _;
use http::HeaderMap;
use http::header::{AUTHORIZATION, HeaderValue};
use planesmith_machinery::clock::SystemClock;

use super::*;
use crate::authentication::Chain;

fn user(name: &str) -> TokenVerdict {
    TokenVerdict::Valid(TokenUser::of(Arc::new(UserInfo {
        name: name.to_owned(),
        ..UserInfo::default()
    })))
}

/// Asks another server about each token; the test answers.
#[derive(Debug, Default)]
struct Elsewhere {
    verifications: AtomicU64,
    calls: Arc<AtomicU64>,
    answer: Arc<Mutex<Option<TokenVerdict>>>,
}

impl Elsewhere {
    fn answer(&self, verdict: TokenVerdict) {
        *self.answer.lock().unwrap() = Some(verdict);
    }
}

impl TokenAuthenticator for Elsewhere {
    fn authenticate_token(&self, _: &str, _: &[String]) -> Outcome<'static, TokenVerdict> {
        self.verifications.fetch_add(1, Ordering::Relaxed);
        let (calls, answer) = (Arc::clone(&self.calls), Arc::clone(&self.answer));
        Outcome::pending(async move {
            calls.fetch_add(1, Ordering::Relaxed);
            // The test polls again after it has answered.
            poll_fn(|_| match answer.lock().unwrap().take() {
                Some(verdict) => Poll::Ready(verdict),
                None => Poll::Pending,
            })
            .await
        })
    }
}

/// Gives one verdict about each token.
#[derive(Debug)]
struct Always(TokenVerdict);

impl TokenAuthenticator for Always {
    fn authenticate_token(&self, _: &str, _: &[String]) -> Outcome<'static, TokenVerdict> {
        Outcome::Ready(self.0.clone())
    }
}

#[derive(Debug, Default)]
struct Seen {
    counts: [AtomicU64; 3],
    waiting: [AtomicI64; 2],
}

impl TokenCacheObserver for Seen {
    fn requested(&self, hit: bool, _: Duration) {
        self.counts[usize::from(hit)].fetch_add(1, Ordering::Relaxed);
    }

    fn verified(&self, _: bool) {
        self.counts[2].fetch_add(1, Ordering::Relaxed);
    }

    fn waiting(&self, leads: bool, change: i64) {
        self.waiting[usize::from(leads)].fetch_add(change, Ordering::Relaxed);
    }
}

fn api() -> Vec<String> {
    vec!["api".to_owned()]
}

fn name(review: Option<TokenReview>) -> String {
    match review {
        Some(Ok(found)) => format!("{} {:?}", found.identity.name, found.audiences),
        Some(Err(reason)) => reason,
        None => "pending".to_owned(),
    }
}

#[test]
fn equal_tokens_wait_for_one_answer_of_another_server() {
    let (elsewhere, seen) = (Arc::new(Elsewhere::default()), Arc::new(Seen::default()));
    let tokens = BearerTokens::new(vec![Box::new(Arc::clone(&elsewhere))], api(), Arc::new(SystemClock));
    let tokens = tokens.observed_by(Arc::clone(&seen) as Arc<dyn TokenCacheObserver>);
    let audiences = api();
    let mut reviews = [(); 3].map(|()| Box::pin(tokens.review("t", &audiences).wait()));
    for review in &mut reviews {
        assert_eq!(review.now_or_never(), None);
    }
    let counted = |count: &AtomicU64| count.load(Ordering::Relaxed);
    assert_eq!(counted(&elsewhere.calls), 1);
    assert_eq!(counted(&elsewhere.verifications), 3, "once for each request");
    let waiting = || [0, 1].map(|index| seen.waiting[index].load(Ordering::Relaxed));
    assert_eq!(waiting(), [2, 1]);
    elsewhere.answer(user("carol"));
    for review in &mut reviews {
        assert_eq!(name(review.now_or_never()), r#"carol ["api"]"#);
    }
    assert_eq!(waiting(), [0, 0]);
    assert_eq!(
        name(tokens.review("t", &audiences).ready()),
        r#"carol ["api"]"#,
        "it is cached"
    );
    let counts = [0, 1, 2].map(|index| seen.counts[index].load(Ordering::Relaxed));
    assert_eq!(counts, [3, 1, 3]);
}

#[test]
fn later_authenticators_are_asked_after_an_answer() {
    let elsewhere = Arc::new(Elsewhere::default());
    let review = |answer: TokenVerdict, last: TokenVerdict| {
        let first = Always(TokenVerdict::Invalid("first".to_owned()));
        let authenticators: Vec<Box<dyn TokenAuthenticator>> = vec![
            Box::new(first),
            Box::new(Arc::clone(&elsewhere)),
            Box::new(Always(last)),
        ];
        let tokens = BearerTokens::new(authenticators, api(), Arc::new(SystemClock));
        let audiences = api();
        let mut review = Box::pin(tokens.review("t", &audiences).wait());
        assert_eq!(review.as_mut().now_or_never(), None);
        elsewhere.answer(answer);
        name(review.now_or_never())
    };
    let refused = |why: &str| TokenVerdict::Invalid(why.to_owned());
    assert_eq!(review(user("carol"), user("dave")), r#"carol ["api"]"#);
    assert_eq!(review(TokenVerdict::NoOpinion, user("dave")), r#"dave ["api"]"#);
    assert_eq!(
        review(refused("second"), refused("first")),
        "[invalid bearer token, first, second]"
    );
    assert_eq!(
        review(TokenVerdict::NoOpinion, TokenVerdict::NoOpinion),
        "[invalid bearer token, first]"
    );
}

#[test]
fn an_invalid_token_is_verified_each_time() {
    let seen = Arc::new(Seen::default());
    let tokens = BearerTokens::new(Vec::new(), api(), Arc::new(SystemClock));
    let tokens = tokens.observed_by(Arc::clone(&seen) as Arc<dyn TokenCacheObserver>);
    for _ in 0..3 {
        assert_eq!(name(tokens.review("t", &api()).ready()), "invalid bearer token");
    }
    let counts = [0, 1, 2].map(|index| seen.counts[index].load(Ordering::Relaxed));
    assert_eq!(counts, [3, 0, 3]);
}

#[test]
fn a_chain_waits_for_tokens_and_then_decides() {
    let elsewhere = Arc::new(Elsewhere::default());
    let tokens = Arc::new(BearerTokens::new(
        vec![Box::new(Arc::clone(&elsewhere))],
        api(),
        Arc::new(SystemClock),
    ));
    let chain = Chain::new(vec![Box::new(tokens)], true);
    let headers: HeaderMap = [(AUTHORIZATION, HeaderValue::from_static("Bearer t"))]
        .into_iter()
        .collect();
    let credentials = Credentials {
        headers: &headers,
        path: "/",
        certificate: None,
        proxy: None,
    };
    for (answer, name) in [(TokenVerdict::NoOpinion, None), (user("carol"), Some("carol"))] {
        let mut verdict = Box::pin(chain.authenticate(&credentials).wait());
        assert_eq!(verdict.as_mut().now_or_never(), None);
        elsewhere.answer(answer);
        match (verdict.now_or_never(), name) {
            (Some(AuthenticationResult::User(user)), Some(name)) => assert_eq!(user.name, name),
            (Some(AuthenticationResult::Invalid(_)), None) => {}
            (other, _) => panic!("{other:?}"),
        }
    }
}

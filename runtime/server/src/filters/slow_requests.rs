//! One log line for each slow request, with the durations of its stages.

use std::time::{Duration, Instant};

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use http_body::Body as _;

use super::{Exchange, Filter, Step};
use crate::body::{AtEnd, Watched};
use crate::request::{Context, Stage};

/// Larger answers may wait for their client, so their end counts.
const LARGE: u64 = 64 << 10;

/// Logs each request that takes longer than a threshold, with the durations of its stages. Costs other requests two
/// clock reads.
///
/// Long-running requests are never logged.
#[derive(Clone, Copy, Debug)]
pub struct SlowRequests {
    /// Duration from which on a request is logged.
    pub threshold: Duration,
}

impl Filter for SlowRequests {
    fn name(&self) -> &'static str {
        "slow-requests"
    }

    fn enter<'a>(&'a self, _: &'a mut Exchange) -> Step<'a> {
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let ctx = &exchange.ctx;
        if ctx.info.is_long_running() {
            return;
        }
        let code = response.status();
        if response.body().size_hint().exact().is_some_and(|size| size <= LARGE) {
            return log(ctx, code, self.threshold);
        }
        let report = Report {
            threshold: self.threshold,
            code,
            ctx: ctx.clone(),
            sending: Instant::now(),
        };
        let body = std::mem::take(response.body_mut());
        *response.body_mut() = Body::new(Watched::new(body, report));
    }
}

/// Data about an answered request, to be logged when its body was sent.
struct Report {
    threshold: Duration,
    code: StatusCode,
    ctx: Context,
    sending: Instant,
}

impl AtEnd for Report {
    fn at_end(self) {
        self.ctx.timeline.add(Stage::Send, self.sending, self.sending.elapsed());
        log(&self.ctx, self.code, self.threshold);
    }
}

/// Logs the stages of a request that took longer than `threshold`.
fn log(ctx: &Context, code: StatusCode, threshold: Duration) {
    let took = ctx.received.elapsed();
    if took < threshold {
        return;
    }
    let spent = ctx.timeline.to_string();
    tracing::info!(
        target: "slow",
        verb = %ctx.info.verb_text(),
        path = ctx.info.path(),
        code = code.as_u16(),
        user = ctx.user.name,
        agent = ctx.agent.as_ref().and_then(|agent| agent.to_str().ok()),
        peer = ctx.peer.map(tracing::field::display),
        request = %ctx.id,
        millis = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        // Not all of a request's work belongs to a stage.
        spent = (!spent.is_empty()).then(|| tracing::field::display(spent)),
        "slow request",
    );
}

#[cfg(test)]
mod tests {
    use std::fmt::{Debug, Write as _};
    use std::sync::{Arc, Mutex};

    use http::{Method, Uri};
    use tracing::field::{Field, Visit};
    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;
    use crate::request::RequestInfo;
    use crate::shutdown::Stop;

    /// Collects the log's output.
    #[derive(Clone, Default)]
    struct Book(Arc<Mutex<String>>);

    impl Visit for Book {
        fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
            let _ = write!(self.0.lock().unwrap(), " {field}={value:?}");
        }
    }

    impl Subscriber for Book {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            event.record(&mut self.clone());
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    #[test]
    fn a_slow_request_says_where_its_time_went() {
        let (_stop, shutdown) = Stop::new();
        let ctx = Context {
            info: Arc::new(RequestInfo::new(&Method::GET, &Uri::from_static("/api/v1/pods"))),
            ..Context::unknown(shutdown)
        };
        ctx.timeline.add(Stage::Sync, ctx.received, Duration::from_millis(700));
        let book = Book::default();
        tracing::subscriber::with_default(book.clone(), || {
            log(&ctx, StatusCode::OK, Duration::from_secs(3600));
            log(&ctx, StatusCode::OK, Duration::ZERO);
        });
        let logged = book.0.lock().unwrap();
        assert_eq!(logged.matches("slow request").count(), 1, "{logged}");
        for part in [
            "verb=list",
            "code=200",
            &format!("request={}", ctx.id),
            "spent=sync 700ms",
        ] {
            assert!(logged.contains(part), "{part} in {logged}");
        }
    }
}

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use axum::response::Response;
use http::{HeaderMap, Method, Request, StatusCode, Uri};
use http_body_util::BodyExt;
use planesmith_machinery::clock::ManualClock;
use planesmith_store::log::{Batch, Loader, Log, LogError, Opened};
use planesmith_store::{Alarm, AlarmKind, Alarms, Revision, Storage, StorageOptions};

use super::{LabelSource, Metrics, MetricsSelection, RequestMetrics};
use crate::chain::SharedTable;
use crate::in_flight::{Heartbeats, InFlight, InFlightLimits};
use crate::request::{Context, RequestInfo};
use crate::routes::RouteTable;
use crate::shutdown::Stop;

fn observe(metrics: &RequestMetrics, method: &Method, uri: &'static str, code: u16) {
    let uri = Uri::from_static(uri);
    let (_stop, shutdown) = Stop::new();
    let ctx = Context {
        info: Arc::new(RequestInfo::new(method, &uri)),
        ..Context::unknown(shutdown)
    };
    let marks = LabelSource::from_request(method, uri.query(), &HeaderMap::new());
    let code = StatusCode::from_u16(code).unwrap();
    if ctx.info.is_long_running() {
        drop(metrics.begin(&ctx, marks, code));
    } else {
        metrics.observe(&ctx, marks, code, Some(2_000));
    }
}

fn answer(metrics: &Metrics, request: http::request::Builder) -> Response {
    let (request, ()) = request.body(()).unwrap().into_parts();
    let in_flight = InFlight::new(InFlightLimits::default(), Heartbeats::default());
    metrics.answer(&request, &in_flight, None)
}

async fn rendered(metrics: &Metrics) -> String {
    let response = answer(metrics, Request::get("/metrics"));
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

#[tokio::test]
async fn a_reset_begins_counters_again() {
    let metrics = Metrics::default();
    let total = |text: &str| text.matches("apiserver_request_total{").count();
    observe(metrics.requests(), &Method::GET, "/version", 200);
    assert_eq!(total(&rendered(&metrics).await), 1);
    let reset = answer(&metrics, Request::delete("/metrics"));
    assert_eq!(reset.headers()["content-type"], "text/plain; charset=utf-8");
    assert_eq!(
        &reset.into_body().collect().await.unwrap().to_bytes()[..],
        b"metrics reset\n"
    );
    assert_eq!(total(&rendered(&metrics).await), 0);
    observe(metrics.requests(), &Method::GET, "/version", 200);
    assert!(rendered(&metrics).await.contains("code=\"200\""));
}

#[tokio::test]
async fn invented_names_are_no_labels() {
    let metrics = Metrics::default();
    metrics
        .requests()
        .set_inventory(Box::new(vec![SharedTable::new(RouteTable::default())]));
    for path in ["/apis/g/v1/a1", "/apis/g/v1/a2", "/api/v1/namespaces/n/b/c"] {
        observe(metrics.requests(), &Method::GET, path, 404);
    }
    observe(metrics.requests(), &Method::GET, "/version", 200);
    observe(metrics.requests(), &Method::GET, "/livez", 429);
    observe(metrics.requests(), &Method::POST, "/apis/g/v1/a?dryRun=x", 200);
    observe(metrics.requests(), &Method::GET, "/apis/g/v1/a?watch=1", 200);
    let text = rendered(&metrics).await;
    let labels = r#"component="apiserver",dry_run="",group="",resource="",scope="",subresource="""#;
    for line in [
        format!(r#"apiserver_request_total{{code="404",{labels},verb="LIST",version=""}} 2"#),
        format!(r#"apiserver_request_total{{code="404",{labels},verb="GET",version=""}} 1"#),
        format!(r#"apiserver_request_total{{code="200",{labels},verb="GET",version=""}} 1"#),
        format!(r#"apiserver_request_duration_seconds_bucket{{{labels},verb="LIST",version="",le="60"}} 2"#),
        r#"apiserver_request_total{code="200",component="apiserver",dry_run="invalid",group="",resource="",scope="",subresource="",verb="POST",version=""} 1"#.to_owned(),
        r#"apiserver_request_terminations_total{code="429",component="apiserver",group="",resource="",scope="",subresource="/livez",verb="GET",version=""} 1"#.to_owned(),
        r#"apiserver_longrunning_requests{component="apiserver",group="",resource="",scope="",subresource="",verb="WATCH",version=""} 0"#.to_owned(),
        r#"apiserver_current_inflight_requests{request_kind="mutating"} 0"#.to_owned(),
    ] {
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

/// A store whose alarms the test raises.
#[derive(Clone, Default)]
struct Alarming(Alarms);

impl Log for Alarming {
    fn load(&self, _loader: &mut dyn Loader) -> Result<Opened, LogError> {
        Ok(Opened::default())
    }

    fn append(&self, _batch: &Batch) -> Result<(), LogError> {
        Ok(())
    }

    fn compact(&self, _floor: Revision) -> Result<bool, LogError> {
        Ok(false)
    }

    fn size(&self) -> u64 {
        0
    }

    fn alarms(&self) -> Vec<Alarm> {
        self.0.all()
    }
}

#[tokio::test]
async fn alarms_of_the_store_are_shown_while_they_are_raised() {
    let log = Alarming::default();
    let metrics = Metrics::default();
    metrics.show_storage(Storage::open(log.clone(), &StorageOptions::default()).unwrap());
    for raised in [false, true, false] {
        match raised {
            true => log.0.raise(AlarmKind::NoSpace, "a reason with any words", &"details"),
            false => log.0.clear(AlarmKind::NoSpace),
        }
        let text = rendered(&metrics).await;
        let no_space = format!("planesmith_storage_alarm{{kind=\"no-space\"}} {}", u8::from(raised));
        for line in [&*no_space, "planesmith_storage_alarm{kind=\"settling\"} 0"] {
            assert!(text.contains(line), "{line}\n{text}");
        }
    }
}

#[tokio::test]
async fn the_lifetimes_of_certificates_are_shown() {
    let clock = Arc::new(ManualClock::new(0));
    let metrics = Metrics::new(clock);
    for seconds in [0, 3600, 5000] {
        metrics.observe_certificate(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
    }
    let text = rendered(&metrics).await;
    for (bound, count) in [("0", 1), ("3600", 2), ("7200", 3), ("+Inf", 3)] {
        let line = format!("apiserver_client_certificate_expiration_seconds_bucket{{le=\"{bound}\"}} {count}\n");
        assert!(text.contains(&line), "{line}\n{text}");
    }
}

#[tokio::test]
async fn the_process_is_shown() {
    let text = rendered(&Metrics::default()).await;
    for name in [
        "process_cpu_seconds_total ",
        "process_resident_memory_bytes ",
        "process_open_fds ",
    ] {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap();
        assert!(line.rsplit(' ').next().unwrap().parse::<f64>().unwrap() >= 0.0);
    }
}

#[test]
fn answers_are_compressed_for_clients_that_prefer_it() {
    for (accepted, expected) in [
        ("gzip", true),
        ("gzip;q=0.5, identity;q=0.4", true),
        ("gzip, identity", false),
        ("gzip, *", false),
        ("gzip;q=0", false),
        ("deflate", false),
    ] {
        let request = Request::get("/metrics").header("accept-encoding", accepted);
        let response = answer(&Metrics::default(), request);
        let headers = response.headers();
        assert_eq!(headers.contains_key("content-encoding"), expected, "{accepted}");
        let started: u64 = headers["process-start-time-unix"].to_str().unwrap().parse().unwrap();
        assert!(started > 0);
    }
}

#[tokio::test]
async fn operators_disable_metrics() {
    let metrics = Metrics::default();
    assert!(rendered(&metrics).await.contains("\ndisabled_metrics_total 0\n"));
    metrics.select(MetricsSelection {
        disabled: ["process_open_fds".to_owned()].into(),
        ..MetricsSelection::default()
    });
    let text = rendered(&metrics).await;
    assert!(
        !text.contains("process_open_fds") && text.contains("\ndisabled_metrics_total 1\n"),
        "{text}"
    );
}

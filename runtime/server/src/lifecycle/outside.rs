//! The paths that only the outermost server serves.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use axum::routing::any;
use http::header::{CONTENT_TYPE, HeaderValue};
use http::{Request, StatusCode};
use serde_json::json;

use super::config::{Config, Load};
use crate::chain::Merged;
use crate::chain::discovery::Discovery;
use crate::chain::resources::Resources;
use crate::flow_control::{DebugPage, FlowControl};
use crate::health::{Endpoint, Endpoints, HealthCheck, SHUTDOWN};
use crate::openapi;
use crate::process_pages;
use crate::request::Query;
use crate::response;

/// The paths of the outermost server, and the pages of the socket for troubleshooting.
pub(super) struct Outside {
    pub(super) router: Router,
    pub(super) debug_pages: Router,
}

/// Puts the paths that only the outermost server serves in front of the chain.
pub(super) fn outside(config: &Config, load: Load, stopping: &Arc<AtomicBool>, merged: &mut Merged) -> Outside {
    let mut router = Router::new();
    let mut paths = std::mem::take(&mut merged.paths);
    for endpoint in health_endpoints(config, stopping, merged) {
        router = router.merge(endpoint.router());
        paths.extend(endpoint.paths());
    }
    let version = config.version.clone();
    for (path, route) in response::web_service("/version", move |request| version.answer(request)) {
        router = router.route(&path, route);
    }
    paths.push("/version".to_owned());
    let (metrics, slis) = (Arc::clone(&config.metrics), Arc::clone(&config.metrics));
    metrics.show_version(&config.version);
    load.objects.set_tables(merged.tables.clone());
    let flow_control = config.flow_control.clone();
    let mut debug_pages = Router::new();
    if let Some(control) = &flow_control {
        debug_pages = debug_pages.merge(flow_control_pages(control));
        router = router.merge(flow_control_pages(control));
    }
    metrics.requests().set_inventory(Box::new(merged.tables.clone()));
    let show = move |request: Request<Body>| {
        let readings = flow_control.as_ref().map(|control| control.readings());
        metrics.answer(&request.into_parts().0, &load.in_flight, readings.as_ref())
    };
    let show_service_levels = move |request: Request<Body>| slis.answer_service_levels(&request.into_parts().0);
    let show = any(move |request| std::future::ready(show(request)));
    debug_pages = debug_pages.route("/metrics", show.clone());
    router = router.route("/metrics", show).route(
        "/metrics/slis",
        any(move |request| std::future::ready(show_service_levels(request))),
    );
    paths.extend(["/metrics".to_owned(), "/metrics/slis".to_owned()]);
    router = router.merge(openapi::router(config.openapi.clone()));
    paths.extend([
        "/openapi/v2".to_owned(),
        "/openapi/v3".to_owned(),
        "/openapi/v3/".to_owned(),
    ]);
    let Config {
        features,
        flags,
        version,
        clock,
        ..
    } = config;
    router = router.merge(process_pages::router(features, flags, version, clock, &mut paths));
    let mut listed = vec!["/metrics".to_owned()];
    debug_pages = debug_pages.merge(process_pages::router(features, flags, version, clock, &mut listed));
    let discovery = Discovery::new(
        merged.tables.clone(),
        config.directory.clone(),
        &config.priorities,
        config.public_address.clone(),
    );
    let discovery = Arc::new(discovery);
    let resources = Resources::new(&merged.tables, Arc::clone(&discovery), std::mem::take(&mut merged.end));
    let root = Arc::clone(&discovery);
    let index = any(move || std::future::ready(index(&paths, &root)));
    let router = router
        .merge(discovery.router())
        .merge(resources.router())
        .route("/", index.clone())
        .route("/index.html", index)
        .fallback_service(std::mem::take(&mut merged.router));
    Outside { router, debug_pages }
}

/// The pages about flow control; the index does not list them.
fn flow_control_pages(control: &Arc<dyn FlowControl>) -> Router {
    let page = |which: fn(&str) -> DebugPage| {
        let control = Arc::clone(control);
        any(move |request: Request<Body>| {
            let page = control.page(which(request.uri().query().unwrap_or_default()));
            std::future::ready(response::bytes(StatusCode::OK, response::TEXT, page))
        })
    };
    let requests = |query: &str| DebugPage::Requests {
        with_details: Query::new(query)
            .first("includeRequestDetails")
            .is_some_and(|value| !value.is_empty()),
    };
    Router::new()
        .route(
            "/debug/api_priority_and_fairness/dump_priority_levels",
            page(|_| DebugPage::PriorityLevels),
        )
        .route(
            "/debug/api_priority_and_fairness/dump_queues",
            page(|_| DebugPage::Queues),
        )
        .route("/debug/api_priority_and_fairness/dump_requests", page(requests))
}

/// The health endpoints with the checks of the whole chain.
fn health_endpoints(config: &Config, stopping: &Arc<AtomicBool>, merged: &mut Merged) -> [Endpoint; 3] {
    let mut checks = vec![HealthCheck::new("ping", || Ok(())), HealthCheck::new("log", || Ok(()))];
    checks.append(&mut merged.checks);
    checks.extend(merged.start_hooks.iter().flat_map(crate::hooks::Hook::checks));
    let stopping = Arc::clone(stopping);
    let shutdown = HealthCheck::new(SHUTDOWN, move || {
        if stopping.load(Ordering::Acquire) {
            Err("process is shutting down".to_owned())
        } else {
            Ok(())
        }
    });
    checks.push(shutdown.only_ready());
    let checks: Vec<Arc<HealthCheck>> = checks.into_iter().map(Arc::new).collect();
    let lasting = checks.iter().filter(|check| check.endpoints() == Endpoints::All);
    let lasting: Vec<Arc<HealthCheck>> = lasting.cloned().collect();
    let end = Instant::now() + config.livez_grace;
    let delayed = |check: &Arc<HealthCheck>| Arc::new(HealthCheck::delayed(Arc::clone(check), end));
    let lives = lasting.iter().map(delayed).collect();
    let endpoint = |name, checks| Endpoint::new(name, checks, Arc::clone(&config.metrics));
    [
        endpoint("healthz", lasting),
        endpoint("livez", lives),
        endpoint("readyz", checks.clone()),
    ]
}

/// The answer at `/`: the list of all paths.
fn index(paths: &[String], discovery: &Discovery) -> Response {
    let mut paths: Vec<String> = paths.iter().cloned().chain(discovery.paths()).collect();
    paths.sort();
    let body = serde_json::to_vec_pretty(&json!({ "paths": paths })).unwrap_or_default();
    let mut response = Response::new(body.into());
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

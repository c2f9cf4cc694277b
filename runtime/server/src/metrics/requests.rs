//! What requests are counted under.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use arc_swap::ArcSwap;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method, StatusCode};
use prometheus::{Histogram, HistogramOpts, HistogramVec, IntCounter, IntCounterVec, Opts, Registry};

use super::{VALID, add};
use crate::chain::SharedTable;
use crate::request::{RequestInfo, Verb};

/// kube-apiserver's buckets, in seconds.
const SECONDS: [f64; 23] = [
    0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0, 30.0,
    45.0, 60.0,
];
/// kube-apiserver's buckets, in bytes.
const BYTES: [f64; 7] = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

/// Requests by what they ask for and how they were answered.
///
/// Finding the counters of a request takes one hash of its labels and no lock. What clients can invent does not become a
/// label: requests for resources that nobody serves are counted without a resource.
#[derive(Debug)]
pub(crate) struct RequestMetrics {
    total: IntCounterVec,
    seconds: HistogramVec,
    bytes: HistogramVec,
    refused: IntCounterVec,
    tables: OnceLock<Vec<SharedTable>>,
    hasher: RandomState,
    cells: ArcSwap<HashMap<u64, Arc<Cell>>>,
}

/// The counters of one set of labels.
#[derive(Debug)]
struct Cell {
    total: IntCounter,
    seconds: Histogram,
    bytes: Histogram,
}

/// What a request is counted under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Labels<'a> {
    verb: &'static str,
    dry_run: &'static str,
    group: &'a str,
    version: &'a str,
    resource: &'a str,
    subresource: &'a str,
    scope: &'static str,
    code: StatusCode,
}

/// What is needed of a request's head to count it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Marks {
    dry_run: bool,
    apply: bool,
}

impl Marks {
    /// Looks at a request that is about to be handled.
    pub(crate) fn of(method: &Method, query: Option<&str>, headers: &HeaderMap) -> Self {
        if *method == Method::GET {
            return Self::default();
        }
        let content_type = headers.get(CONTENT_TYPE).map_or(&b""[..], |value| value.as_bytes());
        Self {
            dry_run: query.is_some_and(|query| query.contains("dryRun=All")),
            apply: *method == Method::PATCH && content_type.starts_with(b"application/apply-patch+"),
        }
    }
}

impl RequestMetrics {
    pub(super) fn new(registry: &Registry) -> Self {
        let place = [
            "verb",
            "group",
            "version",
            "resource",
            "subresource",
            "scope",
            "component",
        ];
        let with = |more: &[&'static str]| [&place[..], more].concat();
        let histogram = |name: &str, help: &str, buckets: &[f64], labels: &[&str]| {
            let options = HistogramOpts::new(name, help).buckets(buckets.to_vec());
            HistogramVec::new(options, labels).expect(VALID)
        };
        let metrics = Self {
            total: IntCounterVec::new(
                Opts::new("apiserver_request_total", "Requests answered."),
                &with(&["dry_run", "code"]),
            )
            .expect(VALID),
            seconds: histogram(
                "apiserver_request_duration_seconds",
                "Time to the start of the answer, in seconds.",
                &SECONDS,
                &with(&["dry_run"]),
            ),
            bytes: histogram(
                "apiserver_response_sizes",
                "Size of answers to reads, in bytes.",
                &BYTES,
                &place,
            ),
            refused: IntCounterVec::new(
                Opts::new(
                    "apiserver_request_terminations_total",
                    "Requests refused to protect the server.",
                ),
                &["code"],
            )
            .expect(VALID),
            tables: OnceLock::new(),
            hasher: RandomState::new(),
            cells: ArcSwap::default(),
        };
        add(registry, metrics.total.clone());
        add(registry, metrics.seconds.clone());
        add(registry, metrics.bytes.clone());
        add(registry, metrics.refused.clone());
        metrics
    }

    /// Learns which resources are served.
    pub(crate) fn set_tables(&self, tables: Vec<SharedTable>) {
        // Set once, when the chain is prepared; a second chain with the same metrics has the same resources.
        let _ = self.tables.set(tables);
    }

    pub(super) fn tables(&self) -> &[SharedTable] {
        self.tables.get().map_or(&[], Vec::as_slice)
    }

    /// Counts a request that has been answered, with the size of the answer if it is known.
    pub(crate) fn observe(
        &self,
        info: &RequestInfo,
        marks: Marks,
        code: StatusCode,
        took: Duration,
        bytes: Option<u64>,
    ) {
        let labels = Labels::of(info, marks, code);
        let hash = self.hasher.hash_one(labels);
        let known = self.cells.load().get(&hash).cloned();
        let cell = known.unwrap_or_else(|| self.make_cell(hash, labels, info));
        cell.total.inc();
        if info.verb() != Verb::Watch {
            cell.seconds.observe(took.as_secs_f64());
        }
        if let (Some(bytes), Verb::Get | Verb::List) = (bytes, info.verb()) {
            #[expect(clippy::cast_precision_loss, reason = "the bucket does not change by a byte")]
            cell.bytes.observe(bytes as f64);
        }
        if matches!(code, StatusCode::TOO_MANY_REQUESTS | StatusCode::GATEWAY_TIMEOUT) {
            self.refused.with_label_values(&[code.as_str()]).inc();
        }
    }

    /// Makes the counters of `labels`. Two hashes that are equal would be counted together, once in 2^64 times.
    fn make_cell(&self, hash: u64, labels: Labels<'_>, info: &RequestInfo) -> Arc<Cell> {
        let served = self
            .tables
            .get()
            .is_some_and(|tables| tables.iter().any(|table| table.load().serves(info)));
        let shown = if served { labels } else { labels.without_resource() };
        let place = [
            shown.verb,
            shown.group,
            shown.version,
            shown.resource,
            shown.subresource,
            shown.scope,
            "apiserver",
        ];
        let with = |more: &[&'static str]| [&place[..], more].concat();
        let code = labels.code;
        let cell = Arc::new(Cell {
            total: self
                .total
                .with_label_values(&[&with(&[labels.dry_run])[..], &[code.as_str()]].concat()),
            seconds: self.seconds.with_label_values(&with(&[labels.dry_run])),
            bytes: self.bytes.with_label_values(&place),
        });
        if served || !info.is_resource() {
            self.cells.rcu(|cells| {
                let mut cells = HashMap::clone(cells);
                cells.insert(hash, Arc::clone(&cell));
                cells
            });
        }
        cell
    }
}

impl<'a> Labels<'a> {
    fn of(info: &'a RequestInfo, marks: Marks, code: StatusCode) -> Self {
        Self {
            verb: verb(info.verb(), marks.apply),
            dry_run: if marks.dry_run { "All" } else { "" },
            group: info.group(),
            version: info.version(),
            resource: info.resource(),
            subresource: info.subresource(),
            scope: scope(info),
            code,
        }
    }

    fn without_resource(self) -> Self {
        Self {
            group: "",
            version: "",
            resource: "",
            subresource: "",
            scope: "",
            ..self
        }
    }
}

/// The verb as metrics have it: mostly the method.
fn verb(verb: Verb, apply: bool) -> &'static str {
    match verb {
        Verb::Get => "GET",
        Verb::List => "LIST",
        Verb::Watch => "WATCH",
        Verb::Create | Verb::Post => "POST",
        Verb::Update | Verb::Put => "PUT",
        Verb::Patch if apply => "APPLY",
        Verb::Patch => "PATCH",
        Verb::Delete => "DELETE",
        Verb::DeleteCollection => "DELETECOLLECTION",
        Verb::Proxy => "CONNECT",
        Verb::Head => "HEAD",
        Verb::Options => "OPTIONS",
        Verb::Unknown => "other",
    }
}

fn scope(info: &RequestInfo) -> &'static str {
    if !info.is_resource() {
        ""
    } else if !info.name().is_empty() || info.verb() == Verb::Create {
        "resource"
    } else if !info.namespace().is_empty() {
        "namespace"
    } else {
        "cluster"
    }
}

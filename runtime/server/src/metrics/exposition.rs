//! The forms in which metrics are sent.

use axum::response::Response;
use http::HeaderMap;
use http::header::{ACCEPT, CONTENT_TYPE, HeaderValue};
use planesmith_machinery::protobuf::{WireType, write_bytes, write_message, write_tag, write_varint};
use prometheus::TextEncoder;
use prometheus::proto::{Metric, MetricFamily, MetricType};

use crate::header_text::header_text;
use crate::negotiation::clauses;

const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
/// Messages of protobuf, each behind its length. Prometheus prefers them to text if it collects native histograms.
const MESSAGES: &str = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/// Ways to write names with other characters than letters, digits, underscores and colons. No metric has such a name.
const ESCAPINGS: [&str; 4] = ["allow-utf-8", "dots", "underscores", "values"];

/// The negotiated form of metrics.
struct Exposition {
    media_type: &'static str,
    escaping: &'static str,
}

/// Sends `families` in the form that the client prefers: text, unless it names another one.
pub(super) fn respond(headers: &HeaderMap, families: &[MetricFamily]) -> Response {
    let Exposition { media_type, escaping } = negotiate(header_text(headers, &ACCEPT));
    let body = match media_type {
        MESSAGES => messages(families),
        _ => text(families),
    };
    let mut response = Response::new(body.into());
    let media_type = HeaderValue::try_from(format!("{media_type}; escaping={escaping}"));
    let media_type = media_type.expect("media types can stand in headers");
    response.headers_mut().insert(CONTENT_TYPE, media_type);
    response
}

fn negotiate(accept: &str) -> Exposition {
    let mut escaping = "underscores";
    for clause in clauses(accept) {
        // It also counts if the server does not offer what the clause names.
        let wanted = clause.parameter("escaping").unwrap_or_default();
        escaping = ESCAPINGS.into_iter().find(|known| *known == wanted).unwrap_or(escaping);
        let found = [TEXT, MESSAGES].into_iter().find(|media_type| {
            let (range, parameters) = media_type.split_once("; ").unwrap_or((media_type, ""));
            let mut parameters = parameters.split("; ").filter_map(|parameter| parameter.split_once('='));
            clause.is(range)
                && parameters.all(|(name, value)| match (name, clause.parameter(name)) {
                    ("charset", _) | ("version", None | Some("")) => true,
                    (_, wanted) => wanted == Some(value),
                })
        });
        if let Some(media_type) = found {
            return Exposition { media_type, escaping };
        }
    }
    Exposition {
        media_type: TEXT,
        escaping,
    }
}

fn text(families: &[MetricFamily]) -> Vec<u8> {
    let mut body = String::new();
    if let Err(error) = TextEncoder::new().encode_utf8(families, &mut body) {
        tracing::error!(%error, "metrics cannot be written");
    }
    body.into_bytes()
}

/// Encodes `families` as messages `MetricFamily` of Prometheus, version 2 of whose language writes fields that are zero.
fn messages(families: &[MetricFamily]) -> Vec<u8> {
    let mut body = Vec::new();
    let mut message = Vec::new();
    for family in families {
        message.clear();
        let kind = family.get_field_type();
        write_bytes(&mut message, 1, family.name().as_bytes());
        write_bytes(&mut message, 2, family.help().as_bytes());
        write_number(&mut message, 3, kind as u64);
        for metric in family.get_metric() {
            write_message(&mut message, 4, |out| write_metric(out, kind, metric));
        }
        write_varint(&mut body, message.len() as u64);
        body.extend_from_slice(&message);
    }
    body
}

fn write_metric(out: &mut Vec<u8>, kind: MetricType, metric: &Metric) {
    for label in metric.get_label() {
        write_message(out, 1, |out| {
            write_bytes(out, 1, label.name().as_bytes());
            write_bytes(out, 2, label.value().as_bytes());
        });
    }
    match kind {
        MetricType::GAUGE => write_message(out, 2, |out| write_float(out, 1, metric.get_gauge().get_value())),
        MetricType::COUNTER => write_message(out, 3, |out| write_float(out, 1, metric.get_counter().get_value())),
        // No metric is a summary.
        MetricType::SUMMARY => write_message(out, 4, |_| {}),
        MetricType::UNTYPED => write_message(out, 5, |_| {}),
        MetricType::HISTOGRAM => write_message(out, 7, |out| {
            let histogram = metric.get_histogram();
            write_number(out, 1, histogram.get_sample_count());
            write_float(out, 2, histogram.get_sample_sum());
            for bucket in histogram.get_bucket() {
                write_message(out, 3, |out| {
                    write_number(out, 1, bucket.cumulative_count());
                    write_float(out, 2, bucket.upper_bound());
                });
            }
        }),
    }
}

fn write_number(out: &mut Vec<u8>, number: u32, value: u64) {
    write_tag(out, number, WireType::Varint);
    write_varint(out, value);
}

fn write_float(out: &mut Vec<u8>, number: u32, value: f64) {
    write_tag(out, number, WireType::Fixed64);
    out.extend_from_slice(&value.to_le_bytes());
}

#[cfg(test)]
mod tests {
    use prometheus::{HistogramOpts, HistogramVec, Opts, Registry};

    use super::*;

    fn check(accept: &str, expected: &str) {
        let Exposition { media_type, escaping } = negotiate(accept);
        assert_eq!(format!("{media_type}; escaping={escaping}"), expected, "{accept}");
    }

    #[test]
    fn text_is_sent_unless_messages_are_preferred() {
        let text = |escaping: &str| format!("{TEXT}; escaping={escaping}");
        for accept in ["", "*/*", "text/plain", "application/json", "text/plain;version=1.0.0"] {
            check(accept, &text("underscores"));
        }
        check("text/plain;version=0.0.4;escaping=allow-utf-8", &text("allow-utf-8"));
        check("text/plain;escaping=dots", &text("dots"));
        check(
            "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,text/plain;version=0.0.4;q=0.2,*/*;q=0.1",
            &text("allow-utf-8"),
        );
        let messages = MESSAGES.replace("; ", ";");
        check(&messages, &format!("{MESSAGES}; escaping=underscores"));
        check(&format!("{messages};q=0.1,text/plain"), &text("underscores"));
        check(&messages.replace("delimited", "text"), &text("underscores"));
    }

    #[test]
    fn messages_have_the_fields_of_prometheus() {
        let registry = Registry::new();
        let calls = prometheus::CounterVec::new(Opts::new("calls", "Calls."), &["by"]).unwrap();
        calls.with_label_values(&["me"]).inc();
        registry.register(Box::new(calls)).unwrap();
        let times = HistogramVec::new(HistogramOpts::new("times", "Times.").buckets(vec![0.5]), &[]).unwrap();
        times.with_label_values(&[] as &[&str]).observe(0.25);
        registry.register(Box::new(times)).unwrap();
        let one = [0, 0, 0, 0, 0, 0, 0xf0, 0x3f];
        let mut expected = vec![40, 0x0a, 5];
        expected.extend_from_slice(b"calls\x12\x06Calls.\x18\x00\x22\x15\x0a\x08\x0a\x02by\x12\x02me\x1a\x09\x09");
        expected.extend_from_slice(&one);
        expected.extend_from_slice(b"\x2d\x0a\x05times\x12\x06Times.\x18\x04\x22\x1a\x3a\x18\x08\x01\x11");
        expected.extend_from_slice(&0.25_f64.to_le_bytes());
        expected.extend_from_slice(b"\x1a\x0b\x08\x01\x11");
        expected.extend_from_slice(&0.5_f64.to_le_bytes());
        assert_eq!(messages(&registry.gather()), expected);
    }
}

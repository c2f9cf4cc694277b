//! Warnings on their way to the client.

use axum::response::Response;
use http::header::{HeaderValue, WARNING};

use super::{Exchange, Filter, Step};

/// All warnings of one answer together, in characters; longer ones are cut to [`CUT`] each.
const ALL: usize = 4096;
/// What is left of a warning when there are too many.
const CUT: usize = 256;

/// Turns the warnings that were collected into `Warning: 299 - "..."` headers.
#[derive(Clone, Copy, Debug)]
pub struct WarningHeaders;

impl Filter for WarningHeaders {
    fn name(&self) -> &'static str {
        "warnings"
    }

    fn enter<'a>(&'a self, _: &'a mut Exchange) -> Step<'a> {
        Step::Continue
    }

    fn leave(&self, exchange: &mut Exchange, response: &mut Response) {
        let texts = exchange.ctx.warnings.take();
        if texts.is_empty() {
            return;
        }
        let cut = texts.iter().map(|text| text.chars().count()).sum::<usize>() > ALL;
        let mut written = 0;
        for text in &texts {
            let text: String = text.chars().take(if cut { CUT } else { usize::MAX }).collect();
            written += text.chars().count();
            if written > ALL {
                break;
            }
            // A text with control characters cannot stand in a header.
            if let Ok(value) = HeaderValue::from_bytes(format!("299 - {}", quoted(&text)).as_bytes()) {
                response.headers_mut().append(WARNING, value);
            }
        }
    }
}

/// A quoted string of HTTP.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for letter in text.chars() {
        if matches!(letter, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(letter);
    }
    quoted.push('"');
    quoted
}

//! Warnings for the client, as headers of the answer.

use axum::response::Response;
use http::header::{HeaderValue, WARNING};

use super::{Exchange, Filter, Step};

/// Maximum length of all warnings of one answer together, in characters; if they are longer, each is cut to [`CUT`].
const ALL: usize = 4096;
/// Length that each warning is cut to when all together are too long, in characters.
const CUT: usize = 256;

/// Sends the collected warnings as `Warning: 299 - "..."` headers.
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
            // A header cannot contain control characters.
            if let Ok(value) = HeaderValue::from_bytes(format!("299 - {}", quoted(&text)).as_bytes()) {
                response.headers_mut().append(WARNING, value);
            }
        }
    }
}

/// An HTTP quoted-string.
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

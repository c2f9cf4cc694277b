//! Warnings for the client, as headers of the answer.

use axum::response::Response;
use http::header::{HeaderValue, WARNING};

use super::{Exchange, Filter, Step};

/// Length of all warnings of one answer together, in characters, from which on each is cut to [`CUT`] and no further one is sent.
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
        for text in sent(&exchange.ctx.warnings.take()) {
            if let Ok(value) = HeaderValue::from_bytes(format!("299 - {}", quoted(text)).as_bytes()) {
                response.headers_mut().append(WARNING, value);
            }
        }
    }
}

/// Returns the warnings that are sent, as kube-apiserver selects them while they are added: when they become too long, those so
/// far are cut, and further ones are cut and sent until the limit is reached.
fn sent(texts: &[String]) -> Vec<&str> {
    let mut sent: Vec<&str> = Vec::new();
    let (mut length, mut cuts) = (0, false);
    // A header cannot contain control characters.
    for text in texts.iter().filter(|text| !text.contains(char::is_control)) {
        if cuts && length >= ALL {
            break;
        }
        sent.push(if cuts { start(text) } else { text });
        length += sent.last().map_or(0, |text| text.chars().count());
        if !cuts && length > ALL {
            cuts = true;
            sent = sent.into_iter().map(start).collect();
            length = sent.iter().map(|text| text.chars().count()).sum();
        }
    }
    sent
}

/// Returns the start of a text, of [`CUT`] characters at most.
fn start(text: &str) -> &str {
    text.char_indices().nth(CUT).map_or(text, |(end, _)| &text[..end])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_warnings_are_cut_and_sent_until_the_limit_is_reached() {
        let lengths = |texts: Vec<String>| sent(&texts).iter().map(|text| text.len()).collect::<Vec<_>>();
        // The warning that exceeds the limit is sent.
        assert_eq!(lengths(vec!["a".repeat(203); 30]), vec![203; 21]);
        assert_eq!(lengths(vec!["a".repeat(4000)]), [4000]);
        let long = vec!["a".repeat(4000), "b".repeat(300), "c\nd".to_owned(), "e".repeat(300)];
        assert_eq!(lengths(long), [256, 256, 256]);
    }
}

//! Static tokens from a file.

use std::collections::HashMap;
use std::sync::Arc;

use thiserror::Error;

use super::{TokenAuthenticator, TokenUser, TokenVerdict, authenticated};
use crate::outcome::Outcome;
use crate::user::UserInfo;

/// The tokens of a `--token-auth-file`: lines of `token,user name,user id` and optionally `,"group1,group2"`.
///
/// Fields may be enclosed in double quotes. Inside quotes, a double quote is doubled, and commas and line breaks are literal.
/// Empty lines are skipped. For a repeated token, the last line wins.
#[derive(Debug, Default)]
pub struct TokenFile {
    // A lookup compares tokens only if their keyed hashes are equal, so that timing reveals nothing about the similarity of a
    // guess.
    users: HashMap<String, Arc<UserInfo>>,
}

/// The error in a token file. The messages contain no token.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum TokenFileError {
    /// A line has too few fields.
    #[error("record {record} has {found} columns; expected at least 3: token, user name, user uid")]
    Columns {
        /// The record number, from 1.
        record: usize,
        /// The number of its fields.
        found: usize,
    },
    /// A misplaced double quote.
    #[error("line {line} has a stray or missing double quote")]
    Quote {
        /// The line number at which the record starts, from 1.
        line: usize,
    },
}

impl TokenFile {
    /// Parses a token file.
    ///
    /// # Errors
    ///
    /// The first malformed record.
    pub fn parse(text: &str) -> Result<Self, TokenFileError> {
        let mut users = HashMap::new();
        for (index, fields) in records(text)?.into_iter().enumerate() {
            let [token, name, uid, more @ ..] = fields.as_slice() else {
                return Err(TokenFileError::Columns {
                    record: index + 1,
                    found: fields.len(),
                });
            };
            if token.is_empty() {
                tracing::warn!(record = index + 1, "token file: skipped a record with an empty token");
                continue;
            }
            let groups = more
                .first()
                .map(|groups| groups.split(',').map(str::to_owned).collect());
            let user = UserInfo {
                name: name.clone(),
                uid: uid.clone(),
                groups: groups.unwrap_or_default(),
                ..UserInfo::default()
            };
            if users.insert(token.clone(), authenticated(user)).is_some() {
                tracing::warn!(record = index + 1, "token file: duplicate token; the last line wins");
            }
        }
        Ok(Self { users })
    }

    /// Adds a token that is not in the file.
    pub fn add(&mut self, token: impl Into<String>, user: UserInfo) {
        self.users.insert(token.into(), authenticated(user));
    }
}

impl TokenAuthenticator for TokenFile {
    fn authenticate_token(&self, token: &str, _audiences: &[String]) -> Outcome<'static, TokenVerdict> {
        let user = self.users.get(token);
        Outcome::Ready(user.map_or(TokenVerdict::NoOpinion, |user| {
            TokenVerdict::Valid(TokenUser::of(Arc::clone(user)))
        }))
    }
}

/// Splits comma-separated text into records of fields (RFC 4180).
fn records(text: &str) -> Result<Vec<Vec<String>>, TokenFileError> {
    let mut records = Vec::new();
    let mut rest = text;
    let mut line = 1;
    while !rest.is_empty() {
        let start = line;
        if let Some(after) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) {
            rest = after;
            line += 1;
            continue;
        }
        let mut fields = Vec::new();
        loop {
            let (field, after) = field(rest).ok_or(TokenFileError::Quote { line: start })?;
            line += field.matches('\n').count();
            fields.push(field);
            if let Some(after) = after.strip_prefix(',') {
                rest = after;
                continue;
            }
            rest = after.strip_prefix('\r').unwrap_or(after);
            rest = rest.strip_prefix('\n').unwrap_or(rest);
            line += 1;
            break;
        }
        records.push(fields);
    }
    Ok(records)
}

/// Returns the first field of `text` and the rest; `None` if its quotes are unbalanced.
fn field(text: &str) -> Option<(String, &str)> {
    let Some(mut quoted) = text.strip_prefix('"') else {
        let end = text.find([',', '\n']).unwrap_or(text.len());
        let (plain, rest) = text.split_at(end);
        let plain = if rest.starts_with('\n') || rest.is_empty() {
            plain.trim_end_matches('\r')
        } else {
            plain
        };
        return (!plain.contains('"')).then(|| (plain.to_owned(), rest));
    };
    let mut value = String::new();
    loop {
        let (part, rest) = quoted.split_once('"')?;
        value.push_str(part);
        match rest.strip_prefix('"') {
            Some(after) => {
                value.push('"');
                quoted = after;
            }
            None => {
                let ends = rest.is_empty() || rest.starts_with([',', '\n']) || rest.starts_with("\r\n");
                return ends.then_some((value, rest));
            }
        }
    }
}

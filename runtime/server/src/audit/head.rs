//! The head of a request, and its texts.

use std::borrow::Cow;
use std::fmt;
use std::net::IpAddr;
use std::sync::Arc;

use http::{HeaderValue, Uri};
use planesmith_access::audit::ObjectReference;
use planesmith_access::user::UserInfo;
use planesmith_machinery::micro_time::MicroTime;

/// The meaning of a request, as its record needs it.
pub(crate) trait RecordedRequest: fmt::Debug + Send + Sync {
    /// The verb; for a path that is not a resource, the HTTP method in lower case.
    fn verb(&self) -> Cow<'static, str>;

    /// The target that the path names; `None` for a path that is not a resource.
    fn object(&self) -> Option<ObjectReference<'_>>;

    /// True if the request changes something.
    fn is_mutating(&self) -> bool;

    /// True if the client decides how long the answer lasts.
    fn is_long_running(&self) -> bool;
}

/// The parts of a record that do not change. They share the memory of the request.
#[derive(Debug)]
pub(crate) struct Head {
    pub(crate) id: String,
    pub(crate) uri: Uri,
    pub(crate) request: Arc<dyn RecordedRequest>,
    pub(crate) user: Option<Arc<UserInfo>>,
    pub(crate) source_ips: Vec<IpAddr>,
    pub(crate) agent: Option<HeaderValue>,
    pub(crate) received: MicroTime,
}

/// kube-apiserver's limit for the user agent, in bytes, and the end of a longer one.
const LONGEST_AGENT: usize = 1024;
const TRUNCATED: &str = "...TRUNCATED";

/// The texts of a head that have to be made; most borrow from it.
pub(super) struct HeadTexts<'a> {
    pub(super) uri: Cow<'a, str>,
    pub(super) verb: Cow<'static, str>,
    pub(super) agent: Cow<'a, str>,
}

impl<'a> HeadTexts<'a> {
    pub(super) fn of(head: &'a Head) -> Self {
        Self {
            uri: target(&head.uri),
            verb: head.request.verb(),
            agent: user_agent(head.agent.as_ref()),
        }
    }
}

/// Returns the path and query, as the client sent them.
fn target(uri: &Uri) -> Cow<'_, str> {
    match uri.path_and_query() {
        None => Cow::Borrowed(""),
        Some(target) if target.as_str().starts_with(['/', '*']) => Cow::Borrowed(target.as_str()),
        Some(target) => Cow::Owned(target.to_string()),
    }
}

/// Returns the user agent, cut to kube-apiserver's limit.
fn user_agent(agent: Option<&HeaderValue>) -> Cow<'_, str> {
    let mut agent = agent.map_or(Cow::Borrowed(""), |agent| String::from_utf8_lossy(agent.as_bytes()));
    if agent.len() > LONGEST_AGENT {
        let cut = agent.floor_char_boundary(LONGEST_AGENT);
        let agent = agent.to_mut();
        agent.truncate(cut);
        agent.push_str(TRUNCATED);
    }
    agent
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_the_path_and_the_query() {
        for (uri, expected) in [
            ("/version?x=1", "/version?x=1"),
            ("http://host/a", "/a"),
            ("*", "*"),
            ("host:1", ""),
        ] {
            assert_eq!(target(&uri.parse().unwrap()), expected);
        }
    }

    #[test]
    fn long_agents_are_cut() {
        let long = HeaderValue::try_from("a".repeat(LONGEST_AGENT + 1)).unwrap();
        let cut = user_agent(Some(&long));
        assert_eq!(
            (cut.len(), cut.ends_with(TRUNCATED)),
            (LONGEST_AGENT + TRUNCATED.len(), true)
        );
        assert_eq!(user_agent(None), "");
    }
}

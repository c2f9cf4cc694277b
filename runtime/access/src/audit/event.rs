//! The record of one stage of a request.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;

use bytes::Bytes;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::json::encode_text;
use planesmith_machinery::micro_time::MicroTime;
use planesmith_machinery::scalar::ScalarCodec as _;

use super::{Level, Stage};
use crate::user::UserInfo;

/// The record of one stage of a request: `Event` of `audit.k8s.io/v1`.
#[derive(Debug)]
pub struct Event<'a> {
    /// The level at which the request is recorded.
    pub level: Level,
    /// The id of the request, the same in all of its events.
    pub id: &'a str,
    /// The stage.
    pub stage: Stage,
    /// The path and query, as the client sent them.
    pub uri: &'a str,
    /// The verb; for a path that is not a resource, the HTTP method in lower case.
    pub verb: &'a str,
    /// The authenticated user; `None` if the credentials were refused.
    pub user: Option<&'a UserInfo>,
    /// The user for whom the request is performed, if that is another one.
    pub impersonated: Option<&'a UserInfo>,
    /// The rule of constrained impersonation that allowed this; empty if none was needed.
    pub impersonation_constraint: &'a str,
    /// Addresses of the client and of the proxies between, that of the client first.
    pub source_ips: &'a [String],
    /// The client program, as it calls itself.
    pub user_agent: &'a str,
    /// The object or collection; `None` for a path that is not a resource.
    pub object: Option<&'a ObjectReference>,
    /// The result as a Status in compact JSON, without kind and version; empty before there is one.
    pub status: &'a [u8],
    /// The status code of the result; 0 before there is one.
    pub code: u16,
    /// The object of the request in JSON; empty if it is not recorded.
    pub request_object: &'a [u8],
    /// The object of the answer in JSON; empty if it is not recorded.
    pub response_object: &'a [u8],
    /// The time at which the request arrived.
    pub received: MicroTime,
    /// The time of the stage.
    pub at: MicroTime,
    /// The notes of authorization, admission and others.
    pub annotations: &'a BTreeMap<Cow<'static, str>, String>,
    /// The event in JSON, once a sink has asked for it.
    pub json: OnceCell<Bytes>,
}

/// The target of a recorded request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObjectReference {
    /// The plural resource name.
    pub resource: String,
    /// The namespace; empty for cluster-scoped resources.
    pub namespace: String,
    /// The name; empty for a collection.
    pub name: String,
    /// The UID, if the request names one.
    pub uid: String,
    /// The API group; empty for the core group.
    pub group: String,
    /// The API version.
    pub version: String,
    /// The resourceVersion, if the request names one.
    pub resource_version: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
}

impl Event<'_> {
    /// Returns the event in compact JSON, in the order of fields in which kube-apiserver writes it.
    pub fn to_json(&self) -> &Bytes {
        self.json.get_or_init(|| {
            let objects = self.request_object.len() + self.response_object.len();
            let mut out = Vec::with_capacity(1024 + objects);
            self.write(&mut out, self.request_object, self.response_object, None);
            // Sinks may keep many events for later.
            out.shrink_to_fit();
            Bytes::from(out)
        })
    }

    /// Returns the event in compact JSON without the objects of request and answer, annotated with the reason.
    #[must_use]
    pub fn to_truncated_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        self.write(&mut out, &[], &[], Some(("audit.k8s.io/truncated", "true")));
        out
    }

    fn write(&self, out: &mut Vec<u8>, request: &[u8], response: &[u8], note: Option<(&str, &str)>) {
        out.extend_from_slice(br#"{"kind":"Event","apiVersion":"audit.k8s.io/v1""#);
        write_text_field(out, br#","level":"#, self.level.as_str());
        write_text_field(out, br#","auditID":"#, self.id);
        write_text_field(out, br#","stage":"#, self.stage.as_str());
        write_text_field(out, br#","requestURI":"#, self.uri);
        write_text_field(out, br#","verb":"#, self.verb);
        user(out, br#","user":"#, self.user.unwrap_or(&UserInfo::default()));
        if let Some(impersonated) = self.impersonated {
            user(out, br#","impersonatedUser":"#, impersonated);
        }
        texts(out, br#","sourceIPs":"#, self.source_ips);
        write_text_field(out, br#","userAgent":"#, self.user_agent);
        if let Some(object) = self.object {
            out.extend_from_slice(br#","objectRef":"#);
            object.write(out);
        }
        raw(out, br#","responseStatus":"#, self.status);
        raw(out, br#","requestObject":"#, request);
        raw(out, br#","responseObject":"#, response);
        out.extend_from_slice(br#","requestReceivedTimestamp":"#);
        self.received.write_json(out);
        out.extend_from_slice(br#","stageTimestamp":"#);
        self.at.write_json(out);
        self.write_annotations(out, note);
        if !self.impersonation_constraint.is_empty() {
            out.extend_from_slice(br#","authenticationMetadata":"#);
            out.extend_from_slice(br#"{"impersonationConstraint":"#);
            encode_text(self.impersonation_constraint, out);
            out.push(b'}');
        }
        out.push(b'}');
    }

    fn write_annotations(&self, out: &mut Vec<u8>, note: Option<(&str, &str)>) {
        let own = self
            .annotations
            .iter()
            .map(|(key, value)| (key.as_ref(), value.as_str()));
        let mut all: Vec<(&str, &str)> = own.chain(note).collect();
        if all.is_empty() {
            return;
        }
        all.sort_unstable();
        out.extend_from_slice(br#","annotations":"#);
        object(out, all.into_iter(), encode_text);
    }
}

impl ObjectReference {
    fn write(&self, out: &mut Vec<u8>) {
        let fields = [
            ("resource", &self.resource),
            ("namespace", &self.namespace),
            ("name", &self.name),
            ("uid", &self.uid),
            ("apiGroup", &self.group),
            ("apiVersion", &self.version),
            ("resourceVersion", &self.resource_version),
            ("subresource", &self.subresource),
        ];
        let present = fields.into_iter().filter(|(_, value)| !value.is_empty());
        object(out, present, |value, out| encode_text(value, out));
    }
}

/// Returns the event as one line of text, without a line break: the older format of log files.
#[must_use]
pub fn legacy_line(event: &Event<'_>) -> String {
    let groups = |groups: &[String]| {
        let quoted: Vec<String> = groups.iter().map(|group| quote(group)).collect();
        quoted.join(",")
    };
    let (user, of_user) = match event.user {
        Some(user) if !user.name.is_empty() => {
            let listed = if user.groups.is_empty() {
                "<none>".to_owned()
            } else {
                groups(&user.groups)
            };
            (user.name.as_str(), listed)
        }
        _ => ("<none>", "<none>".to_owned()),
    };
    let (acted_as, of_acted_as) = match event.impersonated {
        None => ("<self>", "<lookup>".to_owned()),
        Some(user) if user.groups.is_empty() => (user.name.as_str(), "<lookup>".to_owned()),
        Some(user) => (user.name.as_str(), groups(&user.groups)),
    };
    let namespace = event.object.map_or("", |object| object.namespace.as_str());
    let namespace = if namespace.is_empty() { "<none>" } else { namespace };
    let response = match event.code {
        0 => "<deferred>".to_owned(),
        code => code.to_string(),
    };
    let ip = event.source_ips.first().map_or("<unknown>", String::as_str);
    format!(
        "{} AUDIT: id={} stage={} ip={} method={} user={} groups={} as={} asgroups={} user-agent={} namespace={} uri={} \
         response=\"{response}\"",
        event.received,
        quote(event.id),
        quote(event.stage.as_str()),
        quote(ip),
        quote(event.verb),
        quote(user),
        quote(&of_user),
        quote(acted_as),
        quote(&of_acted_as),
        quote(event.user_agent),
        quote(namespace),
        quote(event.uri),
    )
}

/// Appends a member unless it is empty. `name` has the comma before it and the colon behind it, as in the functions below.
fn write_text_field(out: &mut Vec<u8>, name: &[u8], value: &str) {
    if !value.is_empty() {
        out.extend_from_slice(name);
        encode_text(value, out);
    }
}

fn raw(out: &mut Vec<u8>, name: &[u8], json: &[u8]) {
    if !json.is_empty() {
        out.extend_from_slice(name);
        out.extend_from_slice(json);
    }
}

fn texts(out: &mut Vec<u8>, name: &[u8], values: &[String]) {
    if !values.is_empty() {
        out.extend_from_slice(name);
        array(out, values);
    }
}

fn array(out: &mut Vec<u8>, values: &[String]) {
    out.push(b'[');
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        encode_text(value, out);
    }
    out.push(b']');
}

fn object<'n, T>(
    out: &mut Vec<u8>,
    members: impl Iterator<Item = (&'n str, T)>,
    mut write: impl FnMut(T, &mut Vec<u8>),
) {
    out.push(b'{');
    for (index, (name, value)) in members.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        encode_text(name, out);
        out.push(b':');
        write(value, out);
    }
    out.push(b'}');
}

/// Appends a user; the object is empty if there is none.
fn user(out: &mut Vec<u8>, name: &[u8], user: &UserInfo) {
    out.extend_from_slice(name);
    out.push(b'{');
    let start = out.len();
    write_text_field(out, br#","username":"#, &user.name);
    write_text_field(out, br#","uid":"#, &user.uid);
    texts(out, br#","groups":"#, &user.groups);
    if !user.extra.is_empty() {
        out.extend_from_slice(br#","extra":"#);
        let entries = user.extra.iter().map(|(key, values)| (key.as_str(), values.as_slice()));
        object(out, entries, |values, out| array(out, values));
    }
    // The comma before the first member.
    if out.len() > start {
        out.remove(start);
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests;

//! The record of one stage of a request.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::io::Write as _;
use std::net::IpAddr;
use std::ops::Range;

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
    pub source_ips: &'a [IpAddr],
    /// The client program, as it calls itself.
    pub user_agent: &'a str,
    /// The object or collection; `None` for a path that is not a resource.
    pub object: Option<ObjectReference<'a>>,
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
    /// The event in JSON, once a sink needs it.
    pub json: OnceCell<Bytes>,
}

/// The target of a recorded request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ObjectReference<'a> {
    /// The plural resource name.
    pub resource: &'a str,
    /// The namespace; empty for cluster-scoped resources.
    pub namespace: &'a str,
    /// The name; empty for a collection.
    pub name: &'a str,
    /// The UID, if the request names one.
    pub uid: &'a str,
    /// The API group; empty for the core group.
    pub group: &'a str,
    /// The API version.
    pub version: &'a str,
    /// The resourceVersion, if the request names one.
    pub resource_version: &'a str,
    /// The subresource; empty for the object itself.
    pub subresource: &'a str,
}

/// The places in an encoded event of the members that all events of its request have in common.
#[derive(Clone, Debug, Default)]
struct SharedMembers {
    /// From the start to the id.
    id: Range<usize>,
    /// From the URI to the user.
    request: Range<usize>,
    /// From the addresses to the target.
    client: Range<usize>,
    received: Range<usize>,
}

/// Encodes two events of one request whose target is the same, for sinks that want them in JSON: the second one repeats the members
/// of the first.
pub fn encode_both(first: &Event<'_>, second: &Event<'_>) {
    let objects = [first, second].map(Event::objects_len);
    let mut out = Vec::with_capacity(2048 + objects[0] + objects[1]);
    let shared = first.write(&mut out, &Variant::whole(first), None);
    let end = out.len();
    second.write(&mut out, &Variant::whole(second), Some(&shared));
    let text = Bytes::from(out);
    // An event that is encoded already stays as it is.
    let _ = first.json.set(text.slice(..end));
    let _ = second.json.set(text.slice(end..));
}

/// The parts of an event that depend on its size.
struct Variant<'a> {
    request_object: &'a [u8],
    response_object: &'a [u8],
    /// An annotation beside those of the event.
    note: Option<(&'a str, &'a str)>,
}

impl<'a> Variant<'a> {
    fn whole(event: &Event<'a>) -> Self {
        Self {
            request_object: event.request_object,
            response_object: event.response_object,
            note: None,
        }
    }
}

impl Event<'_> {
    /// Returns the event in compact JSON, in the order of fields in which kube-apiserver writes it.
    pub fn to_json(&self) -> &Bytes {
        self.json.get_or_init(|| {
            let mut out = Vec::with_capacity(1024 + self.objects_len());
            self.write(&mut out, &Variant::whole(self), None);
            Bytes::from(out)
        })
    }

    /// Returns the event in compact JSON without the objects of request and answer, annotated with the reason.
    #[must_use]
    pub fn to_truncated_json(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1024);
        let truncated = Variant {
            request_object: &[],
            response_object: &[],
            note: Some(("audit.k8s.io/truncated", "true")),
        };
        self.write(&mut out, &truncated, None);
        out
    }

    fn objects_len(&self) -> usize {
        self.request_object.len() + self.response_object.len()
    }

    /// Appends the event. Members in `shared` are copied from their places in `out`. Returns the places of such members.
    fn write(&self, out: &mut Vec<u8>, variant: &Variant<'_>, shared: Option<&SharedMembers>) -> SharedMembers {
        let mut places = SharedMembers::default();
        let known = |of: fn(&SharedMembers) -> &Range<usize>| shared.map(|shared| of(shared).clone());
        places.id = repeat(out, known(|shared| &shared.id), |out| self.write_id(out));
        write_text_field(out, br#","stage":"#, self.stage.as_str());
        places.request = repeat(out, known(|shared| &shared.request), |out| self.write_request(out));
        if let Some(impersonated) = self.impersonated {
            user(out, br#","impersonatedUser":"#, impersonated);
        }
        places.client = repeat(out, known(|shared| &shared.client), |out| self.write_client(out));
        raw(out, br#","responseStatus":"#, self.status);
        raw(out, br#","requestObject":"#, variant.request_object);
        raw(out, br#","responseObject":"#, variant.response_object);
        out.extend_from_slice(br#","requestReceivedTimestamp":"#);
        places.received = repeat(out, known(|shared| &shared.received), |out| {
            self.received.write_json(out)
        });
        out.extend_from_slice(br#","stageTimestamp":"#);
        match self.at == self.received {
            true => out.extend_from_within(places.received.clone()),
            false => self.at.write_json(out),
        }
        self.write_annotations(out, variant.note);
        if !self.impersonation_constraint.is_empty() {
            out.extend_from_slice(br#","authenticationMetadata":"#);
            out.extend_from_slice(br#"{"impersonationConstraint":"#);
            encode_text(self.impersonation_constraint, out);
            out.push(b'}');
        }
        out.push(b'}');
        places
    }

    fn write_id(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(br#"{"kind":"Event","apiVersion":"audit.k8s.io/v1""#);
        write_text_field(out, br#","level":"#, self.level.as_str());
        write_text_field(out, br#","auditID":"#, self.id);
    }

    fn write_request(&self, out: &mut Vec<u8>) {
        write_text_field(out, br#","requestURI":"#, self.uri);
        // Written even if it is empty, which it is for a method that no verb of a resource has.
        out.extend_from_slice(br#","verb":"#);
        encode_text(self.verb, out);
        match self.user {
            Some(known) => user(out, br#","user":"#, known),
            None => out.extend_from_slice(br#","user":{}"#),
        }
    }

    fn write_client(&self, out: &mut Vec<u8>) {
        for (index, address) in self.source_ips.iter().enumerate() {
            out.extend_from_slice(if index == 0 { br#","sourceIPs":[""# } else { br#"",""# });
            write!(out, "{address}").expect("writing to memory does not fail");
        }
        if !self.source_ips.is_empty() {
            out.extend_from_slice(br#""]"#);
        }
        write_text_field(out, br#","userAgent":"#, self.user_agent);
        if let Some(object) = &self.object {
            out.extend_from_slice(br#","objectRef":"#);
            object.write(out);
        }
    }

    fn write_annotations(&self, out: &mut Vec<u8>, note: Option<(&str, &str)>) {
        let own = self
            .annotations
            .iter()
            .map(|(key, value)| (key.as_ref(), value.as_str()));
        let Some(note) = note else {
            if !self.annotations.is_empty() {
                out.extend_from_slice(br#","annotations":"#);
                object(out, own, encode_text);
            }
            return;
        };
        let mut all: Vec<(&str, &str)> = own.chain([note]).collect();
        all.sort_unstable();
        out.extend_from_slice(br#","annotations":"#);
        object(out, all.into_iter(), encode_text);
    }
}

/// Appends the bytes of `known`, or what `write` appends if there are none. Returns their place.
fn repeat(out: &mut Vec<u8>, known: Option<Range<usize>>, write: impl FnOnce(&mut Vec<u8>)) -> Range<usize> {
    let start = out.len();
    match known {
        Some(known) => out.extend_from_within(known),
        None => write(out),
    }
    start..out.len()
}

impl ObjectReference<'_> {
    fn write(&self, out: &mut Vec<u8>) {
        let start = out.len();
        write_text_field(out, br#","resource":"#, self.resource);
        write_text_field(out, br#","namespace":"#, self.namespace);
        write_text_field(out, br#","name":"#, self.name);
        write_text_field(out, br#","uid":"#, self.uid);
        write_text_field(out, br#","apiGroup":"#, self.group);
        write_text_field(out, br#","apiVersion":"#, self.version);
        write_text_field(out, br#","resourceVersion":"#, self.resource_version);
        write_text_field(out, br#","subresource":"#, self.subresource);
        enclose(out, start);
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
    let namespace = event.object.map_or("", |object| object.namespace);
    let namespace = if namespace.is_empty() { "<none>" } else { namespace };
    let response = match event.code {
        0 => "<deferred>".to_owned(),
        code => code.to_string(),
    };
    let ip = event
        .source_ips
        .first()
        .map_or_else(|| "<unknown>".to_owned(), IpAddr::to_string);
    format!(
        "{} AUDIT: id={} stage={} ip={} method={} user={} groups={} as={} asgroups={} user-agent={} namespace={} uri={} \
         response=\"{response}\"",
        event.received,
        quote(event.id),
        quote(event.stage.as_str()),
        quote(&ip),
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

/// Appends a user.
fn user(out: &mut Vec<u8>, name: &[u8], user: &UserInfo) {
    out.extend_from_slice(name);
    let start = out.len();
    write_text_field(out, br#","username":"#, &user.name);
    write_text_field(out, br#","uid":"#, &user.uid);
    texts(out, br#","groups":"#, &user.groups);
    if !user.extra.is_empty() {
        out.extend_from_slice(br#","extra":"#);
        let entries = user.extra.iter().map(|(key, values)| (key.as_str(), values.as_slice()));
        object(out, entries, |values, out| array(out, values));
    }
    enclose(out, start);
}

/// Makes an object of the members from `start` on, each with a comma before it.
fn enclose(out: &mut Vec<u8>, start: usize) {
    match out.get_mut(start) {
        Some(comma) => *comma = b'{',
        None => out.push(b'{'),
    }
    out.push(b'}');
}

#[cfg(test)]
mod tests;

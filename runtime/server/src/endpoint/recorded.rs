//! The object of a request, in its audit record.

use bytes::Bytes;
use planesmith_access::audit::Level;
use planesmith_machinery::json::{self, Next, Reader};
use planesmith_machinery::object::Object;
use planesmith_machinery::value::Struct;
use planesmith_machinery::{defaulting, meta, yaml};
use serde_json::Value;

use super::{Call, Endpoint};

impl Endpoint {
    /// Records an object as its client `sent` it, with the defaults of its version. `sent` is empty for protobuf.
    pub(crate) fn record_object(&self, call: &Call, object: &dyn Object, sent: &[u8]) {
        let Some(record) = &call.ctx.audit else { return };
        record.refer(object.meta());
        if record.level() >= Level::Request {
            let mut object = object.boxed();
            defaulting::set_defaults(&mut *object, self.stores().scheme().environment());
            record.request_object(with_sent_empties(json::to_vec(&*object), sent));
        }
    }
}

/// Returns an object with the empty lists and maps of the document that its client sent, where the object has null: objects do
/// not tell an empty list from an absent one, and kube-apiserver does until it stores them.
fn with_sent_empties(object: Vec<u8>, sent: &[u8]) -> Vec<u8> {
    const NULL: &[u8] = b":null";
    if !object.windows(NULL.len()).any(|part| part == NULL) {
        return object;
    }
    let Ok(sent) = serde_json::from_slice::<Value>(sent) else {
        return object;
    };
    let mut out = Vec::with_capacity(object.len());
    match copy_with_empties(&mut Reader::new(&object), Some(&sent), &mut out) {
        Some(()) => out,
        None => object,
    }
}

fn copy_with_empties(reader: &mut Reader<'_>, sent: Option<&Value>, out: &mut Vec<u8>) -> Option<()> {
    let (open, close) = match reader.peek().ok()? {
        Next::Object => (b'{', b'}'),
        Next::Array => (b'[', b']'),
        _ => {
            let value = reader.skip().ok()?;
            out.extend_from_slice(match sent {
                Some(Value::Array(sent)) if value == b"null" && sent.is_empty() => b"[]",
                Some(Value::Object(sent)) if value == b"null" && sent.is_empty() => b"{}",
                _ => value,
            });
            return Some(());
        }
    };
    out.push(open);
    let mut more = reader.enter(close).ok()?;
    let mut index = 0;
    while more {
        if index > 0 {
            out.push(b',');
        }
        let sent = match open {
            b'{' => {
                let key = reader.key().ok()?;
                json::encode_text(&key, out);
                out.push(b':');
                sent.and_then(|sent| sent.get(&*key))
            }
            _ => sent.and_then(|sent| sent.get(index)),
        };
        copy_with_empties(reader, sent, out)?;
        more = reader.another(close).ok()?;
        index += 1;
    }
    out.push(close);
    Some(())
}

impl Call {
    /// Records the body of a request that is not an object of its endpoint, such as a Scale.
    pub(crate) fn record_body(&self, body: &dyn Struct) {
        if let Some(record) = &self.ctx.audit
            && record.level() >= Level::Request
        {
            record.request_object(json::to_vec(body));
        }
    }

    /// Records a patch as its client sent it; one in YAML is recorded in JSON.
    pub(crate) fn record_patch(&self, patch: &Bytes) {
        let Some(record) = &self.ctx.audit else { return };
        if record.level() < Level::Request {
            return;
        }
        let mut compact = Vec::with_capacity(patch.len());
        if json::compact(patch, &mut compact).is_ok() {
            return record.request_object(compact);
        }
        // A patch that is neither is refused, and what cannot be part of a JSON document is not recorded.
        if let Ok(document) = yaml::to_json(patch) {
            record.request_object(document.json);
        }
    }

    /// Records the options of a deletion, under the name that kube-apiserver gives them here.
    pub(crate) fn record_delete_options(&self, options: &meta::DeleteOptions) {
        const SENT: &[u8] = br#"{"kind":"DeleteOptions","apiVersion":"v1""#;
        const RECORDED: &[u8] = br#"{"kind":"DeleteOptions","apiVersion":"meta.k8s.io/__internal""#;
        let Some(record) = &self.ctx.audit else { return };
        if record.level() >= Level::Request {
            let json = json::to_vec(options);
            let rest = json.strip_prefix(SENT);
            record.request_object(rest.map_or_else(|| json.clone(), |rest| [RECORDED, rest].concat()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_lists_are_recorded_as_they_were_sent() {
        let recorded = |object: &str, sent: &str| {
            let recorded = with_sent_empties(object.into(), sent.as_bytes());
            String::from_utf8(recorded).unwrap()
        };
        let object = r#"{"kind":"A","rules":null,"spec":{"b":null,"c":"\u003c"},"list":[{"d":null},{"d":null}]}"#;
        let sent = r#"{"list": [{}, {"d": {}}], "rules": [], "spec": {"b": null}, "other": []}"#;
        let expected = r#"{"kind":"A","rules":[],"spec":{"b":null,"c":"\u003c"},"list":[{"d":null},{"d":{}}]}"#;
        assert_eq!(recorded(object, sent), expected);
        assert_eq!(recorded(object, ""), object);
    }
}

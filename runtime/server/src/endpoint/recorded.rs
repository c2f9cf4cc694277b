//! The object of a request, in its audit record.

use bytes::Bytes;
use planesmith_access::audit::Level;
use planesmith_machinery::field_error::SentEmpty;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_machinery::value::Struct;
use planesmith_machinery::{defaulting, heap_size, json, meta, yaml};

use super::{Call, Endpoint};
use crate::large_bodies::LargeBodies;

impl Endpoint {
    /// Records an object as its client `sent` it, with the defaults of its version. `sent` is empty for protobuf.
    ///
    /// # Errors
    ///
    /// 429 when the memory of too many large bodies is in use.
    pub(crate) fn record_object(&self, call: &Call, object: &dyn Object, sent: &Bytes) -> ApiResult<()> {
        let Some(record) = &call.ctx.audit else {
            return Ok(());
        };
        record.refer(object.meta());
        if record.level() >= Level::Request {
            let mut object = object.boxed();
            defaulting::set_defaults(&mut *object, self.stores().scheme().environment());
            record.request_object(with_sent_empties(&*object, sent, self.stores().large_bodies())?);
        }
        Ok(())
    }
}

/// Returns the JSON of an object with the empty values of the document that its client sent, where the object has null: objects
/// do not tell an empty list from an absent one, and kube-apiserver does until it stores them.
fn with_sent_empties(object: &dyn Object, sent: &Bytes, bodies: &LargeBodies) -> ApiResult<Vec<u8>> {
    let json = json::to_vec(object);
    let restored = SentEmpty::new(object.facts(), sent).restored_in(&json, |document| {
        bodies.count(sent.len(), || heap_size::of_tree(document))
    })?;
    Ok(restored.unwrap_or(json))
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
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::{Resource, Struct};

    use super::*;

    #[derive(Clone, Debug, Default, PartialEq, Struct)]
    struct Rule {
        #[field(keep)]
        verbs: Vec<String>,
    }

    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Role")]
    struct Role {
        metadata: ObjectMeta,
        #[field(keep)]
        rules: Vec<Rule>,
        #[field(keep)]
        labels: Vec<String>,
    }

    fn recorded(sent: String, bodies: &LargeBodies) -> ApiResult<String> {
        let object = Role {
            rules: vec![Rule::default(), Rule::default()],
            ..Role::default()
        };
        let json = with_sent_empties(&object, &sent.into(), bodies)?;
        Ok(String::from_utf8(json).unwrap())
    }

    #[test]
    fn empty_lists_are_recorded_as_they_were_sent() {
        let recorded = |sent: &str| recorded(sent.to_owned(), &LargeBodies::default()).unwrap();
        let with = |second: &str, labels: &str| {
            let start = r#"{"kind":"Role","apiVersion":"test.example.com/v1","metadata":{"#;
            format!(r#"{start}}},"rules":[{{"verbs":null}},{{"verbs":{second}}}],"labels":{labels}}}"#)
        };
        let sent = r#"{"labels": [], "rules": [{}, {"verbs": []}], "other": []}"#;
        assert_eq!(recorded(sent), with("[]", "[]"));
        assert_eq!(recorded(""), with("null", "null"));
        assert_eq!(recorded(r#"{"Labels": []}"#), with("null", "null"), "names are exact");
    }

    #[test]
    fn the_memory_of_a_large_document_is_counted() {
        let bodies = LargeBodies::default();
        let sent = || format!(r#"{{"labels": [], "other": "{}"}}"#, "x".repeat(1 << 20));
        assert!(recorded(sent(), &bodies).is_ok());
        let _in_use = bodies.count(1 << 20, || usize::MAX / 2).unwrap();
        assert_eq!(recorded(sent(), &bodies).unwrap_err().code(), 429);
    }
}

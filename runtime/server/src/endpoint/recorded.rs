//! The object of a request, in its audit record.

use bytes::Bytes;
use planesmith_access::audit::Level;
use planesmith_machinery::object::Object;
use planesmith_machinery::value::Struct;
use planesmith_machinery::{defaulting, json, meta, yaml};

use super::{Call, Endpoint};

impl Endpoint {
    /// Records an object as its client sent it, with the defaults of its version.
    pub(crate) fn record_object(&self, call: &Call, object: &dyn Object) {
        let Some(record) = &call.ctx.audit else { return };
        record.refer(object.meta());
        if record.level() >= Level::Request {
            let mut sent = object.boxed();
            defaulting::set_defaults(&mut *sent, self.stores().scheme().environment());
            record.request_object(json::to_vec(&*sent));
        }
    }
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

//! The meaning of a request in its audit record.

use std::borrow::Cow;

use planesmith_access::audit::ObjectReference;

use super::RequestInfo;
use crate::audit::RecordedRequest;

impl RecordedRequest for RequestInfo {
    fn verb(&self) -> Cow<'static, str> {
        self.verb_text()
    }

    fn object(&self) -> Option<ObjectReference<'_>> {
        self.is_resource().then(|| ObjectReference {
            resource: self.resource(),
            namespace: self.namespace(),
            name: self.name(),
            group: self.group(),
            version: self.version(),
            subresource: self.subresource(),
            ..ObjectReference::default()
        })
    }

    fn is_mutating(&self) -> bool {
        Self::is_mutating(self)
    }

    fn is_long_running(&self) -> bool {
        Self::is_long_running(self)
    }
}

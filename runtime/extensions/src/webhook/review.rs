//! The request to a webhook, and its answer.

use planesmith_machinery::json::{self, Strictness};
use planesmith_server::proxy::BufferedResponse;
use serde_json::{Value, json};

/// A review of objects.
pub(super) struct Review {
    version: &'static str,
    uid: String,
    document: Value,
}

impl Review {
    /// Requests `objects` in the version `wanted`, in the first version of reviews that both sides support.
    pub(super) fn new(known: &[String], objects: &[Value], wanted: &str) -> Result<Self, String> {
        let version = known.iter().find_map(|version| match version.as_str() {
            "v1" => Some("v1"),
            "v1beta1" => Some("v1beta1"),
            _ => None,
        });
        let version = version.ok_or("no supported conversion review versions")?;
        let uid = uuid::Uuid::new_v4().to_string();
        let document = json!({
            "kind": "ConversionReview",
            "apiVersion": format!("apiextensions.k8s.io/{version}"),
            "request": {"uid": uid, "desiredAPIVersion": wanted, "objects": objects},
            // kube-apiserver sends the empty answer, too.
            "response": {"uid": "", "convertedObjects": null, "result": {"metadata": {}}},
        });
        Ok(Self { version, uid, document })
    }

    pub(super) fn document(&self) -> &Value {
        &self.document
    }

    /// Reads the body of an answer.
    pub(super) fn read(response: &BufferedResponse) -> Result<Value, String> {
        if !response.status.is_success() {
            return Err(response.refusal());
        }
        match json::parse_value(response.content()?, Strictness::Lenient) {
            Ok((answer, _)) => Ok(answer),
            Err(error) => Err(format!("couldn't get version/kind; json parse error: {error}")),
        }
    }

    /// Returns the objects in an answer, or the webhook's refusal.
    pub(super) fn answer(&self, mut answer: Value) -> Result<Vec<Value>, String> {
        let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        if self.version == "v1"
            && (text("/apiVersion"), text("/kind")) != ("apiextensions.k8s.io/v1", "ConversionReview")
        {
            let found = kind_in_words(&answer);
            return Err(format!(
                "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got {found}"
            ));
        }
        if !answer.get("response").is_some_and(Value::is_object) {
            return Err("no response provided".to_owned());
        }
        let uid = text("/response/uid");
        if self.version == "v1" && uid != self.uid {
            return Err(format!("expected response.uid={:?}, got {uid:?}", self.uid));
        }
        match (text("/response/result/status"), text("/response/result/message")) {
            ("Success", _) => {}
            (status, "") => return Err(format!("response.result.status was '{status}', not 'Success'")),
            (_, message) => return Err(message.to_owned()),
        }
        match answer.pointer_mut("/response/convertedObjects").map(Value::take) {
            Some(Value::Array(objects)) => Ok(objects),
            _ => Ok(Vec::new()),
        }
    }
}

/// Returns the kind that a document names, in the form of messages: the core group has a slash, too.
pub(super) fn kind_in_words(document: &Value) -> String {
    let text = |name: &str| document.get(name).and_then(Value::as_str).unwrap_or_default();
    let api_version = text("apiVersion");
    let slash = if api_version.contains('/') { "" } else { "/" };
    format!("{slash}{api_version}, Kind={}", text("kind"))
}

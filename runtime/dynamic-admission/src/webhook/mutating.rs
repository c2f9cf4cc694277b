//! The plugin that calls mutating webhooks, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use planesmith_access::admission::{AdmissionFuture, Attributes, Objects, Operation, Phase, Plugin, decided};
use planesmith_access::audit::Level;
use planesmith_api_defs::admissionregistration::v1::MutatingWebhookConfiguration;
use planesmith_control_plane::admission::Registration;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::group_version::GroupVersion;
use planesmith_machinery::json;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::scheme::Scheme;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_patch::patches::{apply_list, decode_patch};
use planesmith_server::metrics::{WebhookOutcome, WebhookType};
use planesmith_server::verbs::check_changed_kind;
use serde_json::Value;
use serde_json::value::RawValue;

use super::Webhook;
use super::call::{Failure, call, remaining, timed_out};
use super::client::Clients;
use super::configurations::Configurations;
use super::review::Decision;
use crate::reinvocation::Rounds;
use crate::request::Request;
use crate::sources::{Sources, store_of};
use crate::target::{Content, Target};
use crate::working_object::WorkingObject;

/// Asks mutating webhooks.
pub(crate) const MUTATING_WEBHOOKS: Registration = Registration::on("MutatingAdmissionWebhook", |initializer| {
    let Some(store) = store_of::<MutatingWebhookConfiguration>(initializer) else {
        return Ok(None);
    };
    Ok(Some(Arc::new(MutatingWebhooks {
        configurations: Configurations::new::<MutatingWebhookConfiguration>(store),
        clients: Clients::new(initializer)?,
        sources: Sources::new(initializer),
    })))
});

struct MutatingWebhooks {
    configurations: Configurations,
    clients: Clients,
    sources: Sources,
}

/// The calls for one request so far, over both rounds.
#[derive(Debug, Default)]
struct WebhookRounds(Rounds);

/// One of the rounds in which the webhooks are called about a request.
struct Round<'r> {
    plugin: &'r MutatingWebhooks,
    request: Request<'r>,
    /// 0, or 1 for the second round.
    number: usize,
}

impl Plugin for MutatingWebhooks {
    fn name(&self) -> &'static str {
        MUTATING_WEBHOOKS.name
    }

    fn handles(&self, _: Operation, phase: Phase) -> bool {
        phase == Phase::Mutating
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        let webhooks = self.configurations.current();
        if webhooks.is_empty() || Request::is_exempt(attributes) {
            return decided(Ok(()));
        }
        let round = Round {
            plugin: self,
            request: Request::new(attributes, objects),
            number: usize::from(attributes.is_second_round()),
        };
        Box::pin(async move { round.run(&webhooks, objects).await })
    }
}

impl Round<'_> {
    async fn run(&self, webhooks: &[Arc<Webhook>], objects: &mut Objects<'_>) -> ApiResult<()> {
        let attributes = self.request.attributes;
        if self.number > 0 {
            attributes.with_state(|WebhookRounds(rounds)| rounds.begin_second(objects.new.as_deref()));
        }
        let mut object = WorkingObject::new(objects, attributes, self.plugin.sources.scheme.environment());
        for (index, webhook) in webhooks.iter().enumerate() {
            self.call_if_selected(index, webhook, &mut object).await?;
        }
        object.finish().await?;
        attributes.with_state(|WebhookRounds(rounds)| rounds.finish(objects.new.as_deref()));
        Ok(())
    }

    /// Calls one webhook, if it selects the request.
    async fn call_if_selected(
        &self,
        index: usize,
        webhook: &Webhook,
        object: &mut WorkingObject<'_, '_>,
    ) -> ApiResult<()> {
        let (request, sources) = (&self.request, &self.plugin.sources);
        let Some(target) = webhook.selects(request, object.labels(request), sources)? else {
            return Ok(());
        };
        let documents = object.documents(request, &target).await?;
        if !webhook
            .conditions_select(request, &target, documents, sources, WebhookType::Mutating)
            .await?
        {
            return Ok(());
        }
        let attributes = request.attributes;
        let is_due = self.number == 0 || attributes.with_state(|WebhookRounds(rounds)| rounds.is_repeated(&webhook.id));
        if !is_due {
            return Ok(());
        }
        let begin = Instant::now();
        let called = self.call(index, webhook, &target, object).await;
        self.measure(webhook, &called, begin);
        let has_changed = matches!(called, Ok(true));
        self.annotate_mutation(index, webhook, has_changed);
        attributes.with_state(|WebhookRounds(rounds)| {
            if has_changed {
                rounds.repeat();
            }
            if webhook.is_reinvoked {
                rounds.wait_for_changes(webhook.id.clone());
            }
        });
        if has_changed {
            attributes.reinvoke();
        }
        match called {
            Ok(_) => Ok(()),
            Err(Failure::Call { why, .. }) if webhook.ignores_failures => {
                tracing::warn!(webhook = webhook.name, %why, "a mutating webhook failed; the request goes on without it");
                sources
                    .metrics
                    .webhooks()
                    .failed_open(&webhook.name, WebhookType::Mutating);
                self.annotate(
                    index,
                    "failed-open.mutation.webhook.admission.k8s.io",
                    Level::Metadata,
                    || webhook.name.clone(),
                );
                match remaining(attributes) {
                    Some(left) if left.is_zero() => Err(timed_out()),
                    Some(_) | None => Ok(()),
                }
            }
            Err(Failure::Call { why, .. }) => {
                tracing::warn!(webhook = webhook.name, %why, "a mutating webhook failed; the request is refused");
                Err(ApiError::internal(why))
            }
            Err(Failure::Rejection(error) | Failure::Server(error)) => Err(error),
        }
    }

    /// Calls the webhook and applies its patch; true if that changed the object.
    async fn call(
        &self,
        index: usize,
        webhook: &Webhook,
        target: &Target,
        object: &mut WorkingObject<'_, '_>,
    ) -> Result<bool, Failure> {
        let documents = object.documents(&self.request, target).await.map_err(Failure::Server)?;
        let decision = call(
            webhook,
            &self.plugin.clients,
            &self.request,
            target,
            documents,
            WebhookType::Mutating,
        )
        .await?;
        if !has_operations(webhook, &decision)? {
            return Ok(false);
        }
        let (new, _) = documents;
        let patched = patched(webhook, &decision, new)?;
        let other = match &target.content {
            Content::Version(facts) => {
                let scheme = &self.plugin.sources.scheme;
                other_version(&patched, facts, scheme).map_err(Failure::Server)?
            }
            Content::Scale | Content::Posted(_) | Content::Options => None,
        };
        let replaced = match other {
            Some(version) => object.replace_with_other(target, &version, patched),
            None => object.replace(target, patched),
        };
        let has_changed = replaced.map_err(Failure::Server)?;
        self.annotate_patch(index, webhook, &decision);
        Ok(has_changed)
    }

    fn measure(&self, webhook: &Webhook, called: &Result<bool, Failure>, begin: Instant) {
        let outcome = match called {
            Ok(_) => WebhookOutcome::Admitted,
            Err(Failure::Call { code, .. }) => WebhookOutcome::Unanswered {
                code: *code,
                ignored: webhook.ignores_failures,
            },
            Err(Failure::Rejection(error)) => WebhookOutcome::Rejected { code: error.code() },
            Err(Failure::Server(_)) => WebhookOutcome::ServerFailed,
        };
        let operation = self.request.attributes.operation;
        let metrics = self.plugin.sources.metrics.webhooks();
        metrics.called(
            &webhook.name,
            WebhookType::Mutating,
            operation,
            outcome,
            begin.elapsed(),
        );
    }

    fn annotate_mutation(&self, index: usize, webhook: &Webhook, mutated: bool) {
        self.annotate(index, "mutation.webhook.admission.k8s.io", Level::Metadata, || {
            let mutated: &[u8] = if mutated { b"true" } else { b"false" };
            annotation(&webhook.configuration, &webhook.name, &[("mutated", mutated)])
        });
    }

    fn annotate_patch(&self, index: usize, webhook: &Webhook, decision: &Decision) {
        self.annotate(index, "patch.webhook.admission.k8s.io", Level::Request, || {
            let mut patch_type = Vec::new();
            json::encode_text(&decision.patch_type, &mut patch_type);
            let patch = annotated_patch(&decision.patch);
            annotation(
                &webhook.configuration,
                &webhook.name,
                &[("patch", &patch), ("patchType", &patch_type)],
            )
        });
    }

    /// Adds an annotation about the webhook number `index` to an audit event that has `level` at least.
    fn annotate(&self, index: usize, prefix: &str, level: Level, value: impl FnOnce() -> String) {
        let annotations = self.request.attributes.annotations;
        annotations.add_with(level, || {
            let key = format!("{prefix}/round_{}_index_{index}", self.number);
            (key.into(), value())
        });
    }
}

/// Returns the value of an annotation about a webhook, with further members, whose values are JSON.
fn annotation(configuration: &str, webhook: &str, members: &[(&str, &[u8])]) -> String {
    let names = [("configuration", configuration), ("webhook", webhook)].map(|(member, name)| {
        let mut value = Vec::new();
        json::encode_text(name, &mut value);
        (member, value)
    });
    let names = names.iter().map(|(member, value)| (*member, value.as_slice()));
    let mut text = Vec::new();
    json::encode_object(names.chain(members.iter().copied()), &mut text, |value, out| {
        out.extend_from_slice(value);
    });
    String::from_utf8_lossy(&text).into_owned()
}

/// Returns a JSON patch as annotations have it: the members of operations are sorted, their values are as the webhook wrote
/// them, without white space.
fn annotated_patch(patch: &[u8]) -> Vec<u8> {
    let mut text = Vec::with_capacity(patch.len());
    let operations: Vec<Option<BTreeMap<String, &RawValue>>> = serde_json::from_slice(patch).unwrap_or_default();
    json::encode_array(operations, &mut text, |operation, out| match operation {
        None => out.extend_from_slice(b"null"),
        Some(members) => {
            let members = members.iter().map(|(name, value)| (name.as_str(), value));
            json::encode_object(members, out, |value, out| {
                if json::compact(value.get().as_bytes(), out).is_err() {
                    out.extend_from_slice(b"null");
                }
            });
        }
    });
    text
}

/// True if the patch of a decision has operations.
fn has_operations(webhook: &Webhook, decision: &Decision) -> Result<bool, Failure> {
    if decision.patch.is_empty() {
        return Ok(false);
    }
    let patch = decode_patch(&decision.patch).map_err(|why| {
        let why = format_args!("received undecodable patch in webhook response: {why}");
        Failure::call(webhook, 503, why)
    })?;
    Ok(patch.as_array().is_some_and(|operations| !operations.is_empty()))
}

/// Returns `document` as the patch of a decision changes it.
fn patched(webhook: &Webhook, decision: &Decision, document: &Value) -> Result<Value, Failure> {
    if document.is_null() {
        let name = quote(&webhook.name);
        return Err(Failure::Server(ApiError::internal(format!(
            "admission webhook {name} attempted to modify the object, which is not supported for this operation"
        ))));
    }
    if decision.patch_type != "JSONPatch" {
        let name = quote(&decision.patch_type);
        return Err(Failure::call(
            webhook,
            400,
            format_args!("unsupported patch type {name}"),
        ));
    }
    apply(&decision.patch, document).map_err(Failure::Server)
}

/// The version of its kind that a patched document names; `None` for the version of `facts`.
///
/// # Errors
///
/// 500 for a document of another kind, or of a version that a custom kind does not have.
fn other_version(document: &Value, facts: &ResourceFacts, scheme: &Scheme) -> ApiResult<Option<ResourceFacts>> {
    let Some(mut versions) = facts.defined_versions() else {
        return Ok(check_changed_kind(document, facts, scheme)?.cloned());
    };
    let text = |name: &str| document[name].as_str().unwrap_or_default();
    let (named, own) = (text("apiVersion"), &facts.api_version);
    if *named == **own {
        return Ok(None);
    }
    let GroupVersion { group, version } = GroupVersion::parse(named).unwrap_or_default();
    if *group != *facts.group {
        let kind = text("kind");
        let why =
            format!("{group}/{version}, Kind={kind} is unstructured and is not suitable for converting to \"{own}\"");
        return Err(ApiError::unnamed(500, why));
    }
    let why = format!("request to convert CR from an invalid group/version: {named}");
    let found = versions.find(|version| *version.api_version == *named);
    found.map(Some).ok_or_else(|| ApiError::unnamed(500, why))
}

/// Applies a list of operations to `document`.
fn apply(patch: &[u8], document: &Value) -> ApiResult<Value> {
    let mut text = Vec::new();
    json::encode_value(document, &mut text);
    let patched = apply_list(&text, patch).map_err(ApiError::internal)?;
    serde_json::from_slice(&patched).map_err(ApiError::internal)
}

#[cfg(test)]
mod tests {
    use planesmith_api_defs::core::v1::{ConfigMap, Secret};
    use planesmith_machinery::object::Resource as _;
    use serde_json::json;

    use super::*;

    #[test]
    fn patches_that_do_not_apply_are_explained() {
        let cases = [
            (r#"[{"op": "foo"}]"#, "Unexpected kind: foo"),
            ("[null]", "Unexpected kind: unknown"),
            (
                r#"[{"op": "replace", "path": "", "value": 1}]"#,
                "replace operation value must be object or array: %!w(<nil>)",
            ),
            (
                r#"[{"op": "test", "path": "/data/x", "value": "w"}]"#,
                "testing value /data/x failed: test failed",
            ),
            (
                r#"[{"op": "remove", "path": "/q"}]"#,
                "error in remove for path: '/q': Unable to remove nonexistent key: q: missing value",
            ),
            (
                r#"[{"op": "remove", "path": "/nope/x"}]"#,
                "remove operation does not apply: doc is missing path: \"/nope/x\": missing value",
            ),
        ];
        let document = json!({"kind": "ConfigMap", "data": {"x": "v"}});
        for (patch, why) in cases {
            let error = apply(patch.as_bytes(), &document).expect_err("does not apply");
            assert_eq!(error.message(), format!("Internal error occurred: {why}"), "{patch}");
        }
    }

    #[test]
    fn tested_values_are_compared_as_go_writes_them() {
        let document = json!({"data": {"x": "a<b"}});
        let sent = r#"[{"op": "test", "path": "/data/x", "value": "a\u003cb"}]"#;
        assert_eq!(apply(sent.as_bytes(), &document), Ok(document.clone()));
        let other = r#"[{"op": "test", "path": "/data/x", "value": "a<b"}]"#;
        assert!(apply(other.as_bytes(), &document).is_err());
    }

    #[test]
    fn patches_do_not_change_the_kind() {
        let mut scheme = Scheme::default();
        scheme.add::<ConfigMap>();
        scheme.add::<Secret>();
        let problem = |api_version: &str, kind: &str| {
            let document = json!({"apiVersion": api_version, "kind": kind});
            let checked = check_changed_kind(&document, ConfigMap::RESOURCE, &scheme);
            let checked = checked.map(|other| other.map(|other| other.api_version.to_string()));
            checked.map_err(|error| (error.code(), error.message().to_owned()))
        };
        assert_eq!(problem("v1", "ConfigMap"), Ok(None));
        let why = "converting (v1.Secret) to (core.ConfigMap): unknown conversion";
        assert_eq!(problem("v1", "Secret"), Err((500, why.to_owned())));
        let why = "Internal error occurred: no kind \"Foo\" is registered for version \"v1\" in scheme \
                   \"pkg/api/legacyscheme/scheme.go:30\"";
        assert_eq!(problem("v1", "Foo"), Err((500, why.to_owned())));
    }

    #[test]
    fn annotations_have_their_members_in_the_order_of_kube_apiserver() {
        assert_eq!(
            annotation("all", "a.example.com", &[("mutated", b"true")]),
            r#"{"configuration":"all","webhook":"a.example.com","mutated":true}"#
        );
        let patch = r#"[ {"value": {"z": "<", "a": 1.0}, "path": "/x", "op": "add"}, null ]"#;
        assert_eq!(
            String::from_utf8(annotated_patch(patch.as_bytes())).expect("text"),
            r#"[{"op":"add","path":"/x","value":{"z":"\u003c","a":1.0}},null]"#
        );
    }

    #[test]
    fn patches_are_lists_of_operations() {
        let cases = [
            (
                "{}",
                "json: cannot unmarshal object into Go value of type jsonpatch.Patch",
            ),
            (
                "[1]",
                "json: cannot unmarshal number into Go value of type jsonpatch.Operation",
            ),
            ("[}", "invalid character '}' looking for beginning of value"),
        ];
        for (patch, why) in cases {
            assert_eq!(decode_patch(patch.as_bytes()), Err(why.to_owned()));
        }
    }
}

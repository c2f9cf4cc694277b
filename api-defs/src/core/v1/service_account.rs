//! Service accounts.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy};

use super::{LocalObjectReference, ObjectReference};

/// Annotation that limits pods to the secrets that the account lists.
const ENFORCE_MOUNTABLE_SECRETS: &str = "kubernetes.io/enforce-mountable-secrets";

/// An identity for programs in pods, with which they access the API.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "",
    version = "v1",
    short("sa"),
    subresource = "token",
    returns_deleted,
    strategy
)]
pub struct ServiceAccount {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Secrets that pods of this account may mount if the annotation kubernetes.io/enforce-mountable-secrets is true.
    /// Only the names are used. Prefer separate namespaces.
    #[field(proto = 2, list_type = map, list_map_keys("name"), patch_strategy(merge), patch_merge_key = "name")]
    pub secrets: Vec<ObjectReference>,
    /// Secrets with registry credentials for pods of this account that specify none.
    #[field(proto = 3, list_type = atomic)]
    pub image_pull_secrets: Vec<LocalObjectReference>,
    /// True if a token of this account is mounted into its pods by default; pods can override it. True when absent.
    #[field(proto = 4)]
    pub automount_service_account_token: Option<bool>,
}

impl Strategy for ServiceAccount {
    fn prepare_for_create(&mut self, _: &Context<'_>) {
        self.keep_names_of_secrets();
    }

    fn prepare_for_update(&mut self, _: &Context<'_>, _old: &Self) {
        self.keep_names_of_secrets();
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.warnings_since(None)
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        self.warnings_since(Some(old))
    }
}

impl ServiceAccount {
    /// Returns the warnings about the new object; `old` is absent on create.
    fn warnings_since(&self, old: Option<&Self>) -> Vec<String> {
        let set = |account: &Self| account.metadata.annotations.contains_key(ENFORCE_MOUNTABLE_SECRETS);
        if !set(self) || old.is_some_and(set) {
            return Vec::new();
        }
        vec![format!(
            "metadata.annotations[{ENFORCE_MOUNTABLE_SECRETS}]: deprecated in v1.32+; prefer separate namespaces to \
             isolate access to mounted secrets"
        )]
    }

    fn keep_names_of_secrets(&mut self) {
        for secret in &mut self.secrets {
            *secret = ObjectReference {
                name: std::mem::take(&mut secret.name),
                ..ObjectReference::default()
            };
        }
    }
}

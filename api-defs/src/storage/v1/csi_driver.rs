//! Storage drivers.

mod columns;

use std::collections::BTreeSet;

use planesmith_machinery::environment::Environment;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::{Context, Strategy, StrategyExtensions, UpdateStep, update_order};
use planesmith_machinery::value::Value;
use planesmith_machinery::{Resource, Struct};

use crate::features::VOLUME_LIMIT_SCALING;

/// Properties of a storage driver that the cluster needs: the attachment of its volumes, the information it receives on
/// mounting, and the ownership of files. The name of the object is the name of the driver.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "storage.k8s.io",
    version = "v1",
    cluster,
    conditional_update,
    returns_deleted,
    strategy,
    strategy_extensions
)]
#[resource(column(name), column(name = "AttachRequired", type = "boolean", doc = "True if volumes must be attached.", with = columns::attach_required), column(name = "PodInfoOnMount", type = "boolean", doc = "True if the driver receives information about the pod.", with = columns::pod_info), column(name = "StorageCapacity", type = "boolean", doc = "True if the scheduler considers its capacity.", with = columns::storage_capacity), column(name = "TokenRequests", type = "string", doc = "Audiences of the tokens that the driver receives.", with = columns::token_requests), column(name = "RequiresRepublish", type = "boolean", doc = "True if the driver is called periodically.", with = columns::requires_republish), column(name = "Modes", type = "string", doc = "Kinds of volumes that it supports.", with = columns::modes), column(age))]
pub struct CSIDriver {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Properties of the driver.
    #[field(proto = 2, keep)]
    pub spec: CSIDriverSpec,
}

/// Properties of a storage driver.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct CSIDriverSpec {
    /// True if volumes must be attached to a node before they are mounted. True when absent. Immutable.
    #[field(proto = 1)]
    pub attach_required: Option<bool>,
    /// True if the driver receives the name, namespace, UID and service account of the pod when it mounts a volume.
    #[field(proto = 2)]
    pub pod_info_on_mount: Option<bool>,
    /// Modes of volumes that the driver supports: Persistent (the default), and Ephemeral for inline volumes of pods.
    /// Immutable.
    #[field(proto = 3, list_type = set, go_type = "[]VolumeLifecycleMode")]
    pub volume_lifecycle_modes: Vec<String>,
    /// True if the scheduler considers the CSIStorageCapacity objects of the driver when it places a pod whose volume
    /// is not provisioned yet.
    #[field(proto = 4)]
    pub storage_capacity: Option<bool>,
    /// Policy for changing the owner and the permissions of a volume to the fsGroup of a pod: ReadWriteOnceWithFSType
    /// (the default), File or None.
    #[field(proto = 5, go_type = "FSGroupPolicy")]
    pub fs_group_policy: Option<String>,
    /// Tokens of the pod's service account that the driver receives when it mounts a volume, at most one for each
    /// audience.
    #[field(proto = 6, list_type = atomic)]
    pub token_requests: Vec<TokenRequest>,
    /// True if the driver is called periodically for mounted volumes, so that it can refresh their content.
    #[field(proto = 7)]
    pub requires_republish: Option<bool>,
    /// True if the driver supports SELinux labels as a mount option.
    #[field(proto = 8)]
    pub se_linux_mount: Option<bool>,
    /// Interval in seconds at which nodes update the driver's volume limit; at least 10. No periodic updates when
    /// absent.
    #[field(proto = 9)]
    pub node_allocatable_update_period_seconds: Option<i64>,
    /// True if tokens are passed in the field for secrets instead of the volume attributes. Only together with
    /// tokenRequests.
    #[field(proto = 10)]
    pub service_account_token_in_secrets: Option<bool>,
    /// True if pods that use the driver are not scheduled to nodes where it is not registered. Belongs to an alpha
    /// feature that is disabled here: values are dropped.
    #[field(proto = 11)]
    pub prevent_pod_scheduling_if_missing: Option<bool>,
}

/// A token of a pod's service account that a storage driver requires.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct TokenRequest {
    /// Audience of the token. The API server when empty.
    #[field(proto = 1, keep)]
    pub audience: String,
    /// Validity of the token in seconds. One hour when absent.
    #[field(proto = 2)]
    pub expiration_seconds: Option<i64>,
}

/// Legal volume modes of a driver.
const MODES: [&str; 2] = ["Persistent", "Ephemeral"];

/// Legal values of `fsGroupPolicy`.
const FS_GROUP_POLICIES: [&str; 3] = ["File", "None", "ReadWriteOnceWithFSType"];

/// Minimum and maximum validity of a token in seconds.
const TOKEN_SECONDS: (i64, i64) = (600, 1 << 32);

/// Minimum interval of limit updates in seconds.
const MIN_UPDATE_PERIOD: i64 = 10;

impl Strategy for CSIDriver {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }

    fn prepare_for_create(&mut self, context: &Context<'_>) {
        if !context.features.has(&VOLUME_LIMIT_SCALING) {
            self.spec.prevent_pod_scheduling_if_missing = None;
        }
    }

    fn prepare_for_update(&mut self, context: &Context<'_>, old: &Self) {
        if !context.features.has(&VOLUME_LIMIT_SCALING) && old.spec.prevent_pod_scheduling_if_missing.is_none() {
            self.spec.prevent_pod_scheduling_if_missing = None;
        }
        if self.spec != old.spec {
            self.metadata.generation = old.metadata.generation + 1;
        }
    }

    fn validate(&self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        let spec = &self.spec;
        if let Some(policy) = spec.fs_group_policy.as_deref()
            && !FS_GROUP_POLICIES.contains(&policy)
        {
            errors.not_supported("fsGroupPolicy", policy, &FS_GROUP_POLICIES);
        }
        spec.check_token_requests(errors);
        for mode in &spec.volume_lifecycle_modes {
            if !MODES.contains(&mode.as_str()) {
                errors.not_supported_in_order("volumeLifecycleModes", mode, &MODES);
            }
        }
        if let Some(seconds) = spec.node_allocatable_update_period_seconds
            && seconds < MIN_UPDATE_PERIOD
        {
            let detail = "must be greater than or equal to 10 seconds";
            errors.invalid("nodeAllocatableUpdatePeriodSeconds", seconds, detail);
        }
        if let Some(in_secrets) = spec.service_account_token_in_secrets
            && spec.token_requests.is_empty()
        {
            let detail = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
            errors.invalid("serviceAccountTokenInSecrets", in_secrets, detail);
        }
    }

    fn warnings_on_create(&self) -> Vec<String> {
        self.spec.warnings()
    }

    fn warnings_on_update(&self, old: &Self) -> Vec<String> {
        match old.spec.token_requests == self.spec.token_requests {
            true => Vec::new(),
            false => self.spec.warnings(),
        }
    }

    fn validate_update(&self, old: &Self, errors: &mut FieldErrors) {
        let errors = &mut *errors.at("spec");
        let (new, old) = (&self.spec, &old.spec);
        if new.attach_required != old.attach_required {
            // The error has the field name of kube-apiserver.
            errors.invalid(
                "attachedRequired",
                &new.attach_required as &dyn Value,
                "field is immutable",
            );
        }
        if new.volume_lifecycle_modes != old.volume_lifecycle_modes {
            errors.invalid(
                "volumeLifecycleModes",
                &new.volume_lifecycle_modes as &dyn Value,
                "field is immutable",
            );
        }
    }
}

impl StrategyExtensions for CSIDriver {
    const UPDATE_ORDER: &'static [UpdateStep] = update_order::METADATA_FIRST;

    fn set_server_defaults(&mut self, environment: &Environment) {
        if environment.features.has(&VOLUME_LIMIT_SCALING) {
            self.spec.prevent_pod_scheduling_if_missing.get_or_insert(false);
        }
    }
}

impl CSIDriverSpec {
    /// Sets the defaults.
    pub(crate) fn set_defaults(&mut self) {
        self.attach_required.get_or_insert(true);
        self.pod_info_on_mount.get_or_insert(false);
        self.storage_capacity.get_or_insert(false);
        self.fs_group_policy
            .get_or_insert_with(|| "ReadWriteOnceWithFSType".to_owned());
        if self.volume_lifecycle_modes.is_empty() {
            self.volume_lifecycle_modes.push(MODES[0].to_owned());
        }
        self.requires_republish.get_or_insert(false);
        self.se_linux_mount.get_or_insert(false);
    }

    /// Returns the warnings about a valid driver.
    fn warnings(&self) -> Vec<String> {
        if self.token_requests.is_empty() || self.service_account_token_in_secrets.is_some() {
            return Vec::new();
        }
        let warning = "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to \
                       prevent possible logging of tokens in volume attributes";
        vec![warning.to_owned()]
    }

    fn check_token_requests(&self, errors: &mut FieldErrors) {
        let mut audiences = BTreeSet::new();
        for (index, request) in self.token_requests.iter().enumerate() {
            let errors = &mut *errors.at_index("tokenRequests", index);
            if !audiences.insert(request.audience.as_str()) {
                errors.duplicate("audience", &request.audience);
                continue;
            }
            match request.expiration_seconds {
                Some(seconds) if seconds < TOKEN_SECONDS.0 => {
                    let detail = "may not specify a duration less than 10 minutes";
                    errors.invalid("expirationSeconds", seconds, detail);
                }
                Some(seconds) if seconds > TOKEN_SECONDS.1 => {
                    let detail = "may not specify a duration larger than 2^32 seconds";
                    errors.invalid("expirationSeconds", seconds, detail);
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::defaulting::set_defaults;
    use planesmith_machinery::feature::Features;

    use super::*;

    #[test]
    fn drivers_prevent_scheduling_only_with_the_feature() {
        let with = Features::default().with(&VOLUME_LIMIT_SCALING, true);
        for (features, expected) in [(Features::defaults(), None), (&with, Some(false))] {
            let mut driver = CSIDriver::default();
            let environment = Environment {
                features: features.clone(),
                ..Environment::default()
            };
            set_defaults(&mut driver, &environment);
            assert_eq!(driver.spec.prevent_pod_scheduling_if_missing, expected);
            driver.spec.prevent_pod_scheduling_if_missing = Some(true);
            let context = Context {
                features,
                ..Context::default()
            };
            driver.prepare_for_create(&context);
            assert_eq!(driver.spec.prevent_pod_scheduling_if_missing, expected.map(|_| true));
        }
    }
}

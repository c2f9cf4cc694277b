//! Sets the service account of pods, and mounts its token.

mod secrets;

use std::sync::Arc;
use std::time::Duration;

use planesmith_access::admission::{AdmissionFuture, Attributes, Lister, Objects, Operation, Phase, Plugin, decided};
use planesmith_api_defs::core::v1::{
    ConfigMapProjection, Container, DownwardAPIProjection, DownwardAPIVolumeFile, KeyToPath, LocalObjectReference,
    ObjectFieldSelector, Pod, ProjectedVolumeSource, ServiceAccount, ServiceAccountTokenProjection, Volume,
    VolumeMount, VolumeProjection, VolumeSource,
};
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_server::generated_name::generated_name;

/// The service account of pods that name none.
const DEFAULT: &str = "default";
/// The prefix of the names of token volumes.
const VOLUME: &str = "kube-api-access-";
const MOUNT_PATH: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// The lifetime of tokens in pods: an hour and seven seconds. Its odd value marks tokens of pods that may expect
/// tokens to last.
const TOKEN_SECONDS: i64 = 3607;
/// Marks a copy of a manifest on a node; such a pod runs whatever the server decides.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The delays between looks for the default account of a new namespace: a controller creates it a moment after the
/// namespace.
const RETRY_DELAYS: [Duration; 10] = [Duration::from_millis(100); 10];

/// Sets the service account of pods.
pub(super) struct ServiceAccounts {
    pub(super) objects: Arc<dyn Lister>,
}

impl ServiceAccounts {
    async fn complete(&self, attributes: &Attributes<'_>, objects: &mut Objects<'_>) -> ApiResult<()> {
        let Some(pod) = pod_in(attributes, objects).filter(|_| attributes.operation == Operation::Create) else {
            return Ok(());
        };
        if is_mirror(pod) {
            return self.check(attributes, objects);
        }
        let name = match pod.spec.service_account_name.as_str() {
            "" => DEFAULT.to_owned(),
            name => name.to_owned(),
        };
        for pause in RETRY_DELAYS {
            if name != DEFAULT
                || self
                    .objects
                    .find::<ServiceAccount>(attributes.namespace, &name)?
                    .is_some()
            {
                break;
            }
            tokio::time::sleep(pause).await;
        }
        let account = self.account(attributes, objects, &name)?;
        if let Some(pod) = objects.new_as_mut::<Pod>() {
            pod.spec.service_account_name.clone_from(&name);
            pod.spec.service_account = name;
            let wanted = pod.spec.automount_service_account_token;
            if wanted.or(account.automount_service_account_token).unwrap_or(true) {
                mount_token(pod);
            }
            if pod.spec.image_pull_secrets.is_empty() {
                pod.spec.image_pull_secrets.clone_from(&account.image_pull_secrets);
            }
        }
        self.check(attributes, objects)
    }

    fn check(&self, attributes: &Attributes<'_>, objects: &Objects<'_>) -> ApiResult<()> {
        let Some(pod) = pod_in(attributes, objects) else {
            return Ok(());
        };
        let refuse = |why: String| attributes.forbidden(objects.new.as_deref(), why);
        if attributes.operation == Operation::Update && attributes.subresource == "ephemeralcontainers" {
            let account = self.account(attributes, objects, &pod.spec.service_account_name)?;
            return secrets::check_ephemeral(&account, pod).map_err(refuse);
        }
        if attributes.operation != Operation::Create {
            return Ok(());
        }
        if is_mirror(pod) {
            return check_mirror(pod).map_err(refuse);
        }
        if pod.spec.service_account_name.is_empty() {
            let (namespace, name) = (attributes.namespace, &pod.metadata.name);
            return Err(refuse(format!(
                "no service account specified for pod {namespace}/{name}"
            )));
        }
        let account = self.account(attributes, objects, &pod.spec.service_account_name)?;
        secrets::check(&account, pod).map_err(refuse)
    }

    fn account(
        &self,
        attributes: &Attributes<'_>,
        objects: &Objects<'_>,
        name: &str,
    ) -> ApiResult<Arc<ServiceAccount>> {
        let namespace = attributes.namespace;
        let refuse = |why: &dyn std::fmt::Display| -> ApiError {
            let why = format!("error looking up service account {namespace}/{name}: {why}");
            attributes.forbidden(objects.new.as_deref(), why)
        };
        match self.objects.fetch::<ServiceAccount>(namespace, name) {
            Ok(Some(account)) => Ok(account),
            Ok(None) => Err(refuse(&format_args!("serviceaccount {name:?} not found"))),
            Err(error) => Err(refuse(&error.message())),
        }
    }
}

/// Returns the pod that is written; `None` for a write that does not concern accounts.
fn pod_in<'o>(attributes: &Attributes<'_>, objects: &'o Objects<'_>) -> Option<&'o Pod> {
    let concerned = matches!(attributes.subresource, "" | "ephemeralcontainers");
    objects.new_as::<Pod>().filter(|_| concerned)
}

fn is_mirror(pod: &Pod) -> bool {
    pod.metadata.annotations.contains_key(MIRROR)
}

fn check_mirror(pod: &Pod) -> Result<(), String> {
    if !pod.spec.service_account_name.is_empty() {
        return Err("a mirror pod may not reference service accounts".to_owned());
    }
    if secrets::names_any(pod) {
        return Err("a mirror pod may not reference secrets".to_owned());
    }
    let projected = pod
        .spec
        .volumes
        .iter()
        .filter_map(|volume| volume.volume_source.projected.as_ref());
    let mut sources = projected.flat_map(|projected| &projected.sources);
    if sources.any(|source| source.service_account_token.is_some()) {
        return Err("a mirror pod may not use ServiceAccountToken volume projections".to_owned());
    }
    Ok(())
}

/// Mounts a token in every container that mounts nothing at its path.
fn mount_token(pod: &mut Pod) {
    let own = pod.spec.volumes.iter().find(|volume| volume.name.starts_with(VOLUME));
    let has_volume = own.is_some();
    let name = own.map_or_else(|| generated_name(VOLUME), |volume| volume.name.clone());
    let spec = &mut pod.spec;
    let mut mounted = false;
    let mut mount = |container: &mut Container| {
        let mut mounts = container.volume_mounts.iter();
        if !mounts.any(|mount| mount.mount_path == MOUNT_PATH) {
            container.volume_mounts.push(VolumeMount {
                name: name.clone(),
                read_only: true,
                mount_path: MOUNT_PATH.to_owned(),
                ..VolumeMount::default()
            });
            mounted = true;
        }
    };
    spec.init_containers.iter_mut().for_each(&mut mount);
    spec.containers.iter_mut().for_each(&mut mount);
    if mounted && !has_volume {
        spec.volumes.push(token_volume(name));
    }
}

/// A volume with the token, the authority by which the server is verified, and the namespace.
fn token_volume(name: String) -> Volume {
    let token = VolumeProjection {
        service_account_token: Some(ServiceAccountTokenProjection {
            expiration_seconds: Some(TOKEN_SECONDS),
            path: "token".to_owned(),
            ..ServiceAccountTokenProjection::default()
        }),
        ..VolumeProjection::default()
    };
    let authority = VolumeProjection {
        config_map: Some(ConfigMapProjection {
            local_object_reference: LocalObjectReference {
                name: "kube-root-ca.crt".to_owned(),
            },
            items: vec![KeyToPath {
                key: "ca.crt".to_owned(),
                path: "ca.crt".to_owned(),
                ..KeyToPath::default()
            }],
            ..ConfigMapProjection::default()
        }),
        ..VolumeProjection::default()
    };
    let namespace = VolumeProjection {
        downward_api: Some(DownwardAPIProjection {
            items: vec![DownwardAPIVolumeFile {
                path: "namespace".to_owned(),
                field_ref: Some(ObjectFieldSelector {
                    api_version: "v1".to_owned(),
                    field_path: "metadata.namespace".to_owned(),
                }),
                ..DownwardAPIVolumeFile::default()
            }],
        }),
        ..VolumeProjection::default()
    };
    Volume {
        name,
        volume_source: VolumeSource {
            projected: Some(ProjectedVolumeSource {
                sources: vec![token, authority, namespace],
                default_mode: Some(0o644),
            }),
            ..VolumeSource::default()
        },
    }
}

impl Plugin for ServiceAccounts {
    fn name(&self) -> &'static str {
        "ServiceAccount"
    }

    fn handles(&self, operation: Operation, _: Phase) -> bool {
        matches!(operation, Operation::Create | Operation::Update)
    }

    fn mutate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a mut Objects<'_>) -> AdmissionFuture<'a> {
        Box::pin(self.complete(attributes, objects))
    }

    fn validate<'a>(&'a self, attributes: &'a Attributes<'a>, objects: &'a Objects<'_>) -> AdmissionFuture<'a> {
        decided(self.check(attributes, objects))
    }
}

#[cfg(test)]
mod tests;

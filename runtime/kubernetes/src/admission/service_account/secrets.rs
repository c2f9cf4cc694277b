//! Service accounts that limit the secrets of their pods.

use std::collections::BTreeSet;

use planesmith_api_defs::core::v1::{Pod, ServiceAccount};

use super::super::any_container::{AnyContainer, containers};

const ENFORCE: &str = "kubernetes.io/enforce-mountable-secrets";

/// Checks the secrets of all containers, volumes and registries, if the account limits them.
pub(super) fn check(account: &ServiceAccount, pod: &Pod) -> Result<(), String> {
    let Some(allowed) = allowed_by(account) else {
        return Ok(());
    };
    let account_name = &account.metadata.name;
    let spec = &pod.spec;
    for volume in &spec.volumes {
        if let Some(secret) = &volume.volume_source.secret
            && !allowed.contains(secret.secret_name.as_str())
        {
            let name = &secret.secret_name;
            return Err(format!(
                "volume with secret.secretName=\"{name}\"{}",
                not_allowed(account_name)
            ));
        }
    }
    for container in &spec.init_containers {
        check_container("init container", &container.into(), &allowed, account_name)?;
    }
    for container in &spec.containers {
        check_container("container", &container.into(), &allowed, account_name)?;
    }
    let pull_secrets: BTreeSet<&str> = account
        .image_pull_secrets
        .iter()
        .map(|secret| secret.name.as_str())
        .collect();
    for (index, secret) in spec.image_pull_secrets.iter().enumerate() {
        if !pull_secrets.contains(secret.name.as_str()) {
            let name = &secret.name;
            return Err(format!(
                "imagePullSecrets[{index}].name=\"{name}\" is not allowed because service account {account_name} does not \
                 reference that imagePullSecret"
            ));
        }
    }
    Ok(())
}

/// Checks the secrets of ephemeral containers, if the account limits them.
pub(super) fn check_ephemeral(account: &ServiceAccount, pod: &Pod) -> Result<(), String> {
    let Some(allowed) = allowed_by(account) else {
        return Ok(());
    };
    for container in &pod.spec.ephemeral_containers {
        let common = (&container.ephemeral_container_common).into();
        check_container("ephemeral container", &common, &allowed, &account.metadata.name)?;
    }
    Ok(())
}

/// True if a pod refers to any secret.
pub(super) fn names_any(pod: &Pod) -> bool {
    let volume_names_one = pod.spec.volumes.iter().any(|volume| {
        let source = &volume.volume_source;
        let projected = source.projected.iter().flat_map(|projected| &projected.sources);
        let secrets = [
            source.secret.is_some(),
            source.azure_file.is_some(),
            source.cephfs.as_ref().is_some_and(|source| source.secret_ref.is_some()),
            source.cinder.as_ref().is_some_and(|source| source.secret_ref.is_some()),
            source
                .flex_volume
                .as_ref()
                .is_some_and(|source| source.secret_ref.is_some()),
            source.rbd.as_ref().is_some_and(|source| source.secret_ref.is_some()),
            source
                .scale_io
                .as_ref()
                .is_some_and(|source| source.secret_ref.is_some()),
            source.iscsi.as_ref().is_some_and(|source| source.secret_ref.is_some()),
            source
                .storageos
                .as_ref()
                .is_some_and(|source| source.secret_ref.is_some()),
            source
                .csi
                .as_ref()
                .is_some_and(|source| source.node_publish_secret_ref.is_some()),
        ];
        secrets.contains(&true) || projected.into_iter().any(|source| source.secret.is_some())
    });
    let container_names_one = containers(&pod.spec).any(|container| {
        let mut env = container.env.iter().filter_map(|env| env.value_from.as_ref());
        container.env_from.iter().any(|source| source.secret_ref.is_some())
            || env.any(|source| source.secret_key_ref.is_some())
    });
    !pod.spec.image_pull_secrets.is_empty() || volume_names_one || container_names_one
}

/// Returns the secrets that pods may use; `None` if they may use any.
fn allowed_by(account: &ServiceAccount) -> Option<BTreeSet<&str>> {
    // The texts that Go parses as true.
    let enforced = matches!(
        account.metadata.annotations.get(ENFORCE)?.as_str(),
        "1" | "t" | "T" | "true" | "TRUE" | "True"
    );
    enforced.then(|| account.secrets.iter().map(|secret| secret.name.as_str()).collect())
}

fn check_container(
    sort: &str,
    container: &AnyContainer<'_>,
    allowed: &BTreeSet<&str>,
    account: &str,
) -> Result<(), String> {
    let container_name = container.name;
    for env in container.env {
        let source = env
            .value_from
            .as_ref()
            .and_then(|source| source.secret_key_ref.as_ref());
        if let Some(secret) = source
            && !allowed.contains(secret.local_object_reference.name.as_str())
        {
            let (name, env) = (&secret.local_object_reference.name, &env.name);
            return Err(format!(
                "{sort} {container_name} with envVar {env} referencing secret.secretName=\"{name}\"{}",
                not_allowed(account)
            ));
        }
    }
    for source in container.env_from {
        if let Some(secret) = &source.secret_ref
            && !allowed.contains(secret.local_object_reference.name.as_str())
        {
            let name = &secret.local_object_reference.name;
            return Err(format!(
                "{sort} {container_name} with envFrom referencing secret.secretName=\"{name}\"{}",
                not_allowed(account)
            ));
        }
    }
    Ok(())
}

fn not_allowed(account: &str) -> String {
    format!(" is not allowed because service account {account} does not reference that secret")
}

//! Pods, and what belongs to them: a node creates mirror pods, and reports the state of its pods and their volumes.

use std::sync::Arc;

use planesmith_access::admission::Operation;
use planesmith_api_defs::core::v1::{Node, PersistentVolumeClaim, Pod, VolumeSource};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::meta::OwnerReference;
use planesmith_machinery::status::ApiError;

use super::{NodeRestriction, Refusal, Write, forbid};
use crate::pods::references;

pub(super) const MIRROR_POD: &str = "kubernetes.io/config.mirror";

impl NodeRestriction {
    pub(super) fn check_pod(&self, write: Write<'_>) -> Result<(), Refusal> {
        let node = quote(write.node);
        match (write.operation(), write.new_as::<Pod>()) {
            (Operation::Create, Some(pod)) => self.check_mirror_pod(pod, write.node),
            (Operation::Delete, _) => {
                let runs_here = |pod: &Pod| pod.spec.node_name == write.node;
                if write.old_as::<Pod>().is_some_and(runs_here) {
                    return Ok(());
                }
                forbid(format!(
                    "node {node} can only delete pods with spec.nodeName set to itself"
                ))
            }
            _ => forbid(format!(
                "unexpected operation {}, node {node} can only create and delete mirror pods",
                write.quoted_operation()
            )),
        }
    }

    fn check_mirror_pod(&self, pod: &Pod, name: &str) -> Result<(), Refusal> {
        let node = quote(name);
        if !pod.metadata.annotations.contains_key(MIRROR_POD) {
            let annotation = quote(MIRROR_POD);
            return forbid(format!(
                "pod does not have {annotation} annotation, node {node} can only create mirror pods"
            ));
        }
        if pod.spec.node_name != name {
            return forbid(format!(
                "node {node} can only create pods with spec.nodeName set to itself"
            ));
        }
        let owner = match pod.metadata.owner_references.as_slice() {
            [owner] => owner,
            [] => {
                return forbid(format!(
                    "node {node} can only create pods with an owner reference set to itself"
                ));
            }
            _ => {
                return forbid(format!(
                    "node {node} can only create pods with a single owner reference set to itself"
                ));
            }
        };
        self.check_owner(owner, name)?;
        match api_reference(pod) {
            Ok(None) => Ok(()),
            Ok(Some(resource)) => forbid(format!("node {node} can not create pods that reference {resource}")),
            Err(why) => forbid(why),
        }
    }

    fn check_owner(&self, owner: &OwnerReference, name: &str) -> Result<(), Refusal> {
        let node = quote(name);
        if owner.api_version != "v1" || owner.kind != "Node" || owner.name != name {
            return forbid(format!(
                "node {node} can only create pods with an owner reference set to itself"
            ));
        }
        if owner.controller != Some(true) {
            return forbid(format!(
                "node {node} can only create pods with a controller owner reference set to itself"
            ));
        }
        if owner.block_owner_deletion == Some(true) {
            return forbid(format!(
                "node {node} must not set blockOwnerDeletion on an owner reference"
            ));
        }
        let Some(stored) = self.objects.find::<Node>("", name)? else {
            return Err(ApiError::not_found(&GroupResource::new("", "nodes"), name).into());
        };
        if owner.uid != stored.metadata.uid {
            let (expected, got) = (&owner.uid, &stored.metadata.uid);
            return forbid(format!("node {name} UID mismatch: expected {expected} got {got}"));
        }
        Ok(())
    }

    pub(super) fn check_eviction(&self, write: Write<'_>) -> Result<(), Refusal> {
        if write.operation() != Operation::Create {
            let operation = write.operation().as_str();
            return forbid(format!("unexpected operation {operation}"));
        }
        let name = match write.attributes.name {
            "" => write.name(),
            name => name,
        };
        if name.is_empty() {
            return forbid("could not determine pod from request data");
        }
        let pod = self.pod(write.attributes.namespace, name)?;
        if pod.spec.node_name != write.node {
            let node = write.node;
            return forbid(format!(
                "node {node} can only evict pods with spec.nodeName set to itself"
            ));
        }
        Ok(())
    }

    /// Returns a stored pod.
    pub(super) fn pod(&self, namespace: &str, name: &str) -> Result<Arc<Pod>, ApiError> {
        let found = self.objects.find::<Pod>(namespace, name)?;
        found.ok_or_else(|| ApiError::not_found(&GroupResource::new("", "pods"), name))
    }
}

pub(super) fn check_status(write: Write<'_>) -> Result<(), Refusal> {
    let (Operation::Update, Some(new), Some(old)) = (write.operation(), write.new_as::<Pod>(), write.old_as::<Pod>())
    else {
        return forbid(format!("unexpected operation {}", write.quoted_operation()));
    };
    let node = quote(write.node);
    if old.spec.node_name != write.node {
        return forbid(format!(
            "node {node} can only update pod status for pods with spec.nodeName set to itself"
        ));
    }
    if new.metadata.labels != old.metadata.labels {
        return forbid(format!("node {node} cannot update labels through pod status"));
    }
    if new.status.resource_claim_statuses != old.status.resource_claim_statuses {
        return forbid(format!("node {node} cannot update resource claim statues"));
    }
    if new.status.extended_resource_claim_status != old.status.extended_resource_claim_status {
        return forbid(format!("node {node} cannot update extended resource claim status"));
    }
    Ok(())
}

/// Checks that only the size of a volume changes.
pub(super) fn check_claim_status(write: Write<'_>) -> Result<(), Refusal> {
    let (Operation::Update, Some(new), Some(old)) = (
        write.operation(),
        write.new_as::<PersistentVolumeClaim>(),
        write.old_as::<PersistentVolumeClaim>(),
    ) else {
        return forbid(format!("unexpected operation {}", write.quoted_operation()));
    };
    let fixed = |claim: &PersistentVolumeClaim| {
        let mut claim = claim.clone();
        claim.metadata.resource_version.clear();
        claim.metadata.managed_fields.clear();
        claim.status.capacity.clear();
        claim.status.conditions.clear();
        claim.status.allocated_resource_statuses.clear();
        claim.status.allocated_resources.clear();
        claim
    };
    if fixed(new) != fixed(old) {
        let node = quote(write.node);
        return forbid(format!(
            "node {node} is not allowed to update fields other than status.quantity and status.conditions"
        ));
    }
    Ok(())
}

/// Returns the resource of an API object that a pod refers to; `None` without any. A mirror pod refers to none, because it
/// would give its node access to them.
///
/// # Errors
///
/// A volume without a source that is known to refer to nothing.
fn api_reference(pod: &Pod) -> Result<Option<&'static str>, String> {
    if !pod.spec.service_account_name.is_empty() {
        return Ok(Some("serviceaccounts"));
    }
    if references::secrets(pod).next().is_some() {
        return Ok(Some("secrets"));
    }
    if references::config_maps(pod).next().is_some() {
        return Ok(Some("configmaps"));
    }
    if !pod.spec.resource_claims.is_empty() {
        return Ok(Some("resourceclaims"));
    }
    for volume in &pod.spec.volumes {
        let found = volume_reference(&volume.volume_source, &volume.name)?;
        if found.is_some() {
            return Ok(found);
        }
    }
    Ok(None)
}

fn volume_reference(source: &VolumeSource, name: &str) -> Result<Option<&'static str>, String> {
    let found = [
        (source.csi.is_some(), "csidrivers (via CSI volumes)"),
        (source.glusterfs.is_some(), "endpoints (via glusterFS volumes)"),
        (source.persistent_volume_claim.is_some(), "persistentvolumeclaims"),
        (
            source.ephemeral.is_some(),
            "persistentvolumeclaims (via ephemeral volumes)",
        ),
    ];
    if let Some((_, resource)) = found.into_iter().find(|(is_there, _)| *is_there) {
        return Ok(Some(resource));
    }
    let Some(projected) = &source.projected else {
        return match is_local(source) {
            true => Ok(None),
            false => Err(format!("unknown volume type for volume  {}", quote(name))),
        };
    };
    for part in &projected.sources {
        let found = [
            (
                part.service_account_token.is_some(),
                "serviceaccounts (via projected volumes)",
            ),
            (part.cluster_trust_bundle.is_some(), "clustertrustbundles"),
            (part.pod_certificate.is_some(), "podcertificates"),
        ];
        if let Some((_, resource)) = found.into_iter().find(|(is_there, _)| *is_there) {
            return Ok(Some(resource));
        }
        if part.downward_api.is_none() {
            return Err(format!("unknown source for projected volume {}", quote(name)));
        }
    }
    Ok(None)
}

/// True if the source refers to no API object.
fn is_local(source: &VolumeSource) -> bool {
    let known = [
        source.aws_elastic_block_store.is_some(),
        source.azure_disk.is_some(),
        source.cephfs.is_some(),
        source.cinder.is_some(),
        source.downward_api.is_some(),
        source.empty_dir.is_some(),
        source.fc.is_some(),
        source.flex_volume.is_some(),
        source.flocker.is_some(),
        source.gce_persistent_disk.is_some(),
        source.git_repo.is_some(),
        source.host_path.is_some(),
        source.image.is_some(),
        source.iscsi.is_some(),
        source.nfs.is_some(),
        source.photon_persistent_disk.is_some(),
        source.portworx_volume.is_some(),
        source.quobyte.is_some(),
        source.rbd.is_some(),
        source.scale_io.is_some(),
        source.storageos.is_some(),
        source.vsphere_volume.is_some(),
    ];
    known.contains(&true)
}

//! Tokens of service accounts: a node requests them for its pods.

use planesmith_access::admission::Operation;
use planesmith_access::authorization::Target;
use planesmith_api_defs::authentication::v1::TokenRequest;
use planesmith_api_defs::core::v1::{PersistentVolume, PersistentVolumeClaim, Pod, Volume};
use planesmith_api_defs::storage::v1::CSIDriver;
use planesmith_machinery::go_format::quote;
use planesmith_machinery::status::ApiResult;

use super::{NodeRestriction, Refusal, Write, forbid};
use crate::pods::references;

/// The verb that permits tokens for an audience that no pod uses.
const ANY_AUDIENCE: &str = "request-serviceaccounts-token-audience";

impl NodeRestriction {
    pub(super) async fn check_token(&self, write: Write<'_>) -> Result<(), Refusal> {
        let new = write.new_as::<TokenRequest>();
        let Some(request) = new.filter(|_| write.operation() == Operation::Create) else {
            return Ok(());
        };
        let reference = request.spec.bound_object_ref.as_ref();
        let is_pod = |kind: &str, version: &str, name: &str| kind == "Pod" && version == "v1" && !name.is_empty();
        let reference = reference.filter(|object| is_pod(&object.kind, &object.api_version, &object.name));
        let Some(reference) = reference else {
            return forbid("node requested token not bound to a pod");
        };
        if reference.uid.is_empty() {
            return forbid("node requested token with a pod binding without a uid");
        }
        let pod = self.pod(write.attributes.namespace, &reference.name)?;
        if reference.uid != pod.metadata.uid {
            let uid = &reference.uid;
            return forbid(format!(
                "the UID in the bound object reference ({uid}) does not match the UID in record. The object might have been \
                 deleted and then recreated"
            ));
        }
        if pod.spec.node_name != write.node {
            return forbid("node requested token bound to a pod scheduled on a different node");
        }
        match self.restricts_audiences {
            true => self.check_audience(write, request, &pod).await,
            false => Ok(()),
        }
    }

    async fn check_audience(&self, write: Write<'_>, request: &TokenRequest, pod: &Pod) -> Result<(), Refusal> {
        let audience = match request.spec.audiences.as_slice() {
            [] => "",
            [only] => only.as_str(),
            _ => return forbid("node may only request 0 or 1 audiences"),
        };
        for volume in &pod.spec.volumes {
            if self.uses_audience(pod, volume, audience)? {
                return Ok(());
            }
        }
        let user = write.attributes.user;
        let target = Target::Resource {
            group: "",
            version: "v1",
            resource: audience,
            subresource: "",
            namespace: write.attributes.namespace,
            name: write.attributes.name,
        };
        if self.authorizer.permits(user, ANY_AUDIENCE, target).await.is_ok() {
            return Ok(());
        }
        let (audience, user) = (quote(audience), &user.name);
        forbid(format!(
            "audience {audience} not found in pod spec volume, {user} is not authorized to request tokens for this audience"
        ))
    }

    /// True if a volume needs a token for the audience: one that shows it to the pod, or whose driver requests it.
    fn uses_audience(&self, pod: &Pod, volume: &Volume, audience: &str) -> ApiResult<bool> {
        let source = &volume.volume_source;
        let projected = source.projected.iter().flat_map(|projected| &projected.sources);
        let mut tokens = projected.filter_map(|source| source.service_account_token.as_ref());
        if tokens.any(|token| token.audience == audience) {
            return Ok(true);
        }
        let has_template = source
            .ephemeral
            .as_ref()
            .is_some_and(|ephemeral| ephemeral.volume_claim_template.is_some());
        let namespace = &pod.metadata.namespace;
        let driver = if has_template {
            self.driver_of_claim(namespace, &references::ephemeral_claim(pod, volume))?
        } else if let Some(claim) = &source.persistent_volume_claim {
            self.driver_of_claim(namespace, &claim.claim_name)?
        } else {
            source.csi.as_ref().map(|csi| csi.driver.clone())
        };
        let Some(driver) = driver else {
            return Ok(false);
        };
        let driver = self.objects.find::<CSIDriver>("", &driver)?;
        Ok(driver.is_some_and(|driver| {
            let mut requests = driver.spec.token_requests.iter();
            requests.any(|request| request.audience == audience)
        }))
    }

    /// Returns the CSI driver of the volume that a claim is bound to.
    fn driver_of_claim(&self, namespace: &str, claim: &str) -> ApiResult<Option<String>> {
        let claim = self.objects.find::<PersistentVolumeClaim>(namespace, claim)?;
        let Some(claim) = claim.filter(|claim| !claim.spec.volume_name.is_empty()) else {
            return Ok(None);
        };
        let volume = self.objects.find::<PersistentVolume>("", &claim.spec.volume_name)?;
        let csi = |volume: &PersistentVolume| Some(volume.spec.persistent_volume_source.csi.as_ref()?.driver.clone());
        Ok(volume.and_then(|volume| csi(&volume)))
    }
}

//! Certificates of pods: a node requests them for its pods.

use std::fmt::Display;

use planesmith_access::admission::Operation;
use planesmith_api_defs::certificates::v1beta1::PodCertificateRequest;
use planesmith_api_defs::core::v1::{Node, ServiceAccount};
use planesmith_machinery::go_format::quote;
use planesmith_machinery::group_version::GroupResource;
use planesmith_machinery::status::ApiError;

use super::pods::MIRROR_POD;
use super::{NodeRestriction, Refusal, Write, forbid};

impl NodeRestriction {
    pub(super) fn check_pod_certificate(&self, write: Write<'_>) -> Result<(), Refusal> {
        if !self.has_pod_certificates {
            return forbid("PodCertificateRequest feature gate is disabled");
        }
        if write.operation() != Operation::Create {
            let operation = write.operation().as_str();
            return forbid(format!("unexpected operation {operation}"));
        }
        if !write.attributes.subresource.is_empty() {
            let subresource = write.attributes.subresource;
            return forbid(format!("unexpected subresource {subresource}"));
        }
        let Some(request) = write.new_as::<PodCertificateRequest>() else {
            return Ok(());
        };
        let (spec, namespace) = (&request.spec, write.attributes.namespace);
        let node = quote(write.node);
        if spec.node_name != write.node {
            let requested = quote(&spec.node_name);
            return forbid(format!(
                "PodCertificateRequest.Spec.NodeName={requested}, which is not the requesting node {node}"
            ));
        }
        let pod_name = quote(&format!("{namespace}/{}", spec.pod_name));
        self.check_node_uid(request, write.node, &pod_name)?;
        let pod = self.pod(namespace, &spec.pod_name).map_err(|error| {
            let why = error.message();
            retry(format!(
                "while retrieving pod {pod_name} named in the PodCertificateRequest: {why}"
            ))
        })?;
        if spec.pod_uid != pod.metadata.uid {
            let (requested, running) = (quote(&spec.pod_uid), quote(&pod.metadata.uid));
            return Err(retry(format!(
                "PodCertificateRequest for pod {pod_name} contains pod UID ({requested}) which differs from running pod \
                 {running}"
            )));
        }
        if pod.spec.node_name != write.node {
            return forbid(format!(
                "pod {pod_name} is not running on node {node} named in the PodCertificateRequest"
            ));
        }
        if pod.metadata.annotations.contains_key(MIRROR_POD) {
            return forbid(format!("pod {pod_name} is a mirror pod"));
        }
        if spec.service_account_name != pod.spec.service_account_name {
            let requested = quote(&spec.service_account_name);
            let running = quote(&pod.spec.service_account_name);
            return forbid(format!(
                "PodCertificateRequest for pod {pod_name} contains serviceAccountName ({requested}) that differs from running \
                 pod ({running})"
            ));
        }
        self.check_account_uid(request, namespace, &pod_name)
    }

    fn check_node_uid(&self, request: &PodCertificateRequest, name: &str, pod: &str) -> Result<(), Refusal> {
        let Some(node) = self.objects.find::<Node>("", name)? else {
            let why = ApiError::not_found(&GroupResource::new("", "nodes"), name);
            let (name, why) = (quote(name), why.message());
            return Err(retry(format!(
                "while retrieving node {name} named in the PodCertificateRequest: {why}"
            )));
        };
        if node.metadata.uid != request.spec.node_uid {
            let (requested, running) = (quote(&request.spec.node_uid), quote(&node.metadata.uid));
            return Err(retry(format!(
                "PodCertificateRequest for pod {pod} names node UID {requested}, inconsistent with the running node ({running})"
            )));
        }
        Ok(())
    }

    fn check_account_uid(&self, request: &PodCertificateRequest, namespace: &str, pod: &str) -> Result<(), Refusal> {
        let name = &request.spec.service_account_name;
        let Some(account) = self.objects.find::<ServiceAccount>(namespace, name)? else {
            let why = ApiError::not_found(&GroupResource::new("", "serviceaccounts"), name);
            let (name, why) = (quote(&format!("{namespace}/{name}")), why.message());
            return Err(retry(format!(
                "while retrieving service account {name} named in the PodCertificateRequest: {why}"
            )));
        };
        if account.metadata.uid != request.spec.service_account_uid {
            let (requested, running) = (quote(&request.spec.service_account_uid), quote(&account.metadata.uid));
            return Err(retry(format!(
                "PodCertificateRequest for pod {pod} names service account UID {requested}, which differs from the running \
                 service account ({running})"
            )));
        }
        Ok(())
    }
}

/// A failure that a later attempt may not have: another writer may be about to create the object.
fn retry(why: impl Display) -> Refusal {
    Refusal::Error(ApiError::unnamed(500, why.to_string()))
}

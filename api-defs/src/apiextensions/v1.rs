//! `apiextensions.k8s.io/v1`: custom resource definitions.

mod conversion_review;
mod custom_resource_conversion;
mod custom_resource_definition;
mod custom_resource_definition_version;
mod json_schema_path;
mod json_schema_props;
mod json_schema_rendering;

use planesmith_machinery::group_version::GroupVersionPriority;

pub use conversion_review::{ConversionRequest, ConversionResponse, ConversionReview};
pub use custom_resource_conversion::{
    CustomResourceConversion, ServiceReference, WebhookClientConfig, WebhookConversion,
};
pub use custom_resource_definition::{
    Approval, ApprovalState, CustomResourceDefinition, CustomResourceDefinitionCondition,
    CustomResourceDefinitionNames, CustomResourceDefinitionSpec, CustomResourceDefinitionStatus,
};
pub use custom_resource_definition_version::{
    CustomResourceColumnDefinition, CustomResourceDefinitionVersion, CustomResourceSubresourceScale,
    CustomResourceSubresourceStatus, CustomResourceSubresources, CustomResourceValidation, SelectableField,
};
pub use json_schema_props::{ExternalDocumentation, JSONSchemaProps, ValidationRule};

/// The priorities of the group and the version in lists, as in kube-apiserver.
pub const PRIORITY: GroupVersionPriority = GroupVersionPriority::new(16_700, 15);

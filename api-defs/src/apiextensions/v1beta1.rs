//! `apiextensions.k8s.io/v1beta1`: no longer served.

mod conversion_review;
mod custom_resource_definition;

pub use conversion_review::ConversionReview;
pub use custom_resource_definition::{
    CustomResourceColumnDefinition, CustomResourceConversion, CustomResourceDefinition, CustomResourceDefinitionSpec,
    CustomResourceDefinitionVersion,
};

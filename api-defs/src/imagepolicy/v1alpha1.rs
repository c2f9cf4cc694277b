//! `imagepolicy.k8s.io/v1alpha1`: questions to webhooks about images.

mod image_review;

pub use image_review::{ImageReview, ImageReviewContainerSpec, ImageReviewSpec, ImageReviewStatus};

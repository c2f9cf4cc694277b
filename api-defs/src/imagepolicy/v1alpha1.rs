//! `imagepolicy.k8s.io/v1alpha1`: reviews of images by webhooks.

mod image_review;

pub use image_review::{ImageReview, ImageReviewContainerSpec, ImageReviewSpec, ImageReviewStatus};

//! Types that Kubernetes adds to CEL, and the texts of times.

pub(crate) mod format;
pub(crate) mod instant;
pub(crate) mod semver;
pub(crate) mod time;
pub(crate) mod url;

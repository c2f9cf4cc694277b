//! Numbers of kube-apiserver's internal types that are not optional there. Errors that print a whole value print absent
//! ones as 0.

use planesmith_machinery::facts::InternalLayout;

/// Layout of `RollingUpdateDeployment` and `RollingUpdateDaemonSet`.
pub(crate) static ROLLING_UPDATE: InternalLayout = InternalLayout {
    zeros: &["maxUnavailable", "maxSurge"],
    ..InternalLayout::SAME
};

/// Layout of `RollingUpdateStatefulSetStrategy`.
pub(crate) static PARTITIONED_UPDATE: InternalLayout = InternalLayout {
    zeros: &["partition"],
    ..InternalLayout::SAME
};

//! The cells of printed autoscalers: those of the newest version.

use planesmith_machinery::table::Cell;

use super::HorizontalPodAutoscaler;
use crate::autoscaling::v2::{self, horizontal_pod_autoscaler as newest};

pub(super) fn reference(hpa: &HorizontalPodAutoscaler) -> Cell {
    newest::reference(&v2::HorizontalPodAutoscaler::from(hpa))
}

pub(super) fn targets(hpa: &HorizontalPodAutoscaler) -> Cell {
    newest::targets(&v2::HorizontalPodAutoscaler::from(hpa))
}

pub(super) fn min_pods(hpa: &HorizontalPodAutoscaler) -> Cell {
    newest::min_pods(&v2::HorizontalPodAutoscaler::from(hpa))
}

pub(super) fn max_pods(hpa: &HorizontalPodAutoscaler) -> Cell {
    newest::max_pods(&v2::HorizontalPodAutoscaler::from(hpa))
}

pub(super) fn replicas(hpa: &HorizontalPodAutoscaler) -> Cell {
    newest::replicas(&v2::HorizontalPodAutoscaler::from(hpa))
}

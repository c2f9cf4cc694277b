//! Features of Kubernetes that determine how this crate answers requests.

use planesmith_machinery::feature::Feature;
use planesmith_streams::features::{PORT_FORWARD_WEBSOCKETS, TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS};

/// All features of this module, and those of streams.
pub(crate) static ALL: [&Feature; 4] = [
    &AUTHORIZE_POD_WEBSOCKET_UPGRADE_CREATE_PERMISSION,
    &EXTEND_WEBSOCKETS_TO_KUBELET,
    &PORT_FORWARD_WEBSOCKETS,
    &TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS,
];

/// Streams into pods require the permission to create them, whichever method opens them.
pub(crate) const AUTHORIZE_POD_WEBSOCKET_UPGRADE_CREATE_PERMISSION: Feature =
    Feature::on("AuthorizePodWebsocketUpgradeCreatePermission");
/// Streams over WebSocket are passed through to kubelets that declare support for it.
pub(crate) const EXTEND_WEBSOCKETS_TO_KUBELET: Feature = Feature::on("ExtendWebSocketsToKubelet");

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use planesmith_control_plane::feature_gates::FeatureGates;

    use super::*;

    #[test]
    fn features_have_the_defaults_of_kubernetes() {
        let gates = FeatureGates::default();
        let known: BTreeMap<&str, bool> = gates.all().map(|(name, _, on)| (name, on)).collect();
        for feature in ALL {
            assert_eq!(
                known.get(feature.name()),
                Some(&feature.is_on_by_default()),
                "{feature:?}"
            );
        }
    }
}

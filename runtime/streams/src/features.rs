//! Features of Kubernetes that determine how streams are answered. A component whose streams read them lists them.

use planesmith_machinery::feature::Feature;

/// Port forwarding over WebSocket is passed on as SPDY.
pub const PORT_FORWARD_WEBSOCKETS: Feature = Feature::on("PortForwardWebsockets");
/// Remote commands over WebSocket are translated into SPDY.
pub const TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS: Feature = Feature::on("TranslateStreamCloseWebsocketRequests");

//! Features of Kubernetes that change how requests are answered.

use planesmith_machinery::feature::Feature;

/// All features of this module.
pub static ALL: [&Feature; 12] = [
    &ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION,
    &API_RESPONSE_COMPRESSION,
    &AUTHORIZE_POD_WEBSOCKET_UPGRADE_CREATE_PERMISSION,
    &CBOR_SERVING,
    &COMPONENT_FLAGZ,
    &COMPONENT_STATUSZ,
    &EXTEND_WEBSOCKETS_TO_KUBELET,
    &OPENAPI_ENUMS,
    &PORT_FORWARD_WEBSOCKETS,
    &STORAGE_VERSION_HASH,
    &TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS,
    &WATCH_LIST,
];

/// Objects that cannot be read may be deleted.
pub(crate) static ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION: Feature = Feature::off("AllowUnsafeMalformedObjectDeletion");
/// Large answers are compressed for clients that accept gzip.
pub(crate) static API_RESPONSE_COMPRESSION: Feature = Feature::on("APIResponseCompression");
/// Streams into pods require the permission to create them, whichever method opens them.
pub static AUTHORIZE_POD_WEBSOCKET_UPGRADE_CREATE_PERMISSION: Feature =
    Feature::on("AuthorizePodWebsocketUpgradeCreatePermission");
/// Clients may use CBOR.
pub(crate) static CBOR_SERVING: Feature = Feature::off("CBORServingAndStorage");
/// A page lists the server's flags.
pub(crate) static COMPONENT_FLAGZ: Feature = Feature::on("ComponentFlagz");
/// A page reports the program's version and start time.
pub(crate) static COMPONENT_STATUSZ: Feature = Feature::on("ComponentStatusz");
/// Streams over WebSocket are passed through to kubelets that declare support for it.
pub static EXTEND_WEBSOCKETS_TO_KUBELET: Feature = Feature::on("ExtendWebSocketsToKubelet");
/// OpenAPI documents list the values of enumerations.
pub(crate) static OPENAPI_ENUMS: Feature = Feature::on("OpenAPIEnums");
/// Port forwarding over WebSocket is passed on as SPDY.
pub(crate) static PORT_FORWARD_WEBSOCKETS: Feature = Feature::on("PortForwardWebsockets");
/// Discovery reports a hash of the version in which objects are stored.
pub(crate) static STORAGE_VERSION_HASH: Feature = Feature::on("StorageVersionHash");
/// Remote commands over WebSocket are translated into SPDY.
pub(crate) static TRANSLATE_STREAM_CLOSE_WEBSOCKET_REQUESTS: Feature =
    Feature::on("TranslateStreamCloseWebsocketRequests");
/// Watches begin with the existing objects if the client requests it.
pub(crate) static WATCH_LIST: Feature = Feature::on("WatchList");

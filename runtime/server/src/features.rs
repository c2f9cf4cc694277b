//! Features of Kubernetes that determine how requests are answered.

use planesmith_machinery::feature::Feature;

/// All features of this module.
pub static ALL: [&Feature; 10] = [
    &ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION,
    &API_RESPONSE_COMPRESSION,
    &CBOR_SERVING_AND_STORAGE,
    &COMPONENT_FLAGZ,
    &COMPONENT_STATUSZ,
    &CONSTRAINED_IMPERSONATION,
    &OPENAPI_ENUMS,
    &STORAGE_VERSION_HASH,
    &UNAUTHENTICATED_HTTP2_DOS_MITIGATION,
    &WATCH_LIST,
];

/// Objects that cannot be read may be deleted.
pub(crate) const ALLOW_UNSAFE_MALFORMED_OBJECT_DELETION: Feature = Feature::off("AllowUnsafeMalformedObjectDeletion");
/// Large answers are compressed for clients that accept gzip.
pub(crate) const API_RESPONSE_COMPRESSION: Feature = Feature::on("APIResponseCompression");
/// Clients may use CBOR, and custom resources are stored in it where kube-apiserver would do so.
pub(crate) const CBOR_SERVING_AND_STORAGE: Feature = Feature::off("CBORServingAndStorage");
/// A page lists the server's flags.
pub(crate) const COMPONENT_FLAGZ: Feature = Feature::on("ComponentFlagz");
/// A page reports the program's version and start time.
pub(crate) const COMPONENT_STATUSZ: Feature = Feature::on("ComponentStatusz");
/// Impersonation may be granted for single actions.
pub(crate) const CONSTRAINED_IMPERSONATION: Feature = Feature::on("ConstrainedImpersonation");
/// OpenAPI documents list the values of enumerations.
pub(crate) const OPENAPI_ENUMS: Feature = Feature::on("OpenAPIEnums");
/// Discovery reports a hash of the version in which objects are stored.
pub(crate) const STORAGE_VERSION_HASH: Feature = Feature::on("StorageVersionHash");
/// HTTP/2 connections of clients without valid credentials are closed after one request.
pub(crate) const UNAUTHENTICATED_HTTP2_DOS_MITIGATION: Feature = Feature::on("UnauthenticatedHTTP2DOSMitigation");
/// Watches begin with the existing objects if the client requests it.
pub(crate) const WATCH_LIST: Feature = Feature::on("WatchList");

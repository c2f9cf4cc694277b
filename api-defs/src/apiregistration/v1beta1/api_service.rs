//! API services, in a version that is no longer served.

use crate::apiregistration::v1::{APIServiceSpec, APIServiceStatus};
use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

/// A group version and the server that serves it: this server, or one behind a service.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "apiregistration.k8s.io",
    version = "v1beta1",
    kind = "APIService",
    cluster,
    status,
    categories("api-extensions"),
    name_rule = path_segment,
    storage_name = "apiregistration.k8s.io/apiservices",
    conditional_update,
    strategy,
    storage_version = crate::apiregistration::v1::APIService,
    unserved,
    deprecated = "apiregistration.k8s.io/v1beta1 APIService is deprecated in v1.19+, unavailable in v1.22+; use apiregistration.k8s.io/v1 APIService"
)]
pub struct APIService {
    /// Standard metadata. The name is version.group.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// The group version and the service that serves it.
    #[field(proto = 2)]
    pub spec: APIServiceSpec,
    /// Observed state, such as the availability of the server.
    #[field(proto = 3)]
    pub status: APIServiceStatus,
}

impl Strategy for APIService {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}

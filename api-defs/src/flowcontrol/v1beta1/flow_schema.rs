//! Flow schemas, which classify requests.

use planesmith_machinery::Resource;
use planesmith_machinery::meta::ObjectMeta;
use planesmith_machinery::strategy::Strategy;

use crate::flowcontrol::v1;
use crate::flowcontrol::v1::FlowSchemaSpec;
use crate::flowcontrol::v1beta2::FlowSchemaStatus;

/// Classifies requests and assigns them to a priority level.
#[derive(Clone, Debug, Default, PartialEq, Resource)]
#[resource(
    group = "flowcontrol.apiserver.k8s.io",
    version = "v1beta1",
    cluster,
    status,
    generation,
    storage_version = v1::FlowSchema,
    unserved,
    strategy
)]
pub struct FlowSchema {
    /// Standard metadata.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Requests that match the schema, and their priority level.
    #[field(proto = 2)]
    pub spec: FlowSchemaSpec,
    /// Observed state.
    #[field(proto = 3)]
    pub status: FlowSchemaStatus,
}

impl Strategy for FlowSchema {
    fn set_defaults(&mut self) {
        self.spec.set_defaults();
    }
}

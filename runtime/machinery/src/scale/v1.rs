//! `autoscaling/v1`.

use crate::Struct;
use crate::meta::ObjectMeta;

/// The desired and observed number of replicas of an object; read and written through its scale subresource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("autoscaling/v1", "Scale"))]
pub struct Scale {
    /// Metadata of the scaled object.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// Desired number of replicas.
    #[field(proto = 2)]
    pub spec: ScaleSpec,
    /// Observed number of replicas. Read-only.
    #[field(proto = 3)]
    pub status: ScaleStatus,
}

/// Desired number of replicas.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleSpec {
    /// Desired replicas.
    #[field(proto = 1, default = 0)]
    pub replicas: i32,
}

/// Observed number of replicas.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleStatus {
    /// Observed replicas.
    #[field(proto = 1, keep)]
    pub replicas: i32,
    /// Selector of the pods of the object, in the syntax of query parameters, such as app=web.
    #[field(proto = 2)]
    pub selector: String,
}

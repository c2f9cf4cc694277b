//! `autoscaling/v1`.

use crate::Struct;
use crate::meta::ObjectMeta;

/// How many replicas an object should have and has; read and written through its scale subresource.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("autoscaling/v1", "Scale"))]
pub struct Scale {
    /// Metadata of the scaled object.
    #[field(proto = 1)]
    pub metadata: ObjectMeta,
    /// How many replicas there should be.
    #[field(proto = 2)]
    pub spec: ScaleSpec,
    /// How many there are. Read-only.
    #[field(proto = 3)]
    pub status: ScaleStatus,
}

/// How many replicas there should be.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleSpec {
    /// Wanted replicas.
    #[field(proto = 1, default = 0)]
    pub replicas: i32,
}

/// How many replicas there are.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct ScaleStatus {
    /// Observed replicas.
    #[field(proto = 1, keep)]
    pub replicas: i32,
    /// Selects the pods of the object, in the syntax of query parameters, such as app=web.
    #[field(proto = 2)]
    pub selector: String,
}

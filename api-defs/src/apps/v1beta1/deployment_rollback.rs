//! The wish to have an earlier template of a deployment back.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

/// The wish to have an earlier template of a deployment back.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("apps/v1beta1", "DeploymentRollback"))]
pub struct DeploymentRollback {
    /// Name of the deployment.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Annotations that the deployment gets with it.
    #[field(proto = 2)]
    pub updated_annotations: BTreeMap<String, String>,
    /// The revision to roll back to.
    #[field(proto = 3, keep)]
    pub rollback_to: RollbackConfig,
}

/// The revision that a rollback restores.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RollbackConfig {
    /// Its number; 0 means the last one before the present.
    #[field(proto = 1)]
    pub revision: i64,
}

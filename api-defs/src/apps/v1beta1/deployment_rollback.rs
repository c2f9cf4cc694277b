//! Rollbacks of deployments.

use std::collections::BTreeMap;

use planesmith_machinery::Struct;

/// A request to roll back a deployment.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
#[schema(type_meta("apps/v1beta1", "DeploymentRollback"))]
pub struct DeploymentRollback {
    /// Name of the deployment.
    #[field(proto = 1, keep)]
    pub name: String,
    /// Annotations that are added to the deployment.
    #[field(proto = 2)]
    pub updated_annotations: BTreeMap<String, String>,
    /// The revision to roll back to.
    #[field(proto = 3, keep)]
    pub rollback_to: RollbackConfig,
}

/// The revision that a rollback restores.
#[derive(Clone, Debug, Default, PartialEq, Struct)]
pub struct RollbackConfig {
    /// Number of the revision; 0 stands for the one before the current.
    #[field(proto = 1)]
    pub revision: i64,
}

//! Checks of the plugins that encrypt keys.

use std::sync::Arc;
use std::time::Duration;

use planesmith_encryption::{Encryption, KmsProvider};
use planesmith_server::health::HealthCheck;

/// Time for which a good status counts.
const GOOD: Duration = Duration::from_secs(20);
/// The same for a bad one.
const BAD: Duration = Duration::from_secs(3);

/// The check of all plugins together, whose number a reload may change.
const ALL: &str = "kms-providers";

/// Returns the checks: one for all plugins. It exists without plugins, too, if the file `reloads`, because a reload may add some.
pub(crate) fn checks(encryption: &Encryption, reloads: bool) -> Vec<HealthCheck> {
    // All are of version 2, which has one check in kube-apiserver.
    if !reloads && encryption.current().plugins().next().is_none() {
        return Vec::new();
    }
    let encryption = encryption.clone();
    let check = HealthCheck::waiting(ALL, move || {
        let encryption = encryption.clone();
        async move {
            let plugins: Vec<Arc<KmsProvider>> = encryption.current().plugins().cloned().collect();
            let mut problems = Vec::new();
            for plugin in plugins {
                problems.extend(problem_of(&plugin).await);
            }
            match problems.is_empty() {
                true => Ok(()),
                false => Err(problems.join("; ")),
            }
        }
    });
    vec![check]
}

/// The problem of a plugin, which is probed again if the last status is old.
async fn problem_of(plugin: &KmsProvider) -> Option<String> {
    let last = plugin.health();
    let life = if last.problem.is_none() { GOOD } else { BAD };
    let is_recent = last.at.is_some_and(|at| at.elapsed() < life);
    let health = match is_recent {
        true => last,
        false => plugin.probe().await,
    };
    health.problem.map(|problem| problem.to_string())
}

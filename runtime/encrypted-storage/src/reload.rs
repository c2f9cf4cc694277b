//! Follows the file, and the keys of plugins, while the server runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use planesmith_control_plane::reloadable::{self, Reloadable};
use planesmith_encryption::{Encryption, Snapshot};
use planesmith_server::hooks::Hook;
use planesmith_server::metrics::ConfigurationMetrics;
use planesmith_server::shutdown::Shutdown;
use planesmith_store::Storage;

use crate::loading::Loaded;

/// The least time that the plugins of a changed file have to become healthy.
const READY_TIMEOUT: Duration = Duration::from_secs(10);
/// The time between two checks of them.
const CHECK_INTERVAL: Duration = Duration::from_millis(200);

/// Lets the store follow the keys.
pub(crate) struct Following {
    pub(crate) encryption: Encryption,
    pub(crate) storage: Storage,
}

impl Following {
    /// The hook that begins it.
    pub(crate) fn hook(self) -> Hook {
        Hook::new("start-encryption-keys", move |shutdown| async move {
            tokio::spawn(self.run(shutdown));
            Ok(())
        })
    }

    async fn run(self, mut shutdown: Shutdown) {
        let mut changes = self.encryption.changes();
        // A plugin may have answered since the store was opened.
        changes.mark_changed();
        loop {
            tokio::select! {
                () = shutdown.requested() => return,
                changed = changes.changed() => if changed.is_err() {
                    return;
                },
            }
            let storage = self.storage.clone();
            let followed = tokio::task::spawn_blocking(move || storage.transform_again()).await;
            if let Err(error) = followed {
                tracing::error!(%error, "the store did not follow a change of the encryption keys");
            }
        }
    }
}

/// The providers of a file.
pub(crate) struct ReloadableProviders(pub(crate) Arc<Loaded>);

impl ReloadableProviders {
    /// The hook that begins to follow the file.
    pub(crate) fn hook(self, metrics: ConfigurationMetrics) -> Hook {
        Hook::new(
            "start-encryption-provider-config-automatic-reload",
            move |mut shutdown| async move {
                let file = self.0.file.clone();
                tokio::spawn(async move {
                    tokio::select! {
                        () = shutdown.requested() => {}
                        () = reloadable::follow(file, self, &metrics) => {}
                    }
                });
                Ok(())
            },
        )
    }
}

impl Reloadable for ReloadableProviders {
    const SUBJECT: &'static str = "encryption";

    /// Waits until the plugins of `content` are healthy.
    async fn replace(&mut self, content: &[u8]) -> Result<bool> {
        let snapshot = self.0.successor(content)?;
        wait_until_healthy(&snapshot).await?;
        self.0.encryption.replace(snapshot);
        Ok(true)
    }
}

async fn wait_until_healthy(snapshot: &Snapshot) -> Result<()> {
    let timeouts = snapshot.plugins().map(|plugin| 2 * plugin.timeout());
    let patience = timeouts.max().unwrap_or_default().max(READY_TIMEOUT);
    let begin = Instant::now();
    for plugin in snapshot.plugins() {
        while let Some(problem) = plugin.probe().await.problem {
            if begin.elapsed() >= patience {
                bail!("{problem}");
            }
            tokio::time::sleep(CHECK_INTERVAL).await;
        }
    }
    Ok(())
}

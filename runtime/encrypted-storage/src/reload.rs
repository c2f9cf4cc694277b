//! Follows the file, and the keys of plugins, while the server runs.

use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use planesmith_control_plane::followed_file::FollowedFile;
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

/// Replaces the providers when the file changes.
pub(crate) struct Reload {
    pub(crate) file: FollowedFile,
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) metrics: ConfigurationMetrics,
}

impl Reload {
    /// The hook that begins it.
    pub(crate) fn hook(self) -> Hook {
        Hook::new(
            "start-encryption-provider-config-automatic-reload",
            move |shutdown| async move {
                tokio::spawn(self.run(shutdown));
                Ok(())
            },
        )
    }

    async fn run(mut self, mut shutdown: Shutdown) {
        loop {
            let reloaded = tokio::select! {
                () = shutdown.requested() => return,
                reloaded = self.next() => reloaded,
            };
            let file = self.file.path().display();
            match reloaded {
                Ok(()) => {
                    self.metrics.reloaded(Some(self.file.content()));
                    tracing::info!(%file, "the encryption configuration is reloaded");
                }
                Err(error) => {
                    self.metrics.reloaded(None);
                    let error = format!("{error:#}");
                    tracing::error!(
                        %file,
                        error,
                        "the encryption configuration cannot be used; the previous one remains in use"
                    );
                }
            }
        }
    }

    /// Waits for another content, and uses it if its plugins become healthy in time.
    async fn next(&mut self) -> Result<()> {
        let content = self.file.changed().await?;
        let snapshot = self.loaded.successor(&content)?;
        wait_until_healthy(&snapshot).await?;
        self.loaded.encryption.replace(snapshot);
        self.file.accept(content);
        Ok(())
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

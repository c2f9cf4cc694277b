//! Configurations that follow their files while the server runs.

use std::future::Future;

use anyhow::Result;
use planesmith_server::metrics::ConfigurationMetrics;

use crate::followed_file::FollowedFile;

/// A part of the server that a changed configuration file replaces.
pub trait Reloadable: Send {
    /// The subject of the file, for messages: `authentication`, `authorization` or `encryption`.
    const SUBJECT: &'static str;

    /// Uses `content`. Returns false if it means the same as before.
    ///
    /// # Errors
    ///
    /// The reason for which the previous content remains in use.
    fn replace(&mut self, content: &[u8]) -> impl Future<Output = Result<bool>> + Send;
}

/// Replaces `part` whenever `file` has another content, for as long as this is polled. A content that cannot be used is tried again
/// every minute, because the rest of its reason may lie elsewhere.
pub async fn follow<R: Reloadable>(mut file: FollowedFile, mut part: R, metrics: &ConfigurationMetrics) {
    loop {
        let replaced = next(&mut file, &mut part).await;
        let (subject, path) = (R::SUBJECT, file.path().display());
        match replaced {
            Ok(true) => {
                metrics.reloaded(Some(file.content()));
                tracing::info!(file = %path, "the {subject} configuration is reloaded");
            }
            Ok(false) => {}
            Err(error) => {
                metrics.reloaded(None);
                let error = format!("{error:#}");
                tracing::error!(
                    file = %path,
                    error,
                    "the {subject} configuration cannot be used; the previous one remains in use"
                );
            }
        }
    }
}

async fn next<R: Reloadable>(file: &mut FollowedFile, part: &mut R) -> Result<bool> {
    let content = file.changed().await?;
    let has_changed = part.replace(&content).await?;
    file.accept(content);
    Ok(has_changed)
}

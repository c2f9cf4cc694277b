//! Hooks that run after a server has started and before it stops.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio::sync::watch;

use crate::health::HealthCheck;
use crate::installation::{Installation, Installing};
use crate::shutdown::Shutdown;

/// The error of a hook.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct HookError(pub String);

type Work = Box<dyn FnOnce(Shutdown) -> BoxFuture<'static, Result<(), HookError>> + Send>;

/// Work that runs once, at a given point of a server's life.
pub struct Hook {
    name: &'static str,
    work: Work,
    after: Vec<&'static str>,
    parts: &'static [&'static str],
    paths: Paths,
    done: Arc<AtomicBool>,
}

/// The paths that a hook installs.
#[derive(Debug)]
enum Paths {
    /// The hook installs no paths.
    None,
    /// The hook installs paths; the server is not prepared yet.
    Announced,
    /// The hook installs paths, and unknown paths are answered with 503 until it is done.
    Outstanding {
        /// Dropped when the hook is done.
        _installing: Installing,
    },
}

impl Hook {
    /// Returns a hook called `name`.
    ///
    /// A hook that has started runs to its end. A hook with lasting work spawns a task that ends at the [`Shutdown`],
    /// and returns.
    pub fn new<W, F>(name: &'static str, work: W) -> Self
    where
        W: FnOnce(Shutdown) -> F + Send + 'static,
        F: Future<Output = Result<(), HookError>> + Send + 'static,
    {
        Self {
            name,
            work: Box::new(move |shutdown| Box::pin(work(shutdown))),
            after: Vec::new(),
            parts: &[],
            paths: Paths::None,
            done: Arc::default(),
        }
    }

    /// The same hook, marked as one that installs paths: until it is done, an unknown path is answered with 503 and not
    /// with 404, from which clients would conclude that the objects there were deleted.
    #[must_use]
    pub fn installs_paths(mut self) -> Self {
        self.paths = Paths::Announced;
        self
    }

    /// Makes `installation` wait for the paths of this hook, if it installs any.
    pub(crate) fn announce_paths(&mut self, installation: &Installation) {
        if matches!(self.paths, Paths::Announced) {
            self.paths = Paths::Outstanding {
                _installing: installation.begin(),
            };
        }
    }

    /// Lets the installation of paths complete without this hook, for a server whose hooks never run.
    pub(crate) fn skip_path_installation(&mut self) {
        self.paths = Paths::None;
    }

    /// The same hook, which starts when the hook called `name` is done; at once if no hook before it has this name.
    #[must_use]
    pub fn after(mut self, name: &'static str) -> Self {
        self.after.push(name);
        self
    }

    /// The same hook, which also reports `parts` of its work: hooks that kube-apiserver has and whose checks probes expect.
    #[must_use]
    pub fn with_parts(mut self, parts: &'static [&'static str]) -> Self {
        self.parts = parts;
        self
    }

    /// Name of the hook, unique in a chain.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// The checks that fail until the work is done: `poststarthook/NAME`, for the hook and for its parts.
    pub fn checks(&self) -> impl Iterator<Item = HealthCheck> {
        std::iter::once(&self.name).chain(self.parts).map(|name| {
            let done = Arc::clone(&self.done);
            HealthCheck::new(format!("poststarthook/{name}"), move || {
                if done.load(Ordering::Acquire) {
                    Ok(())
                } else {
                    Err("not finished".to_owned())
                }
            })
        })
    }

    /// Runs the hook.
    ///
    /// # Errors
    ///
    /// The error of the hook's work.
    pub async fn run(self, shutdown: Shutdown) -> Result<(), HookError> {
        let done = (self.work)(shutdown).await;
        if done.is_err() {
            // The server stops; until it has, paths that this hook did not install are not answered with 404.
            std::mem::forget(self.paths);
            return done;
        }
        drop(self.paths);
        self.done.store(true, Ordering::Release);
        Ok(())
    }
}

/// Names of hooks, and their work: each starts when the hooks that it comes after are done.
pub fn in_order(
    hooks: Vec<Hook>,
    shutdown: &Shutdown,
) -> Vec<(&'static str, BoxFuture<'static, Result<(), HookError>>)> {
    let mut ends: HashMap<&'static str, watch::Receiver<bool>> = HashMap::new();
    let ordered = hooks.into_iter().map(|hook| {
        let name = hook.name;
        let before: Vec<_> = hook.after.iter().filter_map(|name| ends.get(name).cloned()).collect();
        let (done, end) = watch::channel(false);
        ends.insert(name, end);
        let shutdown = shutdown.clone();
        let work = async move {
            for mut earlier in before {
                if earlier.wait_for(|done| *done).await.is_err() {
                    // That hook failed, which stops the server.
                    std::future::pending::<()>().await;
                }
            }
            hook.run(shutdown).await?;
            done.send_replace(true);
            tracing::debug!(name, "start hook done");
            Ok(())
        };
        let work: BoxFuture<'static, _> = Box::pin(work);
        (name, work)
    });
    ordered.collect()
}

impl fmt::Debug for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hook")
            .field("name", &self.name)
            .field("done", &self.done)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures_util::future::join_all;

    use super::*;
    use crate::shutdown::Stop;

    #[tokio::test]
    async fn hooks_begin_when_those_before_them_are_done() {
        let (_stop, shutdown) = Stop::new();
        let log = Arc::new(Mutex::new(Vec::new()));
        let hook = |name: &'static str| {
            let log = Arc::clone(&log);
            Hook::new(name, move |_| async move {
                log.lock().unwrap().push(format!("{name} begins"));
                tokio::task::yield_now().await;
                log.lock().unwrap().push(format!("{name} ends"));
                Ok(())
            })
        };
        let hooks = vec![
            hook("namespaces"),
            hook("roles").after("namespaces"),
            hook("classes").after("nobody"),
        ];
        join_all(in_order(hooks, &shutdown).into_iter().map(|(_, work)| work)).await;
        let log = log.lock().unwrap();
        let at = |line: &str| log.iter().position(|logged| logged == line).unwrap();
        assert!(at("namespaces ends") < at("roles begins"));
        assert!(at("classes begins") < at("namespaces ends"), "{log:?}");
    }
}

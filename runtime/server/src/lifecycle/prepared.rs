//! A server that is ready to run.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use thiserror::Error;
use tokio::task::JoinSet;

use super::config::{CompletedConfig, Config, ConfigError};
use super::front::Front;
use super::outside::outside;
use super::signals::Signals;
use crate::chain::{ApiServer, Installing};
use crate::hooks::{self, Hook, HookError};
use crate::listener::Listener;
use crate::shutdown::{Shutdown, Stop};

/// A whole chain behind its filters, ready to run.
#[derive(Debug)]
pub struct PreparedServer {
    front: Arc<Front>,
    config: Config,
    start_hooks: Vec<Hook>,
    stop_hooks: Vec<Hook>,
    installing: Option<Installing>,
    stopping: Arc<AtomicBool>,
    stop: Stop,
    shutdown: Shutdown,
}

/// Why a server stopped out of order.
#[derive(Debug, Error)]
pub enum RunError {
    /// A hook failed.
    #[error("the start hook {name} failed")]
    Hook {
        /// Name of the hook.
        name: &'static str,
        /// Its error.
        source: HookError,
    },
    /// A second signal came while requests were still running.
    #[error("stopped at once by a second signal")]
    Interrupted,
}

impl PreparedServer {
    pub(super) fn new(completed: CompletedConfig, outermost: ApiServer) -> Result<Self, ConfigError> {
        let CompletedConfig {
            config,
            filters,
            in_flight,
            installation,
        } = completed;
        let mut merged = outermost.merge(&installation);
        refuse_repeated(&merged.start_hooks)?;
        refuse_repeated(&merged.stop_hooks)?;
        for hook in &mut merged.start_hooks {
            hook.announce_paths(&installation);
        }
        let stopping = Arc::new(AtomicBool::new(false));
        let (stop, shutdown) = Stop::new();
        let router = outside(&config, in_flight, &stopping, &mut merged);
        Ok(Self {
            front: Arc::new(Front {
                filters,
                router,
                shutdown: shutdown.clone(),
                metrics: Arc::clone(&config.metrics),
            }),
            config,
            start_hooks: merged.start_hooks,
            stop_hooks: merged.stop_hooks,
            // Dropped when the server runs.
            installing: Some(installation.begin()),
            stopping,
            stop,
            shutdown,
        })
    }

    /// The outside of the chain, for requests from inside the process.
    #[must_use]
    pub fn front(&self) -> Arc<Front> {
        Arc::clone(&self.front)
    }

    /// Lets paths that nobody has be 404 instead of 503 from now on, for servers that only answer from inside the process;
    /// [`run`](Self::run) does it by itself.
    pub fn set_installed(&mut self) {
        self.installing = None;
        self.start_hooks.iter_mut().for_each(Hook::waive_paths);
    }

    /// Serves on `listener` until the first of `signals`, then stops in order.
    ///
    /// Starting: requests are taken at once; start hooks run too, each when those that it comes after are done,
    /// and `/readyz` fails until all are. Paths that nobody knows are answered with 503 until the hooks that install paths
    /// are done.
    ///
    /// Stopping: `/readyz` fails; after the shutdown delay the stop hooks run; then no connection is taken any more,
    /// watches end, and running requests may go on for the request timeout.
    ///
    /// # Errors
    ///
    /// A start hook failed, or a second signal came before the end.
    pub async fn run(self, listener: Listener, mut signals: Signals) -> Result<(), RunError> {
        let Self {
            front,
            config,
            start_hooks,
            stop_hooks,
            installing,
            stopping,
            stop,
            shutdown,
        } = self;
        let (close, closed) = Stop::new();
        let serving = listener.serve(front, config.connections, closed, config.request_timeout);
        let mut serving = tokio::spawn(serving);
        drop(installing);
        tokio::select! {
            // Who is ready has started, even if it is told to stop in the same moment.
            biased;
            result = start(start_hooks, &shutdown) => {
                result?;
                signals.next().await;
            }
            () = signals.next() => {}
        }
        tracing::info!(delay = ?config.shutdown_delay, "stopping");
        stopping.store(true, Ordering::Release);
        let orderly = async {
            tokio::time::sleep(config.shutdown_delay).await;
            for hook in stop_hooks {
                let name = hook.name();
                if let Err(error) = hook.run(shutdown.clone()).await {
                    tracing::error!(name, %error, "a stop hook failed");
                }
            }
            stop.now();
            close.now();
            let _ = (&mut serving).await;
        };
        tokio::select! {
            () = orderly => {
                tracing::info!("stopped");
                Ok(())
            }
            () = signals.next() => stop_now(&stop, &close),
        }
    }
}

/// Refuses two hooks of one name: the health check, and what comes after the hook, would be about one of them only.
fn refuse_repeated(hooks: &[Hook]) -> Result<(), ConfigError> {
    let mut names = HashSet::new();
    match hooks.iter().find(|hook| !names.insert(hook.name())) {
        Some(hook) => Err(ConfigError::RepeatedHook { name: hook.name() }),
        None => Ok(()),
    }
}

fn stop_now(stop: &Stop, close: &Stop) -> Result<(), RunError> {
    stop.now();
    close.now();
    Err(RunError::Interrupted)
}

/// Runs the start hooks, all at once but for those that come after others.
async fn start(hooks: Vec<Hook>, shutdown: &Shutdown) -> Result<(), RunError> {
    let mut running = JoinSet::new();
    for (name, work) in hooks::in_order(hooks, shutdown) {
        running.spawn(async move { work.await.map_err(|source| RunError::Hook { name, source }) });
    }
    while let Some(ended) = running.join_next().await {
        match ended {
            Ok(result) => result?,
            Err(error) => std::panic::resume_unwind(error.into_panic()),
        }
    }
    Ok(())
}

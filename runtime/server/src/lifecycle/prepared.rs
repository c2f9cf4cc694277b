//! A server that is ready to run.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use futures_util::future::BoxFuture;
use thiserror::Error;
use tokio::task::JoinSet;

use super::config::{CompletedConfig, Config, ConfigError};
use super::debug_socket;
use super::front::Front;
use super::outside::{Outside, outside};
use super::signals::Signals;
use crate::chain::ApiServer;
use crate::draining::RequestDrain;
use crate::hooks::{self, Hook, HookError};
use crate::installation::Installing;
use crate::listener::Listener;
use crate::own_task::OwnTask;
use crate::shutdown::{Shutdown, Stop};
use crate::task;

/// Time in which the last answers are sent, and clients read that their connections end; kube-apiserver's.
const SENDING_TIMEOUT: Duration = Duration::from_secs(2);

/// A whole chain behind its filters, ready to run.
#[derive(Debug)]
pub struct PreparedServer {
    front: Arc<Front>,
    debug_pages: Router,
    config: Config,
    start_hooks: Vec<Hook>,
    stop_hooks: Vec<Hook>,
    installing: Option<Installing>,
    stopping: Arc<AtomicBool>,
    was_ready: Arc<AtomicBool>,
    drain: Option<Arc<RequestDrain>>,
    stop: Stop,
    shutdown: Shutdown,
}

/// The reason that a server stopped with an error.
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
    /// A second signal arrived while requests were still running.
    #[error("stopped at once by a second signal")]
    Interrupted,
}

impl PreparedServer {
    pub(super) fn new(completed: CompletedConfig, outermost: ApiServer) -> Result<Self, ConfigError> {
        let CompletedConfig {
            config,
            filters,
            load,
            installation,
        } = completed;
        let mut merged = outermost.merge(&installation);
        refuse_repeated(&merged.start_hooks)?;
        refuse_repeated(&merged.stop_hooks)?;
        for hook in &mut merged.start_hooks {
            hook.announce_paths(&installation);
        }
        let stopping = Arc::new(AtomicBool::new(false));
        let (stop, shutdown) = Stop::with_watch_grace(config.watch_grace);
        let (was_ready, drain) = (Arc::clone(&load.was_ready), load.drain.clone());
        let Outside { router, debug_pages } = outside(&config, load, &stopping, &mut merged);
        Ok(Self {
            front: Arc::new(Front {
                filters,
                router,
                shutdown: shutdown.clone(),
                metrics: Arc::clone(&config.metrics),
                features: config.features.clone(),
            }),
            debug_pages,
            config,
            start_hooks: merged.start_hooks,
            stop_hooks: merged.stop_hooks,
            // Dropped when the server runs.
            installing: Some(installation.begin()),
            stopping,
            was_ready,
            drain,
            stop,
            shutdown,
        })
    }

    /// The outermost layer of the chain, for requests from inside the process.
    #[must_use]
    pub fn front(&self) -> Arc<Front> {
        Arc::clone(&self.front)
    }

    /// Answers unknown paths with 404 instead of 503 from now on, for servers that only answer requests from inside the
    /// process; [`run`](Self::run) does so itself.
    pub fn set_installed(&mut self) {
        self.installing = None;
        self.start_hooks.iter_mut().for_each(Hook::skip_path_installation);
    }

    /// Serves on `listener` until the first of `signals`, then shuts down in order.
    ///
    /// Start: the server answers requests at once. Start hooks run concurrently, each once the hooks that it comes
    /// after are done, and `/readyz` fails until all are. Unknown paths are answered with 503 until the hooks that
    /// install paths are done.
    ///
    /// Shutdown: `/readyz` fails; after the shutdown delay the stop hooks run; then no new connection is accepted,
    /// watches end, and running requests have the request timeout to finish. A server that turns requests away
    /// ([`Config::shutdown_retry_after`]) accepts connections until running requests are answered.
    ///
    /// # Errors
    ///
    /// A start hook failed, or a second signal arrived before the end.
    pub fn run(self, listener: Listener, signals: Signals) -> BoxFuture<'static, Result<(), RunError>> {
        // An async function is compiled by each crate that awaits it, with all that it awaits: here all of HTTP.
        Box::pin(self.serve(listener, signals))
    }

    async fn serve(self, listener: Listener, mut signals: Signals) -> Result<(), RunError> {
        let Self {
            front,
            debug_pages,
            config,
            start_hooks,
            stop_hooks,
            installing,
            stopping,
            was_ready,
            drain,
            stop,
            shutdown,
        } = self;
        let debug_socket = config.debug_socket.clone();
        let _debug = debug_socket.map(|path| OwnTask::run(debug_socket::serve(path, debug_pages)));
        let (close, closed) = Stop::new();
        let patience = match &drain {
            // The last answers are on their way already.
            Some(_) => SENDING_TIMEOUT,
            None => config.request_timeout.max(config.watch_grace),
        };
        let serving = listener.serve(front, config.connections, closed, patience);
        let mut serving = task::spawn(serving);
        drop(installing);
        tokio::select! {
            // A ready server counts as started, even if the signal to stop comes at the same moment.
            biased;
            result = start(start_hooks, &shutdown) => {
                result?;
                was_ready.store(true, Ordering::Release);
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
            if let Some(drain) = &drain {
                drain.begin();
            }
            stop.now();
            if let Some(drain) = &drain {
                // Deadlines bound the requests.
                let requests = tokio::time::timeout(config.request_timeout, drain.ended());
                let _ = tokio::join!(requests, stop.watches_ended());
            }
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

/// Refuses two hooks of one name: the health check and the order of hooks would apply to one of them only.
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

/// Runs the start hooks concurrently, except those that come after others.
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

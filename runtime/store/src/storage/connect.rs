//! A store on a backend in which others write, too.

use std::borrow::Cow;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::{OpenError, Shared, Storage, spawn};
use crate::Alarms;
use crate::authorship::Authorship;
use crate::backend::{Backend, BackendError, State};
use crate::collections::Collections;
use crate::committer::Queue;
use crate::compactor::{Compactor, MarkQueue, Marks};
use crate::encodings::EncodingCache;
use crate::log::{self, Log};
use crate::options::StorageOptions;
use crate::remote::{self, BackendLog, Parts, Remote, Stale, Writer};
use crate::revision_window::RevisionWindow;
use crate::settler::Settling;
use crate::unclaimed::Unclaimed;
use crate::values::StoredKeys;

impl Storage {
    /// Opens the store of the keys under `prefix` on `backend`, in which others write, too. Loads all of them, and follows
    /// their changes from then on: a collection shows the writes of all.
    ///
    /// Call it on a tokio runtime that lives as long as the store. History begins with the loaded state. Keys expire where
    /// the backend decides so, and watchers of a deletion see the state before it, whatever final state the writer brings.
    /// [`WriteError::OutcomeUnknown`](crate::WriteError::OutcomeUnknown) is the result of a write whose answer is lost: it is
    /// not repeated.
    ///
    /// # Errors
    ///
    /// [`OpenError::Backend`] when the content cannot be loaded.
    pub async fn connect(backend: Arc<dyn Backend>, prefix: &str, options: &StorageOptions) -> Result<Self, OpenError> {
        let (states, revision) = remote::load(&*backend, prefix).await?;
        let transformers = options.transformers.as_ref();
        let preparation = transformers.and_then(|all| all.prepare(&mut states.iter().map(|state| &*state.value)));
        if let Some(preparation) = preparation {
            preparation.done().await;
        }
        let mut unclaimed = Unclaimed::new(options, false);
        for state in states {
            unclaimed.change(record(state));
        }
        let unclaimed = Arc::new(Mutex::new(unclaimed));
        let revisions = Arc::new(RevisionWindow::new(revision, revision));
        let log: Arc<dyn Log> = Arc::new(BackendLog(Arc::clone(&backend)));
        let marks = Arc::new(Marks::new(options, MarkQueue::default(), Arc::clone(&log)));
        let settling = Arc::new(Settling::new(revision));
        let collections = Collections::default();
        let alarms = Alarms::new(Arc::clone(&options.clock));
        let authorship = Arc::new(Authorship::new(Arc::clone(&log)));
        let compactor = Compactor::new(
            Arc::clone(&marks),
            Arc::clone(&settling),
            Arc::clone(&revisions),
            collections.clone(),
        );
        let settler = (
            Arc::clone(&settling),
            Arc::clone(&log),
            alarms.clone(),
            Arc::clone(&authorship),
        );
        let threads = vec![
            spawn("store-trim", move || compactor.run())?,
            spawn("store-compact", move || {
                settler.0.run(&settler.1, &settler.2, &settler.3)
            })?,
        ];
        let parts = Parts {
            revisions: Arc::clone(&revisions),
            collections: collections.clone(),
            unclaimed: Arc::clone(&unclaimed),
            marks: Arc::clone(&marks),
            clock: Arc::clone(&options.clock),
            transformers: options.transformers.clone(),
        };
        let named = Arc::clone(&backend);
        let stored_keys: Arc<StoredKeys> = Arc::new(move |key: &str| match named.stored_key(key) {
            Cow::Borrowed(_) => None,
            Cow::Owned(name) => Some(name),
        });
        let remote = Remote::start(backend, prefix, parts, alarms.clone(), options.write_limit, revision);
        let writer = Arc::new(Writer::new(&remote));
        let shared = Shared {
            revisions,
            queue: Arc::new(Queue::new(options.write_limit)),
            marks,
            settling,
            log,
            alarms,
            collections,
            authorship,
            unclaimed,
            threads: Mutex::new(threads),
            encodings: EncodingCache::default(),
            kinds: options.kinds.clone(),
            transformers: options.transformers.clone(),
            stored_keys: Some(stored_keys),
            remote: Some((remote, writer)),
        };
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// True if others write to the store, too: then reads of the newest state wait with [`Storage::fresh`].
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared.remote.is_some()
    }

    /// Succeeds if the store elsewhere answers now; always, if no other server writes to the store. The caller bounds the time.
    ///
    /// # Errors
    ///
    /// The backend does not answer.
    pub async fn probe(&self) -> Result<(), BackendError> {
        match &self.shared.remote {
            None => Ok(()),
            Some((remote, _)) => remote.probe().await,
        }
    }

    /// Waits until all writes of all servers before the call are visible, for `deadline` at most. All callers that wait
    /// share one request to the backend. Returns at once if no other server writes to the store.
    ///
    /// # Errors
    ///
    /// The backend does not tell its newest revision, or the changes do not arrive in time.
    pub async fn fresh(&self, deadline: Duration) -> Result<(), Stale> {
        match &self.shared.remote {
            None => Ok(()),
            Some((remote, _)) => remote.fresh(deadline).await,
        }
    }
}

fn record(state: State) -> log::Record {
    log::Record {
        revision: state.revision,
        key: state.key,
        change: log::Change::Put { expires: 0 },
        bytes: state.value,
        gap: None,
    }
}

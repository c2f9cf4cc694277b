//! etcd as a backend of the store.

use std::borrow::Cow;

use planesmith_store::backend::{Backend, BackendError, BackendFuture, Feed, FeedError, Refusal, State, StateWrite};
use planesmith_store::{Alarm, Revision};

use crate::client::QUICK;
use crate::etcd::Etcd;
use crate::failure::Failure;
use crate::protocol::kv::{RANGE, Range};
use crate::{compactor, feed, load, transaction};

impl Etcd {
    /// Reads the key that kube-apiserver reads for its health check, through the leader. Returns the newest revision.
    async fn read_newest(&self) -> Result<Revision, Failure> {
        let range = Range {
            key: self.keys.health(),
            keys_only: true,
            ..Range::default()
        };
        let answer = self.client.repeat(&RANGE, range, QUICK).await?;
        Ok(load::revision(answer.header.unwrap_or_default().revision))
    }
}

impl Backend for Etcd {
    fn load<'a>(
        &'a self,
        prefix: &'a str,
        page: &'a mut (dyn FnMut(Vec<State>) + Send),
    ) -> BackendFuture<'a, Result<Revision, BackendError>> {
        Box::pin(async move { Ok(load::load(&self.client, &self.keys, prefix, page).await?) })
    }

    fn follow<'a>(&'a self, prefix: &'a str, after: Revision) -> BackendFuture<'a, Result<Box<dyn Feed>, FeedError>> {
        Box::pin(async move {
            let feed = feed::follow(&self.client, &self.keys, prefix, after, self.progress.subscribe()).await?;
            Ok(Box::new(feed) as Box<dyn Feed>)
        })
    }

    fn write(&self, write: StateWrite) -> BackendFuture<'_, Result<Revision, Refusal>> {
        Box::pin(transaction::write(&self.client, &self.keys, &self.leases, write))
    }

    fn newest(&self) -> BackendFuture<'_, Result<Revision, BackendError>> {
        Box::pin(async { Ok(self.read_newest().await?) })
    }

    fn request_progress(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        self.progress.send_replace(());
        Box::pin(std::future::ready(Ok(())))
    }

    fn compact(&self, revision: Revision) -> BackendFuture<'_, Result<(), BackendError>> {
        let revision = i64::try_from(revision.0).unwrap_or(i64::MAX);
        Box::pin(async move { Ok(compactor::compact(&self.client, revision).await?) })
    }

    fn health(&self) -> BackendFuture<'_, Result<(), BackendError>> {
        Box::pin(async { Ok(self.read_newest().await.map(drop)?) })
    }

    fn stored_key<'k>(&self, key: &'k str) -> Cow<'k, str> {
        self.keys.authenticated(key)
    }

    fn size(&self) -> u64 {
        self.report.size()
    }

    fn alarms(&self) -> Vec<Alarm> {
        self.report.alarms.all()
    }

    fn close(&self) {
        self.stop();
    }
}

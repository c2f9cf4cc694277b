//! The scenarios that every backend with several writers passes.

use std::sync::Arc;

use bytes::Bytes;
use planesmith_store::Revision;
use planesmith_store::backend::{Backend, BackendFuture};
use planesmith_store::conformance::{Disturbed, Server};
use planesmith_store_etcd::Etcd;
use tokio::runtime::Handle;

use crate::server::{Cluster, is_skipped};

impl Server for Cluster {
    fn connect(&self) -> BackendFuture<'_, Arc<dyn Backend>> {
        Box::pin(async {
            let etcd = Etcd::connect(&self.config()).await.unwrap();
            Arc::new(etcd) as Arc<dyn Backend>
        })
    }

    fn write_all(&self, changes: Vec<(Arc<str>, Option<Bytes>)>) -> BackendFuture<'_, Revision> {
        Box::pin(async move {
            let etcd = Etcd::connect(&self.config()).await.unwrap();
            etcd.write_all(changes).await.unwrap()
        })
    }
}

/// Returns a cluster of one member, or `None` if tests with etcd are skipped.
fn one_member() -> Option<Disturbed> {
    if is_skipped() {
        return None;
    }
    let cluster = tokio::task::block_in_place(|| Handle::current().block_on(Cluster::start(1)));
    // The first write of a new etcd has revision 2.
    Some(Disturbed::new(cluster, Revision(1)))
}

planesmith_store::shared_suite!(one_member());

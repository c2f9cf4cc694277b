//! Reading and replacing a whole prefix.

use std::time::Duration;

use planesmith_store::backend::{Backend as _, StateWrite};
use planesmith_store::{Expect, Revision};
use planesmith_store_etcd::Etcd;

use crate::server::{Cluster, is_skipped};

const PREFIX: &str = "/registry/";

fn write(name: &str, ttl: Option<Duration>) -> StateWrite {
    StateWrite {
        key: format!("{PREFIX}things/{name}").into(),
        value: Some(format!("value of {name}").into()),
        expect: Expect::Absent,
        lifetime: ttl.into(),
    }
}

#[tokio::test]
async fn a_prefix_is_written_read_with_its_leases_and_deleted() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start(1).await;
    let etcd = Etcd::connect(&cluster.config()).await.unwrap();
    assert!(!etcd.has_content(PREFIX).await.unwrap());
    let ttl = Some(Duration::from_secs(500));
    let writes = (0..1500).map(|number| write(&number.to_string(), (number % 100 == 7).then_some(ttl).flatten()));
    etcd.create_all(writes.collect()).await.unwrap();
    assert!(etcd.has_content(PREFIX).await.unwrap());
    let mut seen = 0;
    let snapshot = etcd.snapshot(PREFIX, &mut |objects, _| seen += objects).await.unwrap();
    assert_eq!((snapshot.states.len(), seen), (1500, 1500));
    assert_eq!(snapshot.revision, etcd.newest().await.unwrap());
    let expiring: Vec<_> = snapshot.states.iter().filter_map(|state| state.ttl).collect();
    assert_eq!(expiring.len(), 15);
    let range = Duration::from_secs(450)..=Duration::from_secs(530);
    assert!(expiring.iter().all(|ttl| range.contains(ttl)), "{expiring:?}");

    let refused = etcd.create_all(vec![write("3", None)]).await.unwrap_err();
    assert_eq!(refused.to_string(), "/registry/things/3 cannot be written");
    etcd.delete_all(PREFIX).await.unwrap();
    assert!(!etcd.has_content(PREFIX).await.unwrap());
}

#[tokio::test]
async fn the_transfer_mark_is_outside_of_the_prefix_and_increases_the_revision() {
    if is_skipped() {
        return;
    }
    let cluster = Cluster::start(1).await;
    let etcd = Etcd::connect(&cluster.config()).await.unwrap();
    assert!(!etcd.has_transfer_mark().await.unwrap());
    etcd.mark_transfer().await.unwrap();
    assert!(etcd.has_transfer_mark().await.unwrap());
    assert!(!etcd.has_content(PREFIX).await.unwrap());
    let Revision(before) = etcd.newest().await.unwrap();
    etcd.advance(1000).await.unwrap();
    assert_eq!(etcd.newest().await.unwrap(), Revision(before + 1000));
    etcd.forget_history(Revision(before + 1000)).await.unwrap();
    etcd.unmark_transfer().await.unwrap();
    assert!(!etcd.has_transfer_mark().await.unwrap());
}

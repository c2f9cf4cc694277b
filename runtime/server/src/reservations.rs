//! Reservations from a common pool, such as addresses: made before a write, released when it fails.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_store::{Collection, Op, WriteError, WriteResult};

/// Reserves values from a limited pool for the objects of one kind. All objects are in the storage version.
///
/// A write begins with a reservation, which sets the reserved values in the object before it is validated. The
/// reservation is committed if the write is stored, and rolled back otherwise, even if the client has disconnected.
/// Values of a request that is aborted while it reserves are left to the repair loop of the pool.
pub trait Reservations: Send + Sync {
    /// Reserves the values that an object to be created needs, and sets them in the object.
    ///
    /// # Errors
    ///
    /// The error for the client when the pool is exhausted or a requested value is taken; nothing stays reserved.
    fn begin_create<'a>(
        &'a self,
        new: &'a mut dyn Object,
        dry_run: bool,
    ) -> BoxFuture<'a, ApiResult<Box<dyn Reservation>>>;

    /// Reserves the values that an object needs in addition to those of its old state.
    ///
    /// # Errors
    ///
    /// As for [`Reservations::begin_create`].
    fn begin_update<'a>(
        &'a self,
        new: &'a mut dyn Object,
        old: &'a dyn Object,
        dry_run: bool,
    ) -> BoxFuture<'a, ApiResult<Box<dyn Reservation>>>;

    /// Releases the values of a deleted object.
    fn after_delete<'a>(&'a self, old: &'a dyn Object) -> BoxFuture<'a, ()>;
}

/// The values that are reserved for one write.
pub trait Reservation: Send {
    /// Keeps the values, and releases those that only the old state has.
    fn commit(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// Releases the values.
    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// A reservation, or none for kinds that reserve nothing. If it is dropped without a write, it is rolled back.
pub(crate) struct ReservationGuard(Option<Box<dyn Reservation>>);

/// The release of an object's values, once the object is deleted.
pub(crate) struct ReleaseOnDelete {
    pub(crate) pool: Arc<dyn Reservations>,
    pub(crate) object: Box<dyn Object>,
}

impl ReservationGuard {
    /// Returns an empty reservation.
    pub(crate) fn nothing() -> Self {
        Self(None)
    }

    pub(crate) fn new(reservation: Box<dyn Reservation>) -> Self {
        Self(Some(reservation))
    }

    /// Rolls the reservation back, unless a write has committed it or rolled it back.
    pub(crate) async fn roll_back(mut self) {
        if let Some(reservation) = self.0.take() {
            reservation.roll_back().await;
        }
    }

    /// Writes, then commits the reservation if the write is stored and rolls it back otherwise; releases the values of
    /// `release`. All of this happens even if the caller is dropped: the store cannot be stopped half way, so the pool
    /// must not be either.
    pub(crate) async fn write(
        &mut self,
        collection: &Arc<Collection>,
        op: Op,
        release: Option<ReleaseOnDelete>,
    ) -> WriteResult {
        let reservation = self.0.take();
        if reservation.is_none() && release.is_none() {
            return collection.write(op).await;
        }
        let collection = Arc::clone(collection);
        let whole = tokio::spawn(async move {
            let written = collection.write(op).await;
            if let (Ok(_), Some(ReleaseOnDelete { pool, object })) = (&written, release) {
                pool.after_delete(&*object).await;
            }
            match reservation {
                Some(reservation) if written.is_ok() => reservation.commit().await,
                Some(reservation) => reservation.roll_back().await,
                None => {}
            }
            written
        });
        whole.await.unwrap_or_else(|error| match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime shuts down.
            Err(_) => Err(WriteError::Closed),
        })
    }
}

impl Drop for ReservationGuard {
    fn drop(&mut self) {
        if let Some(reservation) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(reservation.roll_back());
        }
    }
}

impl fmt::Debug for dyn Reservations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reservations")
    }
}

#[cfg(test)]
mod tests {
    use planesmith_store::{Draft, Expect, MemoryLog, NoIndex, Row, Storage, StorageOptions};
    use tokio::sync::mpsc;

    use super::*;

    /// Records the outcome of the reservation.
    struct Recorded(mpsc::UnboundedSender<&'static str>);

    impl Reservation for Recorded {
        fn commit(self: Box<Self>) -> BoxFuture<'static, ()> {
            Box::pin(async move { self.0.send("committed").unwrap() })
        }

        fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
            Box::pin(async move { self.0.send("rolled back").unwrap() })
        }
    }

    fn guard() -> (ReservationGuard, mpsc::UnboundedReceiver<&'static str>) {
        let (tell, outcomes) = mpsc::unbounded_channel();
        (ReservationGuard::new(Box::new(Recorded(tell))), outcomes)
    }

    fn things() -> (Storage, Arc<Collection>) {
        let storage = Storage::open(MemoryLog::new(), &StorageOptions::default()).unwrap();
        let things = storage.collection("/things/", Arc::new(NoIndex));
        (storage, things)
    }

    fn put(expect: Expect) -> Op {
        Op::Put {
            key: "/things/a".into(),
            draft: Draft::new(b"{}".to_vec(), 1),
            row: Row::default(),
            expect,
            ttl: None,
        }
    }

    #[tokio::test]
    async fn a_stored_write_commits_its_reservation_though_the_client_disconnects() {
        let (mut guard, mut outcomes) = guard();
        let (_storage, things) = things();
        tokio::select! {
            biased;
            _ = guard.write(&things, put(Expect::Absent), None) => panic!("the client disconnects before that"),
            () = std::future::ready(()) => {}
        }
        drop(guard);
        assert_eq!(outcomes.recv().await, Some("committed"));
        assert!(things.get("/things/a").is_some());
    }

    #[tokio::test]
    async fn a_reservation_without_a_stored_write_is_rolled_back() {
        let (_storage, things) = things();
        let (mut refused, mut outcomes) = guard();
        things.write(put(Expect::Absent)).await.unwrap();
        assert!(refused.write(&things, put(Expect::Absent), None).await.is_err());
        assert_eq!(outcomes.recv().await, Some("rolled back"));
        let (dropped, mut outcomes) = guard();
        drop(dropped);
        assert_eq!(outcomes.recv().await, Some("rolled back"));
        let (unused, mut outcomes) = guard();
        unused.roll_back().await;
        assert_eq!(outcomes.recv().await, Some("rolled back"));
        assert_eq!(outcomes.recv().await, None);
    }
}

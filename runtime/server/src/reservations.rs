//! What objects take from a common pool, such as addresses: taken before a write, given back when it fails.

use std::fmt;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;
use planesmith_store::{Collection, Op, WriteError, WriteResult};

/// Takes for the objects of one kind what is in short supply. All objects are in the storage version.
///
/// A write begins with a reservation, which fills in what was chosen for the object before it is checked. When the write
/// is stored the reservation is committed, else it is rolled back, whether or not the client still waits. What a request
/// took that breaks off while it takes is left to whoever repairs the pool.
pub trait Reservations: Send + Sync {
    /// Takes what an object to be created needs, and tells the object.
    ///
    /// # Errors
    ///
    /// What the client is told when there is nothing left, or what it asks for is taken; nothing stays reserved.
    fn begin_create<'a>(
        &'a self,
        new: &'a mut dyn Object,
        dry_run: bool,
    ) -> BoxFuture<'a, ApiResult<Box<dyn Reservation>>>;

    /// Takes what an object needs that its old state did not.
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

    /// Gives back what an object had that is gone now.
    fn after_delete<'a>(&'a self, old: &'a dyn Object) -> BoxFuture<'a, ()>;
}

/// What was taken for one write.
pub trait Reservation: Send {
    /// Keeps it, and gives back what the old state had and the new one has not.
    fn commit(self: Box<Self>) -> BoxFuture<'static, ()>;

    /// Gives it back.
    fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()>;
}

/// A reservation, or none for kinds that take nothing. What is dropped without a write is given back.
pub(crate) struct Held(Option<Box<dyn Reservation>>);

/// What is done once an object is gone: its pool gets back what it had.
pub(crate) struct Gone {
    pub(crate) pool: Arc<dyn Reservations>,
    pub(crate) object: Box<dyn Object>,
}

impl Held {
    /// Nothing was taken.
    pub(crate) fn nothing() -> Self {
        Self(None)
    }

    pub(crate) fn new(reservation: Box<dyn Reservation>) -> Self {
        Self(Some(reservation))
    }

    /// Gives back what was taken, unless a write decided about it.
    pub(crate) async fn give_back(mut self) {
        if let Some(reservation) = self.0.take() {
            reservation.roll_back().await;
        }
    }

    /// Writes, and keeps what was taken if that is stored, else gives it back; gives back what `gone` had. All of it
    /// happens even if nobody waits for it any more: the store cannot be stopped half way, so the pool must not be either.
    pub(crate) async fn write(&mut self, collection: &Arc<Collection>, op: Op, gone: Option<Gone>) -> WriteResult {
        let taken = self.0.take();
        if taken.is_none() && gone.is_none() {
            return collection.write(op).await;
        }
        let collection = Arc::clone(collection);
        let whole = tokio::spawn(async move {
            let written = collection.write(op).await;
            if let (Ok(_), Some(Gone { pool, object })) = (&written, gone) {
                pool.after_delete(&*object).await;
            }
            match taken {
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

impl Drop for Held {
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

    /// Tells what becomes of it.
    struct Told(mpsc::UnboundedSender<&'static str>);

    impl Reservation for Told {
        fn commit(self: Box<Self>) -> BoxFuture<'static, ()> {
            Box::pin(async move { self.0.send("kept").unwrap() })
        }

        fn roll_back(self: Box<Self>) -> BoxFuture<'static, ()> {
            Box::pin(async move { self.0.send("given back").unwrap() })
        }
    }

    fn held() -> (Held, mpsc::UnboundedReceiver<&'static str>) {
        let (tell, told) = mpsc::unbounded_channel();
        (Held::new(Box::new(Told(tell))), told)
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
    async fn a_stored_write_keeps_what_was_taken_though_nobody_waits() {
        let (mut held, mut told) = held();
        let (_storage, things) = things();
        tokio::select! {
            biased;
            _ = held.write(&things, put(Expect::Absent), None) => panic!("the client goes away before that"),
            () = std::future::ready(()) => {}
        }
        drop(held);
        assert_eq!(told.recv().await, Some("kept"));
        assert!(things.get("/things/a").is_some());
    }

    #[tokio::test]
    async fn what_is_not_stored_is_given_back() {
        let (_storage, things) = things();
        let (mut refused, mut told) = held();
        things.write(put(Expect::Absent)).await.unwrap();
        assert!(refused.write(&things, put(Expect::Absent), None).await.is_err());
        assert_eq!(told.recv().await, Some("given back"));
        let (dropped, mut told) = held();
        drop(dropped);
        assert_eq!(told.recv().await, Some("given back"));
        let (unused, mut told) = held();
        unused.give_back().await;
        assert_eq!(told.recv().await, Some("given back"));
        assert_eq!(told.recv().await, None);
    }
}

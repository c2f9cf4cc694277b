//! What objects take from a common pool, such as addresses: taken before a write, given back when it fails.

use std::fmt;

use futures_util::future::BoxFuture;
use planesmith_machinery::object::Object;
use planesmith_machinery::status::ApiResult;

/// Takes for the objects of one kind what is in short supply. All objects are in the storage version.
///
/// A write begins with a reservation, which fills in what was chosen for the object before it is checked. When the write
/// is stored the reservation is committed, else it is rolled back. A request that breaks off in between leaves the
/// reservation to whoever repairs the pool: only the store knows whether the write took place.
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

/// A reservation, or none for kinds that take nothing.
#[must_use = "settle it, or what was taken stays taken"]
pub(crate) struct Held(Option<Box<dyn Reservation>>);

impl Held {
    /// Nothing was taken.
    pub(crate) fn nothing() -> Self {
        Self(None)
    }

    pub(crate) fn new(reservation: Box<dyn Reservation>) -> Self {
        Self(Some(reservation))
    }

    /// Keeps what was taken if the write is `stored`, else gives it back.
    pub(crate) async fn settle(self, stored: bool) {
        match self.0 {
            Some(reservation) if stored => reservation.commit().await,
            Some(reservation) => reservation.roll_back().await,
            None => {}
        }
    }
}

impl fmt::Debug for dyn Reservations {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reservations")
    }
}

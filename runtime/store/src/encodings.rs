//! Encodings beside the canonical one: made on first use, shared, dropped when room is needed.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, Weak};

use bytes::Bytes;

/// Names one encoding; the caller decides what the number means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormId(pub u32);

/// Bytes that all derived encodings of the process may keep together.
///
/// One budget for the process and not one per store, so that entries need no way back to theirs.
const BUDGET: usize = 8 << 20;

/// Where an entry or an event keeps its derived encodings: one lock and one pointer when unused.
#[derive(Debug, Default)]
pub(crate) struct Encodings {
    slot: Mutex<Option<Box<Kept>>>,
}

#[derive(Debug)]
struct Kept {
    forms: Vec<(FormId, Bytes)>,
    /// Used since the budget last looked.
    hot: AtomicBool,
}

/// Something that the budget can ask to let its encodings go.
pub(crate) trait Holder: Send + Sync {
    fn encodings(&self) -> &Encodings;
}

impl Encodings {
    /// The encoding `id`, made once: callers at the same moment wait for the first one.
    pub(crate) fn get(
        &self,
        holder: impl FnOnce() -> Weak<dyn Holder>,
        id: FormId,
        make: impl FnOnce() -> Bytes,
    ) -> Bytes {
        let mut slot = self.lock();
        if let Some(bytes) = found(slot.as_deref(), id) {
            return bytes;
        }
        let bytes = make();
        let weight = add(&mut slot, id, &bytes);
        // The budget locks slots, so it is told without this slot's lock.
        drop(slot);
        BUDGET_IN_USE.admit(Ticket {
            holder: holder(),
            id,
            weight,
        });
        bytes
    }

    /// The encoding `id`, if it is kept.
    pub(crate) fn kept(&self, id: FormId) -> Option<Bytes> {
        found(self.lock().as_deref(), id)
    }

    /// Keeps an encoding that was made without the lock, unless somebody was faster.
    pub(crate) fn keep(&self, holder: impl FnOnce() -> Weak<dyn Holder>, id: FormId, bytes: &Bytes) {
        let mut slot = self.lock();
        if found(slot.as_deref(), id).is_some() {
            return;
        }
        let weight = add(&mut slot, id, bytes);
        drop(slot);
        BUDGET_IN_USE.admit(Ticket {
            holder: holder(),
            id,
            weight,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Option<Box<Kept>>> {
        // A panicking `make` leaves the slot as it was.
        self.slot.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops the encoding `id`, unless it was used since the last call.
    fn release(&self, id: FormId) -> bool {
        let mut slot = self.lock();
        let Some(kept) = slot.as_mut() else {
            return true;
        };
        if kept.hot.swap(false, Ordering::Relaxed) {
            return false;
        }
        kept.forms.retain(|(known, _)| *known != id);
        if kept.forms.is_empty() {
            *slot = None;
        }
        true
    }
}

fn found(kept: Option<&Kept>, id: FormId) -> Option<Bytes> {
    let kept = kept?;
    let (_, bytes) = kept.forms.iter().find(|(known, _)| *known == id)?;
    kept.hot.store(true, Ordering::Relaxed);
    Some(bytes.clone())
}

/// Adds an encoding that is not there; its weight.
fn add(slot: &mut Option<Box<Kept>>, id: FormId, bytes: &Bytes) -> usize {
    let kept = slot.get_or_insert_with(|| {
        Box::new(Kept {
            forms: Vec::with_capacity(1),
            hot: AtomicBool::new(false),
        })
    });
    kept.forms.push((id, bytes.clone()));
    bytes.len()
}

static BUDGET_IN_USE: Budget = Budget {
    queue: Mutex::new((VecDeque::new(), 0)),
};

/// First in, first out, with a second chance for what was used meanwhile.
struct Budget {
    queue: Mutex<(VecDeque<Ticket>, usize)>,
}

struct Ticket {
    holder: Weak<dyn Holder>,
    id: FormId,
    weight: usize,
}

impl Budget {
    fn admit(&self, ticket: Ticket) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        let (tickets, total) = &mut *queue;
        *total += ticket.weight;
        tickets.push_back(ticket);
        // Each ticket gets at most one second chance per admission.
        let mut chances = tickets.len();
        while *total > BUDGET
            && let Some(oldest) = tickets.pop_front()
        {
            let released = match oldest.holder.upgrade() {
                Some(holder) if chances > 0 => holder.encodings().release(oldest.id),
                Some(_) | None => true,
            };
            if released {
                *total -= oldest.weight;
            } else {
                chances -= 1;
                tickets.push_back(oldest);
            }
        }
    }
}

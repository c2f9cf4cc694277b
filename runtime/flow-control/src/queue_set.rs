//! The queues of a level, and its seats.
//!
//! The order is that of fair queueing with virtual time. The progress of the level is the work that each active queue had, if all
//! had the same. A queue has the progress at which its next request starts; the request that would finish first is
//! dispatched next. Its work is an estimate that is corrected when the request has finished.
//!
//! A part of the seats is reserved for narrow requests, those of one seat: wide ones leave it free, and narrow ones in it count
//! against it, so they delay no wide one. A small read does not wait for the end of a large list then, whatever the estimates say.
//! A request that is too wide for the rest of the seats uses the reserve too; while it is the next one, no other overtakes it.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use crate::dealer::Dealer;
use crate::demand::{DemandSummary, Integrator};
use crate::digest::{Counts, Progress};
use crate::discipline::Discipline;
use crate::queue::Queue;
use crate::rejection::Rejection;
use crate::request_table::{Grant, Request, RequestKey, RequestTable};
use crate::timed_histogram::TimedHistogram;
use crate::work::{ESTIMATED_SERVICE_TIME, SeatSeconds, WorkEstimate};

/// Bounds of the histograms of a level.
const SEAT_UTILIZATION: &[f64] = &[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0];
const REQUEST_UTILIZATION: &[f64] = &[0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.25, 0.5, 0.75, 1.0];
const DEMAND: &[f64] = &[0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.7, 2.0, 2.8, 4.0, 6.0];

/// One of this many seats is reserved for narrow requests.
const NARROW_SHARE: u64 = 8;

/// The state of a level.
#[derive(Debug)]
pub(crate) struct QueueSet<D> {
    pub(crate) discipline: Discipline,
    dealer: Option<Dealer>,
    /// Seats that may be in use.
    pub(crate) limit: u64,
    /// Queues that are not wanted any more stay until they are empty.
    pub(crate) queues: Vec<Queue>,
    /// The indices of the queues in which requests wait.
    pub(crate) waiting_queues: BTreeSet<usize>,
    pub(crate) requests: RequestTable<D>,
    pub(crate) progress: Progress,
    synced: Instant,
    active_queues: usize,
    /// The queue of the last dispatch.
    robin: usize,
    enqueued: u32,
    pub(crate) waiting: usize,
    pub(crate) executing: usize,
    pub(crate) seats_in_use: u64,
    /// Those of requests of one seat.
    narrow_in_use: u64,
    seats_waiting: u64,
    pub(crate) counts: Counts,
    demand: Integrator,
    pub(crate) histograms: Histograms,
}

/// The distributions over time of a level.
#[derive(Clone, Debug)]
pub(crate) struct Histograms {
    pub(crate) seats: TimedHistogram,
    pub(crate) waiting: TimedHistogram,
    pub(crate) executing: TimedHistogram,
    pub(crate) demand: TimedHistogram,
}

/// A request that executes or waits.
#[derive(Debug)]
pub(crate) struct Admission {
    pub(crate) key: RequestKey,
    /// The seats that it occupies when it executes.
    pub(crate) width: u32,
    /// Gives it its seats; `None` if it executes at once.
    pub(crate) grant: Option<Arc<Grant>>,
    /// Other requests that were given seats.
    pub(crate) granted: Granted,
}

/// The requests that were given seats and whose callers have to be woken, once the level is unlocked.
pub(crate) type Granted = Vec<Arc<Grant>>;

impl<D> QueueSet<D> {
    pub(crate) fn new(now: Instant) -> Self {
        let histogram = |bounds| TimedHistogram::new(bounds, now);
        Self {
            discipline: Discipline::Reject,
            dealer: None,
            limit: 0,
            queues: Vec::new(),
            waiting_queues: BTreeSet::new(),
            requests: RequestTable::new(),
            progress: Progress::default(),
            synced: now,
            active_queues: 0,
            robin: 0,
            enqueued: 0,
            waiting: 0,
            executing: 0,
            seats_in_use: 0,
            narrow_in_use: 0,
            seats_waiting: 0,
            counts: Counts::default(),
            demand: Integrator::new(now),
            histograms: Histograms {
                seats: histogram(SEAT_UTILIZATION),
                waiting: histogram(REQUEST_UTILIZATION),
                executing: histogram(REQUEST_UTILIZATION),
                demand: histogram(DEMAND),
            },
        }
    }

    /// Changes the discipline and the limit. More seats are used at once; fewer as requests finish.
    pub(crate) fn configure(&mut self, now: Instant, discipline: Discipline, limit: u64, nominal: u64) -> Granted {
        self.sync(now);
        self.discipline = discipline.bounded();
        let capacity = match self.discipline {
            Discipline::Queue {
                queues,
                hand_size,
                queue_length,
            } => {
                self.dealer = Some(Dealer::new(queues, hand_size));
                let wanted = queues as usize;
                if self.queues.len() < wanted {
                    self.queues.resize_with(wanted, Queue::default);
                }
                u64::from(queue_length) * u64::from(queues)
            }
            Discipline::Exempt | Discipline::Reject => {
                self.dealer = None;
                1
            }
        };
        self.remove_unwanted_queues();
        self.histograms.waiting.set_denominator(now, capacity);
        self.histograms.demand.set_denominator(now, nominal);
        self.set_limit(now, limit)
    }

    pub(crate) fn set_limit(&mut self, now: Instant, limit: u64) -> Granted {
        self.sync(now);
        self.limit = limit;
        self.histograms.seats.set_denominator(now, limit);
        self.histograms.executing.set_denominator(now, limit);
        self.dispatch_all(now)
    }

    /// Begins a request: it executes, waits, or is rejected. Others may be given seats, too.
    pub(crate) fn start(
        &mut self,
        now: Instant,
        estimate: WorkEstimate,
        hash: u64,
        description: D,
    ) -> Result<Admission, Rejection> {
        self.sync(now);
        let estimate = match self.discipline {
            Discipline::Exempt => estimate,
            _ => estimate.with_final_seats_up_to(u32::try_from(self.limit).unwrap_or(u32::MAX)),
        };
        let mut request = Request {
            description,
            estimate,
            queue: None,
            arrived: now,
            arrived_at: self.progress.current,
            started: None,
            grant: None,
        };
        let Some(dealer) = self.dealer else {
            if !self.fits(&estimate) {
                self.counts.rejected += 1;
                return Err(Rejection::ConcurrencyLimit);
            }
            let key = self.requests.insert(request);
            return Ok(self.begin_at_once(now, key, &estimate));
        };
        let index = self.choose_queue(dealer, hash);
        let length = match self.discipline {
            Discipline::Queue { queue_length, .. } => queue_length as usize,
            _ => 0,
        };
        // While a wide request waits for a few more seats, its queue may be longer, but not without bound.
        let bound = if self.seats_in_use >= self.limit {
            length
        } else {
            2 * length
        };
        if self.queues[index].waiting.len() >= bound {
            self.counts.rejected += 1;
            return Err(Rejection::QueueFull);
        }
        request.queue = Some(index);
        let runs_at_once = self.waiting == 0 && self.seats_in_use < self.limit && self.fits(&estimate);
        let grant = (!runs_at_once).then(Arc::<Grant>::default);
        request.grant.clone_from(&grant);
        let key = self.requests.insert(request);
        self.activate(index);
        if runs_at_once {
            self.robin = index;
            return Ok(self.begin_at_once(now, key, &estimate));
        }
        let queue = &mut self.queues[index];
        queue.waiting.push_back(key);
        queue.waiting_sums.add(&estimate);
        self.waiting_queues.insert(index);
        self.waiting += 1;
        self.seats_waiting += u64::from(estimate.max_seats());
        let granted = self.dispatch_all(now);
        Ok(Admission {
            key,
            width: estimate.max_seats(),
            grant,
            granted,
        })
    }

    fn begin_at_once(&mut self, now: Instant, key: RequestKey, estimate: &WorkEstimate) -> Admission {
        self.begin_execution(now, key);
        self.observe(now);
        Admission {
            key,
            width: estimate.max_seats(),
            grant: None,
            granted: Granted::new(),
        }
    }

    /// The number of waiting requests in the queue of `key`.
    pub(crate) fn queue_length(&self, key: RequestKey) -> usize {
        let queue = self.requests.get(key).and_then(|request| request.queue);
        queue.map_or(0, |queue| self.queues[queue].waiting.len())
    }

    /// Removes a waiting request, whose caller gave up. False if it executes already.
    pub(crate) fn leave(&mut self, now: Instant, key: RequestKey) -> (bool, Granted) {
        self.sync(now);
        let waits = self.requests.get(key).filter(|request| request.started.is_none());
        let Some(index) = waits.and_then(|request| request.queue) else {
            return (false, Granted::new());
        };
        let queue = &mut self.queues[index];
        if let Some(place) = queue.waiting.iter().position(|waiting| *waiting == key) {
            queue.waiting.remove(place);
        }
        if queue.waiting.is_empty() {
            self.waiting_queues.remove(&index);
        }
        if let Some(request) = self.requests.remove(key) {
            queue.waiting_sums.remove(&request.estimate);
            self.seats_waiting -= u64::from(request.estimate.max_seats());
            self.waiting -= 1;
            self.counts.rejected += 1;
        }
        if !self.queues[index].is_active() {
            self.active_queues -= 1;
        }
        self.bound_next_start(index);
        self.remove_unwanted_queues();
        // The request may have been too wide for the free seats, which others can use.
        (true, self.dispatch_all(now))
    }

    /// Ends the execution of a request. It keeps its seats until `release` if they are for work after its answer.
    pub(crate) fn finish(&mut self, now: Instant, key: RequestKey) -> Option<(Request<D>, Granted)> {
        self.sync(now);
        let request = self.requests.remove(key)?;
        self.executing -= 1;
        if let (Some(index), Some(started)) = (request.queue, request.started) {
            let queue = &mut self.queues[index];
            queue.executing -= 1;
            let seats = u64::from(request.estimate.initial_seats);
            queue.next_start -= SeatSeconds::of(seats, ESTIMATED_SERVICE_TIME);
            queue.next_start += SeatSeconds::of(seats, now.saturating_duration_since(started));
            if !queue.is_active() {
                self.active_queues -= 1;
            }
            self.bound_next_start(index);
        }
        let granted = if request.estimate.additional_latency.is_zero() {
            self.release(now, request.queue, request.estimate.max_seats())
        } else {
            self.dispatch_all(now)
        };
        Some((request, granted))
    }

    /// Frees seats.
    pub(crate) fn release(&mut self, now: Instant, queue: Option<usize>, seats: u32) -> Granted {
        self.sync(now);
        self.seats_in_use -= u64::from(seats);
        self.narrow_in_use -= u64::from(seats == 1);
        if let Some(index) = queue {
            self.queues[index].seats_in_use -= u64::from(seats);
            self.remove_unwanted_queues();
        }
        self.dispatch_all(now)
    }

    /// True if no request waits or executes.
    pub(crate) fn is_idle(&self) -> bool {
        self.waiting == 0 && self.executing == 0
    }

    /// The demand since the last call.
    pub(crate) fn take_demand(&mut self, now: Instant) -> DemandSummary {
        self.demand.take(now)
    }

    /// Advances the progress to `now`.
    pub(crate) fn sync(&mut self, now: Instant) {
        // Callers take their times before they lock the level, so that these may come in another order.
        let passed = now.saturating_duration_since(self.synced);
        if passed.is_zero() {
            return;
        }
        self.synced = now;
        if self.active_queues > 0 {
            let seats = (self.seats_in_use + self.seats_waiting).min(self.limit);
            self.progress.current += SeatSeconds::of(seats, passed).divided_by(self.active_queues);
        }
    }

    /// The queue of the hand with the least waiting work. If several have none, they take turns.
    fn choose_queue(&mut self, dealer: Dealer, hash: u64) -> usize {
        let first = self.enqueued % dealer.hand();
        self.enqueued = self.enqueued.wrapping_add(1);
        if self.waiting == 0 {
            return dealer.card(first, hash) as usize;
        }
        let mut best = (SeatSeconds::MAX, u32::MAX, 0);
        let mut turn = 0;
        dealer.deal(hash, |card| {
            let index = card as usize;
            let work = self.queues[index].waiting_sums.work;
            let distance = (turn + dealer.hand() - first) % dealer.hand();
            if (work, distance) < (best.0, best.1) {
                best = (work, distance, index);
            }
            turn += 1;
        });
        best.2
    }

    /// Counts a queue that gets a request as active.
    fn activate(&mut self, index: usize) {
        let queue = &mut self.queues[index];
        if !queue.is_active() {
            queue.next_start = self.progress.current;
            self.active_queues += 1;
        }
    }

    /// True if a request of `estimate` may execute now. A request that is wider than the level executes alone.
    fn fits(&self, estimate: &WorkEstimate) -> bool {
        let seats = u64::from(estimate.max_seats());
        let left_free = match self.spares_reserve(seats) && seats > 1 {
            true => self.reserved().saturating_sub(self.narrow_in_use),
            false => 0,
        };
        match self.discipline {
            Discipline::Exempt => true,
            _ if seats > self.limit => self.executing == 0,
            Discipline::Reject => self.seats_in_use + seats <= self.limit,
            Discipline::Queue { .. } => self.seats_in_use + seats + left_free <= self.limit,
        }
    }

    /// Seats that only narrow requests use, as long as others have enough without them.
    fn reserved(&self) -> u64 {
        self.limit / NARROW_SHARE
    }

    /// True if a request of `seats` has enough of them beside the reserve.
    fn spares_reserve(&self, seats: u64) -> bool {
        seats + self.reserved() <= self.limit
    }

    fn begin_execution(&mut self, now: Instant, key: RequestKey) {
        let Some(request) = self.requests.get_mut(key) else {
            return;
        };
        request.started = Some(now);
        let estimate = request.estimate;
        let seats = u64::from(estimate.max_seats());
        self.executing += 1;
        self.counts.dispatched += 1;
        self.seats_in_use += seats;
        self.narrow_in_use += u64::from(seats == 1);
        self.progress.dispatched = self.progress.current;
        if let Some(index) = request.queue {
            let queue = &mut self.queues[index];
            queue.executing += 1;
            queue.seats_in_use += seats;
            self.progress.latest_start = queue.next_start;
            queue.next_start += estimate.total();
            self.bound_next_start(index);
        }
    }

    fn dispatch_all(&mut self, now: Instant) -> Granted {
        let mut granted = Granted::new();
        while self.waiting > 0 && self.seats_in_use < self.limit {
            let Some(grant) = self.dispatch(now) else { break };
            granted.extend(grant);
        }
        self.observe(now);
        granted
    }

    /// Dispatches the request that finishes first. If it does not fit, it waits for seats, and no other overtakes it but narrow
    /// ones in the seats that it leaves to them.
    fn dispatch(&mut self, now: Instant) -> Option<Option<Arc<Grant>>> {
        let (first, first_narrow) = self.next_queues()?;
        let (_, next) = self.oldest(first)?;
        let index = if self.fits(&next.estimate) {
            first
        } else {
            next.grant.iter().for_each(|grant| grant.count_not_accommodated());
            let spares_reserve = self.spares_reserve(next.estimate.max_seats().into());
            first_narrow.filter(|_| spares_reserve && self.narrow_in_use < self.reserved())?
        };
        let (key, request) = self.oldest(index)?;
        let (estimate, grant) = (request.estimate, request.grant.clone());
        let queue = &mut self.queues[index];
        queue.waiting.pop_front();
        queue.waiting_sums.remove(&estimate);
        if queue.waiting.is_empty() {
            self.waiting_queues.remove(&index);
        }
        self.waiting -= 1;
        self.seats_waiting -= u64::from(estimate.max_seats());
        self.robin = index;
        self.begin_execution(now, key);
        if let Some(grant) = &grant {
            grant.give();
        }
        Some(grant)
    }

    /// The oldest waiting request of a queue.
    fn oldest(&self, index: usize) -> Option<(RequestKey, &Request<D>)> {
        let key = *self.queues[index].waiting.front()?;
        Some((key, self.requests.get(key)?))
    }

    /// The queue whose oldest request finishes first, and the same among those whose oldest request is narrow. Queues with equal
    /// progress take turns.
    fn next_queues(&mut self) -> Option<(usize, Option<usize>)> {
        let mut best = (SeatSeconds::MAX, None);
        let mut narrow = best;
        let (mut starts, mut discounted) = (None, None);
        let (before, after) = (..=self.robin, self.robin + 1..);
        for index in self
            .waiting_queues
            .range(after)
            .chain(self.waiting_queues.range(before))
            .copied()
        {
            let Some((_, request)) = self.oldest(index) else {
                continue;
            };
            let queue = &self.queues[index];
            let start = queue.next_start;
            let in_progress = SeatSeconds::of(queue.seats_in_use, ESTIMATED_SERVICE_TIME);
            extend(&mut starts, start);
            extend(&mut discounted, start - in_progress);
            let finish = start + request.estimate.total();
            if finish < best.0 {
                best = (finish, Some(index));
            }
            if request.estimate.max_seats() == 1 && finish < narrow.0 {
                narrow = (finish, Some(index));
            }
        }
        self.progress.next_starts = starts.unwrap_or_default();
        self.progress.discounted_starts = discounted.unwrap_or_default();
        Some((best.1?, narrow.1))
    }

    /// A queue does not save up what it did not use before its oldest request arrived.
    fn bound_next_start(&mut self, index: usize) {
        let queue = &mut self.queues[index];
        if let Some(oldest) = queue.waiting.front().and_then(|key| self.requests.get(*key)) {
            queue.next_start = queue.next_start.max(oldest.arrived_at);
        }
    }

    /// Removes empty queues that are not wanted any more, from the end.
    fn remove_unwanted_queues(&mut self) {
        let wanted = self.dealer.map_or(0, |dealer| dealer.deck() as usize);
        while self.queues.len() > wanted && self.queues.last().is_some_and(Queue::is_unused) {
            self.queues.pop();
        }
    }

    fn observe(&mut self, now: Instant) {
        let demand = self.seats_in_use + self.seats_waiting;
        self.demand.set(now, demand);
        self.histograms.demand.set(now, demand);
        self.histograms.seats.set(now, self.seats_in_use);
        self.histograms.waiting.set(now, self.waiting as u64);
        self.histograms.executing.set(now, self.executing as u64);
    }
}

fn extend(range: &mut Option<(SeatSeconds, SeatSeconds)>, value: SeatSeconds) {
    let (least, most) = range.unwrap_or((value, value));
    *range = Some((least.min(value), most.max(value)));
}

//! The seats that requests need.

use std::time::Duration;

use planesmith_flow_control::WorkEstimate;
use planesmith_server::flow_control::{ListedWork, RequestedWork};

/// Bytes of a list for each seat.
const BYTES_PER_SEAT: usize = 100_000;
/// Bytes that a list from the cache counts at most.
const MOST_BYTES: usize = 1_000_000;
/// Objects of a list for each seat, if sizes do not count.
const OBJECTS_PER_SEAT: usize = 100;
/// Most seats of a list by its bytes.
const MOST_BY_BYTES: u32 = 100;
/// Most seats of other requests.
const MAX_SEATS: u32 = 10;
/// Watches for each seat of a write, which need it after the answer.
const WATCHES_PER_SEAT: usize = 10;
/// Time that the watches need.
const EVENT_TIME: Duration = Duration::from_millis(5);

/// Estimates the work of a request in a level whose requests have at most `widest` seats. Lists are estimated by their bytes, or by
/// the number of objects if not `by_bytes`.
pub(super) fn estimate(work: &RequestedWork, widest: u32, by_bytes: bool) -> WorkEstimate {
    match *work {
        RequestedWork::Small => WorkEstimate::ONE,
        RequestedWork::List(list) => {
            let (seats, most) = match by_bytes {
                true => (bytes(&list).div_ceil(BYTES_PER_SEAT), MOST_BY_BYTES),
                false => (list.objects.div_ceil(OBJECTS_PER_SEAT), MAX_SEATS),
            };
            WorkEstimate::of_seats(bounded(seats, widest.min(most)))
        }
        RequestedWork::Write { watches } if watches < WATCHES_PER_SEAT => WorkEstimate::ONE,
        RequestedWork::Write { watches } => {
            let seats = watches.div_ceil(WATCHES_PER_SEAT);
            let wanted = WorkEstimate {
                initial_seats: 1,
                final_seats: u32::try_from(seats).unwrap_or(u32::MAX),
                additional_latency: EVENT_TIME,
            };
            wanted.with_final_seats_up_to(widest.min(MAX_SEATS))
        }
    }
}

/// The size of a list: that of its objects, if they are as large as others.
fn bytes(list: &ListedWork) -> usize {
    let wanted = match list.is_of_one {
        true => 1,
        false => list.limit.map_or(list.objects, |limit| limit.min(list.objects)),
    };
    let average = list.bytes / list.objects.max(1);
    wanted.saturating_mul(average).min(MOST_BYTES)
}

fn bounded(seats: usize, most: u32) -> u32 {
    u32::try_from(seats).unwrap_or(u32::MAX).clamp(1, most.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(objects: usize, bytes: usize, limit: Option<usize>) -> RequestedWork {
        RequestedWork::List(ListedWork {
            objects,
            bytes,
            limit,
            is_of_one: false,
        })
    }

    #[track_caller]
    fn check(work: &RequestedWork, widest: u32, by_bytes: bool, seats: u32) {
        assert_eq!(estimate(work, widest, by_bytes).max_seats(), seats, "{work:?}");
    }

    #[test]
    fn lists_need_seats_for_their_bytes() {
        check(&RequestedWork::Small, 20, true, 1);
        check(&list(0, 0, None), 20, true, 1);
        check(&list(1000, 250_000, None), 20, true, 3);
        check(&list(1000, 250_000, Some(100)), 20, true, 1);
        check(&list(10, 250_000, Some(5000)), 20, true, 3);
        check(&list(1_000_000, 4_000_000_000, None), 20, true, 10);
        check(&list(1_000_000, 4_000_000_000, None), 8, true, 8);
        check(&list(1000, 250_000, None), 20, false, 10);
        check(&list(250, 250_000_000, None), 20, false, 3);
        let one = RequestedWork::List(ListedWork {
            objects: 1000,
            bytes: 250_000_000,
            limit: None,
            is_of_one: true,
        });
        check(&one, 20, true, 3);
    }

    #[test]
    fn writes_need_seats_for_those_who_watch() {
        let write = |watches, widest| estimate(&RequestedWork::Write { watches }, widest, true);
        assert_eq!(write(9, 20), WorkEstimate::ONE);
        let some = write(11, 20);
        assert_eq!(
            (some.initial_seats, some.final_seats, some.additional_latency),
            (1, 2, EVENT_TIME)
        );
        let many = write(1000, 20);
        assert_eq!(
            (many.final_seats, many.additional_latency),
            (10, Duration::from_millis(50))
        );
        assert_eq!(write(100, 5).additional_latency, Duration::from_millis(10));
    }
}

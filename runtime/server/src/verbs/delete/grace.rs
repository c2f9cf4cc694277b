//! Grace periods of deletions.

use planesmith_machinery::object::Object;
use planesmith_machinery::time::Time;

/// The start of an object's deletion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// At once: the kind has no grace period, or none of it is left.
    Now,
    /// The object was marked just now, and has this many seconds.
    Begun(i64),
    /// The object was marked before, and the request does not shorten its time.
    UnderWay,
}

/// Marks an object whose kind has a grace period, or shortens the rest of it. `requested` is the grace period of the
/// client's request, in seconds; a negative one means the shortest.
pub(super) fn begin(object: &mut dyn Object, requested: Option<i64>, now: Time) -> End {
    let requested = requested.map(|seconds| if seconds < 0 { 1 } else { seconds });
    let Some(seconds) = object.resource().extensions.hooks.grace_period(object, requested) else {
        return End::Now;
    };
    let meta = object.meta_mut();
    let (from, seconds) = match (meta.deletion_timestamp, meta.deletion_grace_period_seconds) {
        (None, _) => {
            if meta.generation > 0 {
                meta.generation += 1;
            }
            (now, seconds)
        }
        (Some(_), None | Some(0)) => return End::Now,
        (Some(until), Some(given)) => match requested {
            Some(seconds) if seconds < given => {
                let from = later(until, given.saturating_neg());
                match later(from, seconds) < now {
                    // That time has passed. Whoever ends the object still does so, unless the request leaves no time at all.
                    true => (later(now, -seconds.min(1)), seconds.min(1)),
                    false => (from, seconds),
                }
            }
            _ => return End::UnderWay,
        },
    };
    meta.deletion_timestamp = Some(later(from, seconds));
    meta.deletion_grace_period_seconds = Some(seconds);
    End::Begun(seconds)
}

/// Returns the grace period that plugins see in the options of a request: as in kube-apiserver, that of an object which the request
/// begins to delete, and at least the shortest one.
pub(super) fn admitted(object: &dyn Object, requested: Option<i64>) -> Option<i64> {
    let requested = requested.map(|seconds| if seconds < 0 { 1 } else { seconds });
    match object.meta().deletion_timestamp {
        None => object
            .resource()
            .extensions
            .hooks
            .grace_period(object, requested)
            .or(requested),
        Some(_) => requested,
    }
}

/// The time that many seconds later; the latest time if that is beyond it.
fn later(time: Time, seconds: i64) -> Time {
    /// The end of the year 9999, less one day so that it is in that year in every time zone.
    const LATEST: i64 = 253_402_207_200;
    let now = time.as_second();
    Time::from_second(now.saturating_add(seconds).clamp(0, LATEST))
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::Resource;
    use planesmith_machinery::meta::ObjectMeta;
    use planesmith_machinery::strategy::StrategyExtensions;

    use super::*;

    /// A kind with a grace period.
    #[derive(Clone, Debug, Default, PartialEq, Resource)]
    #[resource(group = "test.example.com", version = "v1", kind = "Slow", strategy_extensions)]
    struct Slow {
        /// Metadata.
        metadata: ObjectMeta,
        /// Its grace period, in seconds.
        takes: i64,
    }

    impl StrategyExtensions for Slow {
        fn grace_period(&self, requested: Option<i64>) -> Option<i64> {
            Some(requested.unwrap_or(self.takes))
        }
    }

    #[test]
    fn time_can_be_shortened_but_not_lengthened() {
        let mut object = Slow {
            takes: 30,
            ..Slow::default()
        };
        object.metadata.generation = 1;
        let now = Time::from_second(1_000);
        let at = |object: &Slow| object.metadata.deletion_timestamp.map(|time| time.to_string());
        assert_eq!(begin(&mut object, None, now), End::Begun(30));
        assert_eq!(at(&object), Some(Time::from_second(1_030).to_string()));
        assert_eq!(object.metadata.generation, 2);
        let later = Time::from_second(1_005);
        assert_eq!(begin(&mut object, None, later), End::UnderWay);
        assert_eq!(begin(&mut object, Some(40), later), End::UnderWay);
        assert_eq!(begin(&mut object, Some(10), later), End::Begun(10));
        assert_eq!(at(&object), Some(Time::from_second(1_010).to_string()));
        assert_eq!(begin(&mut object, Some(-5), later), End::Begun(1));
        assert_eq!(begin(&mut object, Some(0), later), End::Begun(0));
        assert_eq!(begin(&mut object, None, later), End::Now);
        assert_eq!(object.metadata.generation, 2);
    }

    #[test]
    fn a_shortened_time_does_not_end_in_the_past() {
        let now = Time::from_second(1_020);
        for (requested, seconds) in [(15, 1), (1, 1), (0, 0)] {
            let mut object = Slow {
                takes: 30,
                ..Slow::default()
            };
            begin(&mut object, None, Time::from_second(1_000));
            assert_eq!(begin(&mut object, Some(requested), now), End::Begun(seconds));
            assert_eq!(object.metadata.deletion_timestamp, Some(now));
            assert_eq!(object.metadata.deletion_grace_period_seconds, Some(seconds));
        }
    }

    #[test]
    fn plugins_see_the_grace_period_of_the_object() {
        let mut object = Slow {
            takes: 30,
            ..Slow::default()
        };
        assert_eq!(admitted(&object, None), Some(30));
        assert_eq!(admitted(&object, Some(5)), Some(5));
        assert_eq!(admitted(&object, Some(-5)), Some(1));
        begin(&mut object, None, Time::from_second(1_000));
        assert_eq!(admitted(&object, None), None);
        assert_eq!(admitted(&object, Some(0)), Some(0));
    }

    #[test]
    fn endless_grace_ends_with_the_calendar() {
        let mut object = Slow::default();
        assert_eq!(
            begin(&mut object, Some(i64::MAX), Time::from_second(0)),
            End::Begun(i64::MAX)
        );
        let until = object.metadata.deletion_timestamp.map(|time| time.to_string());
        assert_eq!(until.as_deref(), Some("9999-12-30T22:00:00Z"));
    }
}

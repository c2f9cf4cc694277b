//! The number of files and sockets that the process may have open.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// The fewest descriptors that client connections leave for everything else.
const MIN_RESERVE: usize = 128;

/// The most that are left for it; the store, proxied streams and webhook calls need no more.
const MAX_RESERVE: usize = 4096;

/// The limit of open files.
#[derive(Clone, Copy, Debug)]
pub struct Descriptors {
    /// `None` without a limit.
    limit: Option<u64>,
}

impl Descriptors {
    /// Raises the soft limit of this process to the hard one, as Go programs do when they start, and returns the
    /// resulting limit.
    #[must_use]
    pub fn of_process() -> Self {
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        let raised = Rlimit {
            current: maximum,
            maximum,
        };
        if current == maximum {
            return Self { limit: current };
        }
        match setrlimit(Resource::Nofile, raised) {
            Ok(()) => Self { limit: maximum },
            Err(error) => {
                tracing::warn!(%error, ?current, ?maximum, "the limit of open files cannot be raised");
                Self { limit: current }
            }
        }
    }

    /// Returns the limit of this process as it is.
    #[must_use]
    pub fn current() -> Self {
        let limit = getrlimit(Resource::Nofile).current;
        Self { limit }
    }

    /// Returns the number of client connections that may be open: `wanted`, unless that leaves too few descriptors
    /// for the journal, for files that are followed and for connections to other servers.
    pub(crate) fn connections(self, wanted: usize) -> usize {
        let Some(limit) = self.limit else { return wanted };
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let reserve = (limit / 4).clamp(MIN_RESERVE, MAX_RESERVE).min(limit / 2);
        wanted.min(limit - reserve).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_soft_limit_becomes_the_hard_one() {
        let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
        let low = Rlimit {
            current: Some(maximum.unwrap_or(4096).min(256)),
            maximum,
        };
        setrlimit(Resource::Nofile, low).unwrap();
        assert_eq!(Descriptors::of_process().limit, maximum);
        assert_eq!(getrlimit(Resource::Nofile).current, maximum);
    }

    #[test]
    fn connections_leave_descriptors_for_the_rest() {
        for (limit, expected) in [
            (Some(1024), 768),
            (Some(200), 100),
            (Some(1), 1),
            (Some(1 << 20), 16_384),
            (None, 16_384),
        ] {
            assert_eq!(Descriptors { limit }.connections(16_384), expected, "{limit:?}");
        }
    }
}

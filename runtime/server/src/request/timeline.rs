//! Durations of a request's stages.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Maximum number of recorded steps; further ones are added to the last step of their stage.
const MAX_STEPS: usize = 16;

/// A stage of handling a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Authenticating the user.
    Authentication,
    /// Authorizing the request.
    Authorization,
    /// Waiting for seats of flow control.
    FlowControl,
    /// Waiting for the body.
    Read,
    /// Decoding the body into an object.
    Decode,
    /// Waiting until a revision that the client has seen is visible.
    Freshness,
    /// Finding objects in the cache.
    Select,
    /// Applying a patch.
    Patch,
    /// Running admission plugins.
    Admission,
    /// Validating the object.
    Validation,
    /// Waiting in the queue of the store.
    Queue,
    /// Waiting for the disk.
    Sync,
    /// Encoding the answer.
    Encode,
    /// Sending the answer.
    Send,
}

impl Stage {
    /// The name in logs and traces.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Authorization => "authorization",
            Self::FlowControl => "flow-control",
            Self::Read => "read",
            Self::Decode => "decode",
            Self::Freshness => "freshness",
            Self::Select => "select",
            Self::Patch => "patch",
            Self::Admission => "admission",
            Self::Validation => "validation",
            Self::Queue => "queue",
            Self::Sync => "sync",
            Self::Encode => "encode",
            Self::Send => "send",
        }
    }
}

/// One step of a request.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The stage.
    pub stage: Stage,
    /// Time from the request's arrival to the start of the step.
    pub begin: Duration,
    /// Duration of the step.
    pub took: Duration,
}

/// The steps of a request so far, in the order in which they ended. Clones share one list.
#[derive(Clone)]
pub struct Timeline {
    received: Instant,
    // Locked only to add a step or to copy them; after a panic it is still a valid list of steps.
    steps: Arc<Mutex<Steps>>,
}

/// Steps in one allocation: every request has them.
#[derive(Default)]
struct Steps {
    stored: [Option<Stored>; MAX_STEPS],
    count: usize,
}

/// A step, in microseconds.
#[derive(Clone, Copy)]
struct Stored {
    stage: Stage,
    begin: u32,
    took: u32,
}

impl Timeline {
    /// The timeline of a request that arrived at `received`.
    #[must_use]
    pub fn new(received: Instant) -> Self {
        Self {
            received,
            steps: Arc::default(),
        }
    }

    /// Runs `work` and records it as `stage`.
    pub fn time<T>(&self, stage: Stage, work: impl FnOnce() -> T) -> T {
        let begin = Instant::now();
        let done = work();
        self.add(stage, begin, begin.elapsed());
        done
    }

    /// Awaits `work` and records it as `stage`.
    pub async fn wait<F: Future>(&self, stage: Stage, work: F) -> F::Output {
        let begin = Instant::now();
        let done = work.await;
        self.add(stage, begin, begin.elapsed());
        done
    }

    /// Adds a finished step.
    pub fn add(&self, stage: Stage, begin: Instant, took: Duration) {
        let micros = |time: Duration| u32::try_from(time.as_micros()).unwrap_or(u32::MAX);
        let step = Stored {
            stage,
            begin: micros(begin.saturating_duration_since(self.received)),
            took: micros(took),
        };
        let mut steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let count = steps.count;
        if let Some(next) = steps.stored.get_mut(count) {
            *next = Some(step);
            steps.count += 1;
            return;
        }
        let mut stored = steps.stored.iter_mut().rev().flatten();
        if let Some(last) = stored.find(|last| last.stage == stage) {
            last.took = last.took.saturating_add(step.took);
        }
    }

    /// The steps so far.
    #[must_use]
    pub fn steps(&self) -> Vec<Step> {
        let steps = self.steps.lock().unwrap_or_else(PoisonError::into_inner);
        let step = |stored: &Stored| Step {
            stage: stored.stage,
            begin: Duration::from_micros(stored.begin.into()),
            took: Duration::from_micros(stored.took.into()),
        };
        steps.stored.iter().flatten().map(step).collect()
    }
}

impl fmt::Debug for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// `read 1ms, decode 20ms`: stages of less than a millisecond are left out, repeated ones are added up.
impl fmt::Display for Timeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut sums: Vec<(Stage, Duration)> = Vec::new();
        for step in self.steps() {
            match sums.iter_mut().find(|(stage, _)| *stage == step.stage) {
                Some((_, sum)) => *sum += step.took,
                None => sums.push((step.stage, step.took)),
            }
        }
        let shown = sums.iter().filter(|(_, sum)| sum.as_millis() > 0);
        for (index, (stage, sum)) in shown.enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            write!(f, "{comma}{} {}ms", stage.as_str(), sum.as_millis())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_steps_are_named_in_order() {
        let received = Instant::now();
        let timeline = Timeline::new(received);
        let millis = Duration::from_millis;
        timeline.add(Stage::Read, received + millis(1), millis(2));
        timeline.add(Stage::Decode, received + millis(3), Duration::from_micros(900));
        for _ in 0..2 * MAX_STEPS {
            timeline.add(Stage::Admission, received + millis(4), millis(10));
        }
        assert_eq!(timeline.to_string(), "read 2ms, admission 320ms");
        assert_eq!(timeline.steps().len(), MAX_STEPS);
        assert_eq!(timeline.steps()[0].begin, millis(1));
    }
}

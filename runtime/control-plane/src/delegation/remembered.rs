//! A cache of answers with a time limit.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time for which an answer is cached; kube-apiserver's value for servers behind it.
pub(super) const HOLDS: Duration = Duration::from_secs(10);

/// The most cached answers. All are dropped when there are more.
const ROOM: usize = 4096;

/// The longest question whose answer is cached, in bytes; kube-apiserver's limit for requests that clients can make
/// long.
const LONGEST: usize = 10_000;

/// Answers by question.
#[derive(Debug)]
pub(super) struct Remembered<T> {
    answers: Mutex<HashMap<String, (Instant, T)>>,
}

impl<T: Clone> Remembered<T> {
    /// Creates an empty cache.
    pub(super) fn new() -> Self {
        Self {
            answers: Mutex::default(),
        }
    }

    /// Returns the cached answer, if it is still valid at `now`.
    pub(super) fn get(&self, question: &str, now: Instant) -> Option<T> {
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, answer) = answers.get(question)?;
        (now.saturating_duration_since(*since) < HOLDS).then(|| answer.clone())
    }

    /// Caches an answer that was given at `now`, unless the question is long.
    pub(super) fn put(&self, question: String, answer: T, now: Instant) {
        if question.len() > LONGEST {
            return;
        }
        let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        if answers.len() >= ROOM {
            answers.clear();
        }
        answers.insert(question, (now, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_holds_for_a_while() {
        let remembered = Remembered::new();
        let now = Instant::now();
        remembered.put("q".to_owned(), 1, now);
        assert_eq!(remembered.get("q", now + HOLDS / 2), Some(1));
        assert_eq!(remembered.get("q", now + HOLDS), None);
        assert_eq!(remembered.get("other", now), None);
    }

    #[test]
    fn nobody_fills_the_memory_with_long_questions() {
        let remembered = Remembered::new();
        let now = Instant::now();
        for length in [LONGEST, LONGEST + 1] {
            remembered.put("q".repeat(length), 1, now);
        }
        assert_eq!(remembered.get(&"q".repeat(LONGEST), now), Some(1));
        assert_eq!(remembered.get(&"q".repeat(LONGEST + 1), now), None);
    }
}

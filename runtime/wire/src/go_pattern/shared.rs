//! Patterns that are shared by all their users.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError, Weak};

use super::{Pattern, compile_unknown};

/// The patterns of definitions that are in use, by their texts: definitions repeat a few patterns hundreds of times, e.g. that of
/// quantities. An entry lasts as long as its pattern.
static IN_USE: LazyLock<Mutex<HashMap<Arc<str>, Weak<InUse>>>> = LazyLock::new(Mutex::default);

/// A pattern that is shared by all its users in the process, and freed with the last of them.
#[derive(Clone, Debug)]
pub struct SharedPattern(Arc<InUse>);

#[derive(Debug)]
struct InUse {
    text: Arc<str>,
    pattern: Pattern,
}

impl SharedPattern {
    fn in_use(text: &str) -> Option<Self> {
        lock(&IN_USE).get(text).and_then(Weak::upgrade).map(Self)
    }
}

impl Deref for SharedPattern {
    type Target = Pattern;

    fn deref(&self) -> &Pattern {
        &self.0.pattern
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut in_use = lock(&IN_USE);
        // Meanwhile another user may have compiled the same text again.
        if in_use
            .get(&self.text)
            .is_some_and(|pattern| pattern.strong_count() == 0)
        {
            in_use.remove(&self.text);
        }
    }
}

/// Returns the regular expression that Go would read from `pattern`; for patterns of definitions, whose users share it.
///
/// # Errors
///
/// When it is none, or needs too much memory; with what is wrong.
pub fn compile(pattern: &str) -> Result<SharedPattern, String> {
    if let Some(shared) = SharedPattern::in_use(pattern) {
        return Ok(shared);
    }
    let text = Arc::from(pattern);
    let compiled = SharedPattern(Arc::new(InUse {
        text: Arc::clone(&text),
        pattern: compile_unknown(pattern)?,
    }));
    // Another thread may have compiled it meanwhile; the next users share the later one.
    lock(&IN_USE).insert(text, Arc::downgrade(&compiled.0));
    Ok(compiled)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn users_of_a_pattern_share_it_and_the_last_one_frees_it() {
        const TEXT: &str = "^shared by (one|other)$";
        let is_known = || lock(&IN_USE).contains_key(TEXT);
        let one = compile(TEXT).unwrap();
        let other = compile(TEXT).unwrap();
        assert!(Arc::ptr_eq(&one.0, &other.0));
        drop(one);
        assert!(is_known() && other.regex.is_match("shared by other"));
        drop(other);
        assert!(!is_known());
    }

    #[test]
    fn a_pattern_that_was_compiled_twice_stays_known_until_the_later_one_is_freed() {
        const TEXT: &str = "^compiled (by|again)$";
        let earlier = compile(TEXT).unwrap();
        lock(&IN_USE).remove(TEXT);
        let later = compile(TEXT).unwrap();
        assert!(!Arc::ptr_eq(&earlier.0, &later.0));
        drop(earlier);
        assert!(Arc::ptr_eq(&compile(TEXT).unwrap().0, &later.0));
        drop(later);
        assert!(SharedPattern::in_use(TEXT).is_none());
    }
}

//! State that the parts of a component share in one server.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Values that components share between their authorizers, their plugins and the rest, at most one of each type. Components
/// themselves are constants of the program, and have no state.
#[derive(Default)]
pub struct ComponentState {
    /// Locked only while a server is put together.
    values: Mutex<HashMap<TypeId, Arc<dyn Any + Send + Sync>>>,
}

impl ComponentState {
    /// Returns the value of type `T`, which `make` creates for the first caller.
    pub fn get_or_create<T: Send + Sync + 'static>(&self, make: impl FnOnce() -> T) -> Arc<T> {
        let mut values = self.values.lock().unwrap_or_else(PoisonError::into_inner);
        let known = values.get(&TypeId::of::<T>()).cloned();
        match known.and_then(|value| value.downcast().ok()) {
            Some(value) => value,
            None => {
                let value = Arc::new(make());
                let shared: Arc<dyn Any + Send + Sync> = Arc::<T>::clone(&value);
                values.insert(TypeId::of::<T>(), shared);
                value
            }
        }
    }
}

impl fmt::Debug for ComponentState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ComponentState").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_parts_get_the_value_of_the_first() {
        let state = ComponentState::default();
        assert_eq!(*state.get_or_create(|| 1_u32), 1);
        assert_eq!(*state.get_or_create(|| 2_u32), 1);
        assert_eq!(*state.get_or_create(|| 2_u64), 2);
    }
}

//! Parts that the facts of several versions share.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use planesmith_dynamic::custom::Checks;
use planesmith_dynamic::structural::{SharedSchemas, Structural};
use serde_json::Value;

/// Equal parts of schemas, and the checks of each schema, whose compiled rules all versions with the schema share.
#[derive(Default)]
pub(super) struct SharedParts {
    schemas: SharedSchemas,
    /// By the address of the schema, which stays allocated for as long as a weak reference to it is here.
    checks: HashMap<usize, (Weak<Structural>, Weak<dyn Checks>)>,
    /// The number of definitions that were forgotten since unused parts were freed.
    forgotten: usize,
}

impl SharedParts {
    pub(super) fn schema(&mut self, schema: &Value) -> Arc<Structural> {
        Structural::compile_shared(schema, &mut self.schemas)
    }

    /// Returns the checks of objects with a schema; `make` makes new ones.
    pub(super) fn checks(&mut self, schema: &Arc<Structural>, make: fn() -> Arc<dyn Checks>) -> Arc<dyn Checks> {
        let place = Arc::as_ptr(schema).addr();
        let known = self.checks.get(&place).and_then(|(_, checks)| checks.upgrade());
        known.unwrap_or_else(|| {
            let made = make();
            self.checks
                .insert(place, (Arc::downgrade(schema), Arc::downgrade(&made)));
            made
        })
    }

    /// Notes that a definition was forgotten and `left` are known. Frees unused parts when as many were forgotten as are left,
    /// so that this costs the same for each definition however many there are.
    pub(super) fn note_forgotten(&mut self, left: usize) {
        self.forgotten += 1;
        if self.forgotten >= left {
            self.forgotten = 0;
            self.checks.retain(|_, (_, checks)| checks.strong_count() > 0);
            self.checks.shrink_to_fit();
            self.schemas.free_unused();
        }
    }
}

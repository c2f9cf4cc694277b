//! The scenarios that every backend passes.

use planesmith_store::log::Log;

use crate::eager;

planesmith_store::suite!({
    let folder = tempfile::tempdir().unwrap();
    move || Box::new(eager(&folder.path().join("store"))) as Box<dyn Log>
});

//! The scenarios that every backend passes.

use planesmith_store::log::Log;
use planesmith_store_sled::SledLog;

planesmith_store::suite!({
    let folder = tempfile::tempdir().unwrap();
    move || Box::new(SledLog::open(folder.path().join("store")).unwrap().settling_at(0)) as Box<dyn Log>
});

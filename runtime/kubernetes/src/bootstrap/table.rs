//! The tables of objects that the server creates, from the files beside this one.

use planesmith_machinery::yaml;
use serde_json::Value;

pub(super) fn levels() -> Value {
    read(include_str!("flow_control/levels.yaml"))
}

pub(super) fn schemas() -> Value {
    read(include_str!("flow_control/schemas.yaml"))
}

/// Reads a table, which is part of the program: tests ensure that it is valid.
fn read(table: &str) -> Value {
    let document = yaml::to_json(table.as_bytes()).ok();
    document
        .and_then(|document| serde_json::from_slice(&document.json).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_can_be_read() {
        for table in [levels(), schemas()] {
            assert!(table.as_object().is_some_and(|table| !table.is_empty()));
        }
    }
}

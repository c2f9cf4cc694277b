//! Table columns of StorageVersions.

use planesmith_machinery::table::Cell;

use super::StorageVersion;

/// Maximum number of servers that a cell lists.
const MAX_SERVERS: usize = 3;

pub(super) fn common_version(resource: &StorageVersion) -> Cell {
    let common = resource.status.common_encoding_version.as_deref();
    Cell::Text(common.unwrap_or("<unset>").to_owned())
}

pub(super) fn versions(resource: &StorageVersion) -> Cell {
    let servers = &resource.status.storage_versions;
    let listed: Vec<String> = servers
        .iter()
        .take(MAX_SERVERS)
        .map(|server| format!("{}={}", server.api_server_id, server.encoding_version))
        .collect();
    let listed = listed.join(",");
    Cell::Text(match servers.len().checked_sub(MAX_SERVERS) {
        Some(more) if more > 0 => format!("{listed} + {more} more..."),
        _ => listed,
    })
}

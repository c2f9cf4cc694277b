//! Table columns of endpoint slices.

use planesmith_machinery::table::Cell;

use super::EndpointSlice;

/// Maximum number of items that a cell lists. The rest is counted.
const MAX_ITEMS: usize = 3;

pub(super) fn ports(slice: &EndpointSlice) -> Cell {
    let ports = slice.ports.iter().map(|port| match (port.port, &port.name) {
        (Some(number), _) => number.to_string(),
        (None, Some(name)) => name.clone(),
        (None, None) => "*".to_owned(),
    });
    first_few(&ports.collect::<Vec<_>>())
}

pub(super) fn addresses(slice: &EndpointSlice) -> Cell {
    let addresses = slice
        .endpoints
        .iter()
        .flat_map(|endpoint| endpoint.addresses.iter().cloned());
    first_few(&addresses.collect::<Vec<_>>())
}

fn first_few(all: &[String]) -> Cell {
    let mut text = all[..all.len().min(MAX_ITEMS)].join(",");
    if all.len() > MAX_ITEMS {
        text.push_str(&format!(" + {} more...", all.len() - MAX_ITEMS));
    }
    Cell::Text(if text.is_empty() { "<unset>".to_owned() } else { text })
}

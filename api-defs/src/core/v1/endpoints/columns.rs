//! Table columns of endpoints.

use planesmith_machinery::table::Cell;

use super::Endpoints;

/// Maximum number of endpoints that a cell lists. The rest is counted.
const MAX_ENDPOINTS: usize = 3;

pub(super) fn endpoints(endpoints: &Endpoints) -> Cell {
    if endpoints.subsets.is_empty() {
        return Cell::Text("<none>".to_owned());
    }
    let (mut shown, mut count, mut more) = (Vec::new(), 0, false);
    for subset in &endpoints.subsets {
        // A headless service may have no ports.
        let ports: Vec<Option<i32>> = match subset.ports.as_slice() {
            [] => vec![None],
            ports => ports.iter().map(|port| Some(port.port)).collect(),
        };
        for port in ports {
            count += subset.addresses.len();
            let room = MAX_ENDPOINTS - shown.len();
            more |= subset.addresses.len() > room;
            shown.extend(subset.addresses.iter().take(room).map(|address| match port {
                None => address.ip.clone(),
                Some(port) if address.ip.contains(':') => format!("[{}]:{port}", address.ip),
                Some(port) => format!("{}:{port}", address.ip),
            }));
        }
    }
    let mut text = shown.join(",");
    if more {
        text.push_str(&format!(" + {} more...", count - MAX_ENDPOINTS));
    }
    Cell::Text(text)
}

//! Table columns of pod certificate requests.

use planesmith_machinery::table::Cell;

use super::PodCertificateRequest;
use crate::selector_text::labels_text;

/// Renders the type of the last final condition, whatever its status.
pub(super) fn state(request: &PodCertificateRequest) -> Cell {
    let ends = ["Issued", "Denied", "Failed"];
    let mut conditions = request.status.conditions.iter();
    let found = conditions.rfind(|condition| ends.contains(&condition.r#type.as_str()));
    Cell::Text(found.map_or_else(|| "Pending".to_owned(), |condition| condition.r#type.clone()))
}

pub(super) fn user_annotations(request: &PodCertificateRequest) -> Cell {
    Cell::Text(labels_text(&request.spec.unverified_user_annotations))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_pending_until_a_condition_says_how_it_ended() {
        let mut request: PodCertificateRequest = serde_json::from_value(json!({
            "spec": {},
            "status": {"conditions": [{"type": "Denied", "status": "True"}]},
        }))
        .unwrap();
        assert_eq!(state(&request), Cell::Text("Denied".to_owned()));
        assert_eq!(user_annotations(&request), Cell::Text("<none>".to_owned()));
        request.status.conditions.clear();
        assert_eq!(state(&request), Cell::Text("Pending".to_owned()));
    }
}

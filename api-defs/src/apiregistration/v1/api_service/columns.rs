//! Table columns of APIServices.

use planesmith_machinery::table::Cell;

use super::APIService;

pub(super) fn service(api_service: &APIService) -> Cell {
    Cell::Text(match &api_service.spec.service {
        Some(service) => format!("{}/{}", service.namespace, service.name),
        None => "Local".to_owned(),
    })
}

pub(super) fn available(api_service: &APIService) -> Cell {
    let conditions = &api_service.status.conditions;
    let available = conditions.iter().find(|condition| condition.type_ == "Available");
    Cell::Text(match available {
        Some(condition) if condition.status != "True" => format!("{} ({})", condition.status, condition.reason),
        Some(condition) => condition.status.clone(),
        None => "Unknown".to_owned(),
    })
}

//! Chooses the container of a pod that a request is about.

use planesmith_api_defs::core::v1::Pod;
use planesmith_machinery::status::{ApiError, ApiResult};

/// Returns the name of the container: the one that is named, or the only one.
///
/// # Errors
///
/// 400 if it does not exist, or if there are several.
pub(super) fn choose<'p>(pod: &'p Pod, wanted: &'p str) -> ApiResult<&'p str> {
    let (name, spec) = (&pod.metadata.name, &pod.spec);
    let init = spec.init_containers.iter().map(|container| container.name.as_str());
    let main = spec.containers.iter().map(|container| container.name.as_str());
    let ephemeral = spec
        .ephemeral_containers
        .iter()
        .map(|container| container.ephemeral_container_common.name.as_str());
    let mut all = init.chain(main).chain(ephemeral);
    if !wanted.is_empty() {
        return match all.any(|container| container == wanted) {
            true => Ok(wanted),
            false => Err(ApiError::bad_request(format!(
                "container {wanted} is not valid for pod {name}"
            ))),
        };
    }
    match spec.containers.as_slice() {
        [only] => Ok(&only.name),
        [] => Err(ApiError::bad_request(format!(
            "a container name must be specified for pod {name}"
        ))),
        _ => {
            let all: Vec<&str> = all.collect();
            Err(ApiError::bad_request(format!(
                "a container name must be specified for pod {name}, choose one of: [{}]",
                all.join(" ")
            )))
        }
    }
}

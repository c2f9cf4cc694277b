//! Objects as the rows of a table.

use std::sync::Arc;

use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::resource::ResourceFacts;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_store::Entry;

use crate::endpoint::{Forms, Subject};
use crate::request::Query;

/// What each row shows of its object beside the cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Include {
    /// The metadata.
    #[default]
    Metadata,
    /// All of it.
    Object,
    /// Nothing.
    Nothing,
}

impl Include {
    /// Reads `includeObject`.
    ///
    /// # Errors
    ///
    /// 400 when it is none of the known words.
    pub(crate) fn read(query: Query<'_>) -> ApiResult<Self> {
        match &*query.first("includeObject").unwrap_or_default() {
            "" | "Metadata" => Ok(Include::Metadata),
            "Object" => Ok(Include::Object),
            "None" => Ok(Include::Nothing),
            other => {
                let quoted = planesmith_machinery::go_format::quote(other);
                Err(ApiError::bad_request(format!(
                    "Unable to convert to Table as requested: includeObject: Invalid value: {quoted}: must be \
                     'Metadata', 'Object', 'None', or empty"
                )))
            }
        }
    }
}

pub(crate) fn of_one(_: &'static ResourceFacts, _: Subject<'_>, _: &Forms, _: Include) -> ApiResult<Vec<u8>> {
    Err(ApiError::internal("tables"))
}

pub(crate) fn of_list(
    _: &'static ResourceFacts,
    _: &ListMeta,
    _: &[Arc<Entry>],
    _: &Forms,
    _: Include,
) -> ApiResult<Vec<u8>> {
    Err(ApiError::internal("tables"))
}

pub(crate) fn of_event(
    _: &'static ResourceFacts,
    _: Subject<'_>,
    _: &Forms,
    _: Include,
    _: bool,
) -> ApiResult<Vec<u8>> {
    Err(ApiError::internal("tables"))
}

//! The parsed request: its target, user, deadline and warnings.

mod context;
mod duration;
mod info;
mod query;
mod recorded;
mod routed_path;
mod timeline;
mod verb;
mod warnings;

pub(crate) use context::features_of;
#[cfg(test)]
pub(crate) use context::user;
pub use context::{Context, RequestId};
pub use duration::{InvalidDuration, parse_duration};
pub use info::RequestInfo;
pub(crate) use info::decode;
pub use query::{Query, encode_query};
pub(crate) use routed_path::routed;
pub use timeline::{Stage, Step, Timeline};
pub use verb::Verb;
pub use warnings::Warnings;

#[cfg(test)]
mod tests;

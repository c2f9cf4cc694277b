//! What is asked, by whom, and until when.

mod context;
mod info;
mod verb;
mod warnings;

pub use context::{Context, RequestId};
pub use info::RequestInfo;
pub use verb::Verb;
pub use warnings::Warnings;

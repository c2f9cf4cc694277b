//! The reason of a permission.

use std::fmt::{self, Write as _};
use std::sync::Arc;

/// The reason for which an action is allowed, for audit events and reviews. It is rendered only where it is read: most requests
/// are allowed, and no client reads the reason.
#[derive(Clone, Default)]
pub struct Reason {
    prefix: &'static str,
    text: Option<Arc<dyn fmt::Display + Send + Sync>>,
}

impl Reason {
    /// No reason.
    pub const NONE: Self = Self { prefix: "", text: None };

    /// The reason that consists of `prefix` and `text`.
    #[must_use]
    pub fn new(prefix: &'static str, text: Arc<dyn fmt::Display + Send + Sync>) -> Self {
        let text = Some(text);
        Self { prefix, text }
    }

    /// Renders the reason. Usual ones fit into the memory that is reserved for them.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        if self.text.is_some() {
            text.reserve(160);
        }
        // Texts take everything.
        let _ = write!(text, "{self}");
        text
    }
}

/// Empty if there is no reason.
impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.prefix)?;
        self.text.as_ref().map_or(Ok(()), |text| text.fmt(f))
    }
}

impl fmt::Debug for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Reason").field(&self.to_string()).finish()
    }
}

impl PartialEq for Reason {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}

impl Eq for Reason {}

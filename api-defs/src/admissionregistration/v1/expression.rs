//! Text of expressions.

/// True if `text` has more than one line.
pub(super) fn has_line_breaks(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

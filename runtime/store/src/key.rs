//! The key of an object, together with a row of it.

use std::fmt;
use std::sync::Arc;

use crate::row::{RowRef, push_number, split_number};

/// A key and a row in one allocation, which takes less memory than two. States of a key share it while their row is the same; other
/// holders use its key alone.
///
/// The text is the length of the key, the key, and the text of the row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct KeyedRow(Arc<str>);

impl KeyedRow {
    pub(crate) fn new(key: &str, row: RowRef<'_>) -> Self {
        let mut text = String::with_capacity(key.len() + row.text().len() + 4);
        push_number(&mut text, key.len());
        text.push_str(key);
        text.push_str(row.text());
        Self(text.into())
    }

    pub(crate) fn key(&self) -> &str {
        let (key, _) = self.parts();
        key
    }

    pub(crate) fn row(&self) -> RowRef<'_> {
        let (_, row) = self.parts();
        RowRef::of(row)
    }

    fn parts(&self) -> (&str, &str) {
        let parts = split_number(&self.0).and_then(|(length, rest)| rest.split_at_checked(length));
        parts.expect("the text begins with the length of the key")
    }

    /// Bytes of the text.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}

impl fmt::Debug for KeyedRow {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("KeyedRow")
            .field(&self.key())
            .field(&self.row())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::KeyedRow;
    use crate::Row;

    #[test]
    fn keys_and_rows_of_any_length_are_read_back() {
        let rows = [Row::default(), Row::new([("app", "shop")], ["Running", ""])];
        for key in ["", "/a", "/ключ", &"/k".repeat(100), &"/k".repeat(32_767)] {
            for row in &rows {
                let both = KeyedRow::new(key, row.view());
                assert_eq!((both.key(), both.row()), (key, row.view()));
            }
        }
    }
}

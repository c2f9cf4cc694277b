//! The part of an object that selectors read.

use bytes::Bytes;

use crate::Draft;

/// The labels and the declared selectable fields of one object.
///
/// Lists and watches with a selector read rows instead of decoding objects. All texts of a row
/// share one allocation, which begins with the number of labels. Each text is preceded by its length, labels come first
/// (sorted by key, key before value), then the fields in their declared order. An [`Entry`](crate::Entry) has a copy of it behind
/// its key.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Row {
    text: Box<str>,
}

/// A [`Row`] to be read.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct RowRef<'a> {
    text: &'a str,
}

/// Bits of a number in each of its characters. The next bit is set if another character follows.
const BITS: usize = 6;
const MORE: usize = 1 << BITS;

/// Lengths of texts are below this limit.
const LENGTH_LIMIT: usize = 1 << 28;

impl Row {
    /// Returns a row of these labels and these fields, the latter in the order that the kind declares.
    ///
    /// Of labels with the same key the last one counts. Texts of 256 MiB and more, which no store
    /// accepts, are read back as empty.
    #[must_use]
    pub fn new<'a>(
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
        fields: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let mut labels: Vec<_> = labels.into_iter().collect();
        // Stable, so that of equal keys the last one stays last.
        labels.sort_by_key(|(key, _)| *key);
        // Of equal keys the last one is retained.
        labels.reverse();
        labels.dedup_by_key(|(key, _)| *key);
        let mut text = String::new();
        push_number(&mut text, labels.len());
        for (key, value) in labels.iter().rev() {
            push(&mut text, key);
            push(&mut text, value);
        }
        for field in fields {
            push(&mut text, field);
        }
        match text.len() {
            // Neither labels nor fields.
            1 => Self::default(),
            _ => Self { text: text.into() },
        }
    }

    /// The labels and fields, to be read.
    #[must_use]
    pub fn view(&self) -> RowRef<'_> {
        RowRef { text: &self.text }
    }
}

impl<'a> RowRef<'a> {
    /// The row whose [`Self::text`] is `text`.
    pub(crate) fn of(text: &'a str) -> Self {
        Self { text }
    }

    /// All texts with their lengths.
    pub(crate) fn text(self) -> &'a str {
        self.text
    }

    /// A copy of the row.
    #[must_use]
    pub fn to_row(self) -> Row {
        Row { text: self.text.into() }
    }

    /// The number of labels, and the texts.
    fn texts(self) -> (usize, Texts<'a>) {
        let (labels, rest) = split_number(self.text).unwrap_or_default();
        (labels, Texts { rest })
    }

    /// The labels, sorted by key.
    pub fn labels(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        let (labels, mut texts) = self.texts();
        (0..labels).map_while(move |_| Some((texts.next()?, texts.next()?)))
    }

    /// The value of the label `key`.
    #[must_use]
    pub fn label(self, key: &str) -> Option<&'a str> {
        self.labels()
            .find(|(candidate, _)| *candidate == key)
            .map(|(_, value)| value)
    }

    /// The declared fields, in their declared order.
    pub fn fields(self) -> impl Iterator<Item = &'a str> {
        let (labels, texts) = self.texts();
        texts.skip(2 * labels)
    }

    /// The field at `position` of the declared order.
    #[must_use]
    pub fn field(self, position: usize) -> Option<&'a str> {
        self.fields().nth(position)
    }
}

impl std::fmt::Debug for Row {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.view().fmt(formatter)
    }
}

impl std::fmt::Debug for RowRef<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Row")
            .field("labels", &self.labels().collect::<Vec<_>>())
            .field("fields", &self.fields().collect::<Vec<_>>())
            .finish()
    }
}

/// Computes the rows of entries that are loaded when the store opens; a write has its own row.
pub trait Indexer: Send + Sync {
    /// The row of the object that `bytes` encode.
    ///
    /// Bytes that it cannot read get an empty row: a store must open whatever its content.
    fn row(&self, key: &str, bytes: &[u8]) -> Row;

    /// The relation of loaded `bytes` to their kind's current definition. Called once for each state that the backend
    /// loads; `row` then gets the bytes of the result.
    fn loaded(&self, _bytes: &[u8]) -> Loaded {
        Loaded::AsStored
    }

    /// The same for bytes that a program with this [`Self::fingerprint`] has written. Default: the result of [`Self::loaded`].
    fn loaded_again(&self, bytes: &[u8]) -> Loaded {
        self.loaded(bytes)
    }

    /// Identifies all that decides about the bytes of the kind's writes: the program, and its settings. Default: `None`, which
    /// means that it is not known.
    fn fingerprint(&self) -> Option<u64> {
        None
    }

    /// The object that a backend in which others write has `stored` under `key`, in the canonical encoding. Default: the
    /// result of [`Indexer::loaded`].
    fn decode(&self, key: &str, stored: &Bytes) -> Decoded {
        let _ = key;
        let as_stored = || Draft::gapless(stored.to_vec());
        let (draft, form) = match self.loaded(stored) {
            Loaded::AsStored => (as_stored(), StoredForm::Current),
            Loaded::Encoded(draft) => (draft, StoredForm::Current),
            Loaded::Converted(draft) => (draft, StoredForm::OtherVersion),
            Loaded::Unreadable => (as_stored(), StoredForm::Unreadable),
        };
        Decoded {
            draft,
            form,
            adapted_from: None,
        }
    }

    /// The bytes that a backend in which others write stores for `draft`; [`Indexer::decode`] returns the same draft for
    /// them. Default: the canonical encoding without its revision.
    fn encode(&self, key: &str, draft: &Draft) -> Bytes {
        let _ = key;
        Bytes::copy_from_slice(draft.bytes())
    }

    /// The object that the stored `bytes` encode, in its kind's current definition; `None` if a kind never changes.
    fn reindexed(&self, _bytes: &[u8]) -> Option<Draft> {
        None
    }

    /// True if the `reindexed` bytes encode the same object as the `stored` ones, of which they were made: then these are not kept
    /// beside them. Called only where something was changed. Default: equality.
    fn is_same(&self, stored: &[u8], reindexed: &[u8]) -> bool {
        stored == reindexed
    }
}

/// An object of a backend in which others write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decoded {
    /// The canonical encoding.
    pub draft: Draft,
    /// [`StoredForm::Current`] if the stored bytes are those that [`Indexer::encode`] returns for the object.
    pub form: StoredForm,
    /// The stored object in the canonical encoding, if the definition of the kind makes another object of it.
    pub adapted_from: Option<Draft>,
}

/// The bytes of the backend, compared with those of the entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StoredForm {
    /// The same bytes.
    #[default]
    Current,
    /// The same object in the encoding of an earlier program, or encrypted with an earlier key, or before its kind's definition
    /// removed fields and set defaults. The next write replaces it, even one that changes nothing.
    Earlier,
    /// The object in another version of its kind, until a write replaces it.
    OtherVersion,
    /// The same bytes, which do not encode an object of the kind, or cannot be decrypted. Readers get an error.
    Unreadable,
}

impl StoredForm {
    /// The form of bytes that a write would store in another way, if they are stale.
    pub(crate) fn if_stale(self, is_stale: bool) -> Self {
        match self {
            Self::Current if is_stale => Self::Earlier,
            other => other,
        }
    }

    /// The form with this discriminant.
    pub(crate) fn of_code(code: u8) -> Self {
        let all = [Self::Current, Self::Earlier, Self::OtherVersion, Self::Unreadable];
        all.into_iter().find(|form| *form as u8 == code).unwrap_or_default()
    }
}

/// The relation of loaded bytes to their kind's current definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loaded {
    /// The bytes are those that the kind stores.
    AsStored,
    /// An object of the storage version: the bytes that the kind now stores for it, which may be the loaded ones.
    Encoded(Draft),
    /// An object of another version, and the bytes that the kind now stores for it.
    Converted(Draft),
    /// The bytes do not encode an object of the kind.
    Unreadable,
}

/// Gives every entry an empty row.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoIndex;

impl Indexer for NoIndex {
    fn row(&self, _key: &str, _bytes: &[u8]) -> Row {
        Row::default()
    }
}

fn push(text: &mut String, piece: &str) {
    let piece = if piece.len() < LENGTH_LIMIT { piece } else { "" };
    push_number(text, piece.len());
    text.push_str(piece);
}

/// Appends `number`, for [`split_number`].
pub(crate) fn push_number(text: &mut String, mut number: usize) {
    while number >= MORE {
        text.push(char::from(((number % MORE) | MORE) as u8));
        number >>= BITS;
    }
    text.push(char::from(number as u8));
}

/// The number at the beginning of `text`, and the rest.
pub(crate) fn split_number(text: &str) -> Option<(usize, &str)> {
    let mut number = 0;
    for (place, byte) in text.bytes().enumerate() {
        let byte = usize::from(byte);
        number |= (byte % MORE) << (BITS * place);
        if byte < MORE {
            return Some((number, text.get(place + 1..)?));
        }
    }
    None
}

struct Texts<'a> {
    rest: &'a str,
}

impl<'a> Iterator for Texts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let (length, rest) = split_number(self.rest)?;
        let (piece, rest) = rest.split_at_checked(length)?;
        self.rest = rest;
        Some(piece)
    }
}

#[cfg(test)]
mod tests {
    use super::Row;

    #[test]
    fn labels_are_sorted_and_fields_keep_their_order() {
        let row = Row::new([("tier", "web"), ("app", "shop")], ["name", "", "phase"]);
        assert_eq!(
            row.view().labels().collect::<Vec<_>>(),
            [("app", "shop"), ("tier", "web")]
        );
        assert_eq!(row.view().label("tier"), Some("web"));
        assert_eq!(row.view().label("none"), None);
        assert_eq!(row.view().fields().collect::<Vec<_>>(), ["name", "", "phase"]);
        assert_eq!(row.view().field(2), Some("phase"));
        assert_eq!(row.view().field(3), None);
    }

    #[test]
    fn the_last_of_equal_labels_counts() {
        let row = Row::new([("a", "1"), ("a", "2")], ["x"]);
        assert_eq!(row.view().labels().collect::<Vec<_>>(), [("a", "2")]);
        assert_eq!(row.view().field(0), Some("x"));
    }

    #[test]
    fn long_and_multibyte_texts_are_read_back() {
        let long = "ü".repeat(20_000);
        for length in [63, 64, 65, 4095, 4096, 4097] {
            let text = "x".repeat(length);
            let row = Row::new([("a", text.as_str())], [text.as_str(), "end"]);
            assert_eq!(
                (row.view().label("a"), row.view().field(1)),
                (Some(text.as_str()), Some("end"))
            );
        }
        let row = Row::new([("ключ", long.as_str())], [long.as_str(), "end"]);
        assert_eq!(row.view().label("ключ"), Some(long.as_str()));
        assert_eq!(row.view().field(0), Some(long.as_str()));
        assert_eq!(row.view().field(1), Some("end"));
    }

    #[test]
    fn an_empty_row_has_nothing() {
        for row in [Row::default(), Row::new([], [])] {
            assert_eq!(row.view().labels().count() + row.view().fields().count(), 0);
            assert_eq!(row, Row::default());
        }
        let empty = Row::new([], [""]);
        assert_eq!((empty.view().labels().count(), empty.view().field(0)), (0, Some("")));
    }
}

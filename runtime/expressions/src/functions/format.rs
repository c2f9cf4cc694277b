//! String renderings of values.

use std::fmt::{self, Write};

use planesmith_machinery::go_format;

use crate::value::{Constructed, Effort, Fault, Library, Map, Value};

/// The maximum length of a value rendered in a message, in bytes.
const MAX_RENDERED: usize = 1 << 20;

/// Renders a value for messages, truncated to [`MAX_RENDERED`].
pub(crate) fn plain(value: &Value<'_>) -> String {
    let mut writer = LimitedWriter::within(MAX_RENDERED);
    // The output keeps the part that fits.
    let _ = writer.value(value);
    writer.out
}

/// Renders a whole value as a string; fails if it exceeds the remaining effort.
pub(super) fn whole(value: &Value<'_>, effort: &Effort) -> Result<String, Fault> {
    let mut writer = LimitedWriter::within(effort.left());
    match writer.value(value) {
        Ok(()) => Ok(writer.out),
        Err(fmt::Error) => Err(Fault::TooExpensive),
    }
}

/// A string writer with a length limit. Values share parts, so that a small value can have a huge rendering.
pub(super) struct LimitedWriter {
    pub(super) out: String,
    left: usize,
}

impl Write for LimitedWriter {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.left = self.left.checked_sub(text.len()).ok_or(fmt::Error)?;
        self.out.push_str(text);
        Ok(())
    }
}

impl LimitedWriter {
    pub(super) fn within(limit: usize) -> Self {
        Self {
            out: String::new(),
            left: limit,
        }
    }

    /// Returns the number of bytes that still fit.
    pub(super) fn left(&self) -> usize {
        self.left
    }

    pub(super) fn value(&mut self, value: &Value<'_>) -> fmt::Result {
        match value {
            Value::Null => self.write_str("null"),
            Value::Bool(value) => write!(self, "{value}"),
            Value::Int(value) => write!(self, "{value}"),
            Value::Uint(value) => write!(self, "{value}"),
            Value::Double(value) => self.write_str(&double(*value)),
            Value::String(text) => self.write_str(text),
            Value::Bytes(bytes) => self.write_str(&String::from_utf8_lossy(bytes)),
            Value::Duration(nanoseconds) => self.write_str(&seconds(*nanoseconds)),
            Value::Timestamp(time) => write!(self, "{time}"),
            Value::List(list) => {
                self.write_str("[")?;
                for (index, element) in list.iter().flatten().enumerate() {
                    self.write_str(if index > 0 { ", " } else { "" })?;
                    self.value(&element)?;
                }
                self.write_str("]")
            }
            Value::Map(map) => self.map(map),
            Value::Object(object) => self.object(object),
            Value::Type(ty) => self.write_str(&ty.value_name()),
            Value::Optional(Some(value)) => {
                self.write_str("optional(")?;
                self.value(value)?;
                self.write_str(")")
            }
            Value::Optional(None) => self.write_str("optional.none()"),
            Value::Unknown(json) => write!(self, "{json}"),
            Value::Library(library) => match library {
                Library::Url(url) => self.write_str(&url.text),
                Library::Ip(address) => write!(self, "{address}"),
                Library::Cidr(address, bits) => write!(self, "{address}/{bits}"),
                Library::Quantity(quantity) | Library::ComputedQuantity(quantity) => write!(self, "{quantity}"),
                Library::Semver(version) => write!(self, "{version}"),
                Library::Format(format) => self.write_str(format.name),
                Library::Authorizer(_) | Library::Check(..) | Library::Decision(_) => self.write_str(value.type_name()),
            },
        }
    }

    fn object(&mut self, object: &Constructed<'_>) -> fmt::Result {
        self.write_str(object.name)?;
        self.write_str("{")?;
        for (index, (name, value)) in object.fields.iter().enumerate() {
            self.write_str(if index > 0 { ", " } else { "" })?;
            self.write_str(name)?;
            self.write_str(": ")?;
            self.value(value)?;
        }
        self.write_str("}")
    }

    /// Entries are sorted by their rendering.
    fn map(&mut self, map: &Map<'_>) -> fmt::Result {
        let mut entries = Vec::new();
        for (key, value) in map.entries().unwrap_or_default() {
            let mut entry = LimitedWriter::within(self.left);
            entry.value(&key)?;
            entry.write_str(": ")?;
            entry.value(&value)?;
            self.left = entry.left;
            entries.push(entry.out);
        }
        entries.sort();
        let entries = entries.join(", ");
        self.left = self.left.saturating_add(entries.len());
        write!(self, "{{{entries}}}")
    }
}

/// Renders seconds with as many digits as needed, `1.5s`.
pub(crate) fn seconds(nanoseconds: i64) -> String {
    let sign = if nanoseconds < 0 { "-" } else { "" };
    let whole = nanoseconds.unsigned_abs();
    let text = format!("{sign}{}.{:09}", whole / 1_000_000_000, whole % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Renders a number like Go's `%g`.
pub(crate) fn double(value: f64) -> String {
    if value.is_nan() {
        return "NaN".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "+Inf" } else { "-Inf" }.to_owned();
    }
    go_format::float(value)
}

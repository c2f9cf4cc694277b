//! Events encoded as frames.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use planesmith_machinery::cbor;
use planesmith_machinery::json;
use planesmith_machinery::meta::{self, PartialObjectMetadata};
use planesmith_machinery::protobuf;
use planesmith_machinery::status::{ApiError, ApiResult};
use planesmith_machinery::table::RowObject;
use planesmith_store::{EncodingId, Entry, Event, EventKind, Revision};

use crate::encodings::{Encoding, Subject};
use crate::endpoint::{Endpoint, PARTIAL_KIND, envelope, partial_api_version};
use crate::negotiation::{Format, Output, Target};
use crate::offload::Cost;
use crate::response::in_beta;
use crate::table::{self, INITIAL_EVENTS_END};
use crate::verbs::selection::Selection;
use crate::websocket;

/// Maximum size of objects whose frames are cheap in every encoding, in bytes.
const SMALL: usize = 2 << 10;

/// Creates the frames of one watch. Frames that do not depend on the client are created once for all watches.
#[derive(Debug)]
pub(super) struct Frames {
    endpoint: Arc<Endpoint>,
    output: Output,
    row_object: RowObject,
    selection: Selection,
    /// True once the columns were sent, which happens once per watch of a table.
    columns_sent: AtomicBool,
    /// True if each frame is a WebSocket message.
    as_messages: bool,
}

/// The type of an event; the numbers distinguish cached frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Added = 0,
    Modified = 1,
    Deleted = 2,
    /// Deleted for this watch: the object does not match any more.
    Unselected = 3,
}

impl Kind {
    fn as_str(self) -> &'static str {
        match self {
            Kind::Added => "ADDED",
            Kind::Modified => "MODIFIED",
            Kind::Deleted | Kind::Unselected => "DELETED",
        }
    }
}

impl Frames {
    pub(super) fn new(endpoint: Arc<Endpoint>, output: Output, row_object: RowObject, selection: Selection) -> Self {
        Self {
            endpoint,
            output,
            row_object,
            selection,
            columns_sent: AtomicBool::new(false),
            as_messages: false,
        }
    }

    /// The same frames as WebSocket messages.
    pub(super) fn into_messages(self) -> Self {
        Self {
            as_messages: true,
            ..self
        }
    }

    pub(super) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    pub(super) fn selection(&self) -> &Selection {
        &self.selection
    }

    /// True if events can have objects: a single object cannot be rendered as the list that some clients request.
    pub(super) fn tells_objects(&self) -> bool {
        self.output.target != Target::PartialObjectList
    }

    /// Appends the frame of an object that exists when the watch begins, if its row and the object itself match.
    pub(super) fn push_selected(&self, entry: &Arc<Entry>, out: &mut Vec<u8>) -> ApiResult<()> {
        match self.selection.reads_objects() && !self.selects(entry)? {
            true => Ok(()),
            false => self.push_initial(entry, out),
        }
    }

    fn push_initial(&self, entry: &Arc<Entry>, out: &mut Vec<u8>) -> ApiResult<()> {
        if !self.as_messages {
            return self.push(Kind::Added.as_str(), Subject::Entry(entry), out);
        }
        let mut frame = Vec::new();
        self.push(Kind::Added.as_str(), Subject::Entry(entry), &mut frame)?;
        self.push_message(&frame, out);
        Ok(())
    }

    /// The expected cost of creating the frame of an object.
    pub(super) fn cost(&self, entry: &Entry) -> Cost {
        let size = entry.size();
        if size < SMALL {
            return Cost::default();
        }
        let selection = match self.selection.reads_objects() {
            true => Cost::of_json(size),
            false => Cost::default(),
        };
        self.endpoint.encodings().cost(entry, self.output) + selection
    }

    /// The expected cost of creating the frame of a change.
    pub(super) fn cost_of(&self, event: &Arc<Event>) -> Cost {
        let cost = self.cost(event.entry());
        let is_kept = || {
            let kind = self.kind_of(event).ok().flatten()?;
            event.cached_frame(self.frame_id(kind)?)
        };
        match cost >= Cost::INLINE && !self.selection.reads_objects() && is_kept().is_some() {
            true => Cost::default(),
            false => cost,
        }
    }

    /// The frame of a change; `None` when this watch does not report it.
    pub(super) fn event(&self, event: &Arc<Event>) -> ApiResult<Option<Bytes>> {
        let Some(kind) = self.kind_of(event)? else {
            return Ok(None);
        };
        let Some(id) = self.frame_id(kind) else {
            let mut out = Vec::new();
            self.push(kind.as_str(), subject(kind, event), &mut out)?;
            return Ok(Some(self.framed(out.into())));
        };
        let frame = event.frame(self.endpoint.encodings().cache(), id, |_| {
            let mut out = Vec::with_capacity(event.entry().size() + 64);
            self.push(kind.as_str(), subject(kind, event), &mut out)?;
            Ok(out.into())
        });
        frame.map(|frame| Some(self.framed(frame)))
    }

    /// The frame of a bookmark; `last_initial` marks the one after the initial events.
    pub(super) fn bookmark(&self, revision: Revision, last_initial: bool) -> ApiResult<Bytes> {
        let mut object = self.endpoint.kind().zero();
        let meta = object.meta_mut();
        meta.resource_version = revision.to_string();
        if last_initial {
            meta.annotations
                .insert(INITIAL_EVENTS_END.to_owned(), "true".to_owned());
        }
        object.resource().extensions.hooks.prepare_bookmark(&mut *object);
        let mut out = Vec::new();
        self.push("BOOKMARK", Subject::Object(&*object), &mut out)?;
        Ok(self.framed(out.into()))
    }

    /// The frame of an error.
    pub(super) fn error(&self, error: &ApiError) -> Bytes {
        let status = meta::Status::from(error.status());
        let mut out = Vec::new();
        match self.output.format {
            Format::Protobuf => {
                let mut object = Vec::new();
                protobuf::encode_enveloped(&status, &mut object);
                protobuf::encode_watch_event("ERROR", &object, &mut out);
            }
            format => text_frame(format, "ERROR", &[&json::to_vec(&status)], &mut out),
        }
        self.framed(out.into())
    }

    fn framed(&self, frame: Bytes) -> Bytes {
        if !self.as_messages {
            return frame;
        }
        let mut message = Vec::new();
        self.push_message(&frame, &mut message);
        message.into()
    }

    fn push_message(&self, frame: &[u8], out: &mut Vec<u8>) {
        let payload = match self.output.format {
            // A WebSocket message has its own length.
            Format::Protobuf => frame.get(4..).unwrap_or_default(),
            Format::Json | Format::Yaml | Format::Cbor => frame,
        };
        websocket::push_message(self.output.format == Format::Json, payload, out);
    }

    /// The type of the event for this watch; `None` when the watch does not report it.
    ///
    /// # Errors
    ///
    /// 500 when an object has to be read to decide, and cannot be.
    fn kind_of(&self, event: &Event) -> ApiResult<Option<Kind>> {
        if self.selection.is_everything() {
            return Ok(Some(match event.kind() {
                EventKind::Put { created: true } => Kind::Added,
                EventKind::Put { created: false } => Kind::Modified,
                EventKind::Delete => Kind::Deleted,
            }));
        }
        let before = match event.previous() {
            Some(previous) => self.selects(previous)?,
            None => false,
        };
        Ok(match event.kind() {
            EventKind::Delete => before.then_some(Kind::Deleted),
            EventKind::Put { .. } => match (before, self.selects(event.entry())?) {
                (false, false) => None,
                (false, true) => Some(Kind::Added),
                (true, true) => Some(Kind::Modified),
                (true, false) => Some(Kind::Unselected),
            },
        })
    }

    /// True if the watch selects `entry`.
    ///
    /// # Errors
    ///
    /// 500 when the object has to be read to decide, and cannot be.
    pub(super) fn selects(&self, entry: &Arc<Entry>) -> ApiResult<bool> {
        self.endpoint.selects(&self.selection, entry, entry)
    }

    /// The number under which frames of this output are cached; `None` for tables, which differ between clients, and
    /// for the old version, which few request.
    fn cache_number(&self) -> Option<u32> {
        if self.output.beta {
            return None;
        }
        let format = self.output.format as u32;
        match self.output.target {
            Target::Table => None,
            Target::Object => Some(2 * format),
            Target::PartialObject | Target::PartialObjectList => Some(2 * format + 1),
        }
    }

    fn frame_id(&self, kind: Kind) -> Option<EncodingId> {
        let offset = self.cache_number()?;
        Some(self.endpoint.encodings().id(Encoding::Frames, offset * 4 + kind as u32))
    }

    fn push(&self, kind: &str, subject: Subject<'_>, out: &mut Vec<u8>) -> ApiResult<()> {
        let encodings = self.endpoint.encodings();
        match (self.output.target, self.output.format) {
            (Target::Table, _) => {
                let columns = !self.columns_sent.swap(true, Ordering::Relaxed);
                let (facts, now) = (self.endpoint.kind(), self.endpoint.now());
                let mut table = table::of_one(facts, subject, encodings, self.row_object, now, columns)?;
                if self.output.beta {
                    table = in_beta(&table);
                }
                text_frame(self.output.format, kind, &[&table], out);
            }
            (Target::Object, Format::Protobuf) => {
                let facts = self.endpoint.kind();
                let object = envelope(&facts.api_version, &facts.kind, &subject.message(encodings)?);
                protobuf::encode_watch_event(kind, &object, out);
            }
            (Target::PartialObject | Target::PartialObjectList, Format::Protobuf) => {
                let object = envelope(
                    partial_api_version(self.output),
                    PARTIAL_KIND,
                    &subject.metadata_message(encodings)?,
                );
                protobuf::encode_watch_event(kind, &object, out);
            }
            (Target::Object, format) => text_frame(format, kind, &[&subject.json(encodings)?], out),
            (Target::PartialObject | Target::PartialObjectList, format) => {
                let open = match self.output.beta {
                    true => Cow::Owned(in_beta(PartialObjectMetadata::OPEN.as_bytes())),
                    false => Cow::Borrowed(PartialObjectMetadata::OPEN.as_bytes()),
                };
                let pieces = [&*open, &subject.metadata(encodings)?, b"}"];
                text_frame(format, kind, &pieces, out);
            }
        }
        Ok(())
    }
}

/// The object of an event: one that leaves the selection is rendered in the last state that matched.
fn subject(kind: Kind, event: &Arc<Event>) -> Subject<'_> {
    match (kind, event.previous()) {
        (Kind::Unselected, Some(previous)) => Subject::Former(previous, event.revision()),
        _ => Subject::Entry(event.entry()),
    }
}

/// A frame derived from JSON, in the client's encoding.
fn text_frame(format: Format, kind: &str, object: &[&[u8]], out: &mut Vec<u8>) {
    if format != Format::Cbor {
        json_frame(kind, object, out);
        return;
    }
    let mut frame = Vec::new();
    json_frame(kind, object, &mut frame);
    if cbor::from_json(&frame, out).is_err() {
        // The pieces are JSON.
        tracing::error!("a watch event could not be written as CBOR");
    }
}

fn json_frame(kind: &str, object: &[&[u8]], out: &mut Vec<u8>) {
    out.extend_from_slice(b"{\"type\":\"");
    out.extend_from_slice(kind.as_bytes());
    out.extend_from_slice(b"\",\"object\":");
    for piece in object {
        out.extend_from_slice(piece);
    }
    out.extend_from_slice(b"}\n");
}

//! Lists in the negotiated encoding.

use std::sync::Arc;

use axum::body::Body;
use axum::response::Response;
use http::StatusCode;
use planesmith_machinery::json;
use planesmith_machinery::meta::{ListMeta, PartialObjectMetadata};
use planesmith_machinery::status::{ApiError, ApiResult, Reason};
use planesmith_store::Entry;

use super::render::{PARTIAL_API_VERSION, partial_api_version};
use super::{Call, Endpoint};
use crate::compression;
use crate::encodings::Caching;
use crate::list_stream::{
    CHEAP_CHUNK, CHUNK, FirstSlice, ListStream, MessageList, SlicedBody, Slices, TextList, WriteItem, WriteMessage,
    begin,
};
use crate::negotiation::{Format, Output, Target};
use crate::offload::{Cost, Turns};
use crate::representation::list_head;
use crate::response;
use crate::sending::{RetainedMemory, Snapshot};
use crate::table;

const PARTIAL_LIST_KIND: &str = "PartialObjectMetadataList";

/// Maximum bytes of objects for which the encodings of a list are cached for the next one.
const MAX_CACHED: usize = 256 << 10;
/// Objects that are checked at once.
const CHECK_BATCH: usize = 64;

/// The objects of a list.
pub(crate) struct ListPage {
    pub(crate) meta: ListMeta,
    pub(crate) entries: Vec<Arc<Entry>>,
    /// Bytes that their collection had superseded before they were read.
    pub(crate) superseded: u64,
}

impl Endpoint {
    /// Answers with a list. A list within [`compression::THRESHOLD`] is encoded before the answer begins, a larger one
    /// while it is sent.
    pub(crate) async fn render_list(&self, call: &Call, output: Output, page: ListPage) -> ApiResult<Response> {
        let media_type = output.format.media_type();
        if output.target == Target::PartialObject {
            return Err(self.is_a_list());
        }
        let (meta, entries) = (&page.meta, page.entries);
        let is_text = output.format != Format::Protobuf || output.target == Target::Table;
        if entries.is_empty() && is_text {
            let body = response::encode_json(output, self.empty_list(call, output, meta)?);
            return Ok(response::bytes(StatusCode::OK, media_type, body));
        }
        let snapshot = |listed| Snapshot::new(self.store().collection(), page.superseded, listed);
        let count = entries.len();
        if self.is_sent_as_stored(output, &entries) {
            let body = self.stored_list(meta, entries);
            let bytes = body.left();
            let pinned = RetainedMemory::of_list(bytes, count, 0, snapshot(bytes));
            return Ok(pinning(
                response::stream(StatusCode::OK, media_type, Body::new(body)),
                pinned,
            ));
        }
        let turns = self.stores().offload().turns(&call.ctx.user);
        self.check_unusual(&entries, &turns).await?;
        let slices = self.slices(call, output, meta, entries)?;
        Ok(match begin(slices, compression::THRESHOLD, &turns).await? {
            FirstSlice::Whole(body) => response::bytes(StatusCode::OK, media_type, body),
            FirstSlice::Part(first, rest) => {
                let memory = rest.memory();
                let kept = first.len() + memory.shared;
                let pinned = RetainedMemory::of_list(kept, count, memory.own, snapshot(memory.shared));
                let body = Body::new(SlicedBody::new(first, rest, turns));
                pinning(response::stream(StatusCode::OK, media_type, body), pinned)
            }
        })
    }

    /// True if the items are parts of the stored bytes.
    fn is_sent_as_stored(&self, output: Output, entries: &[Arc<Entry>]) -> bool {
        let encodings = self.encodings();
        let is_plain = output.format == Format::Json && !output.pretty && !output.beta;
        let omitted = &*encodings.item_start().omitted;
        let is_as_stored = |entry: &Arc<Entry>| encodings.is_as_stored(entry) && entry.starts_with(omitted);
        is_plain && output.target == Target::Object && encodings.is_stored() && entries.iter().all(is_as_stored)
    }

    fn stored_list(&self, meta: &ListMeta, entries: Vec<Arc<Entry>>) -> ListStream {
        let (head, mut tail) = self.around_objects(meta);
        tail.push(b'\n');
        let start = self.encodings().item_start();
        ListStream::new(head, entries, start.omitted.len(), start.text, tail)
    }

    /// Reads the objects whose layout is not that of the storage version, such as those of a former storage version:
    /// one that cannot be read is an error before the answer begins. Other objects can be read, unless the store is
    /// damaged; then the answer breaks off.
    async fn check_unusual(&self, entries: &[Arc<Entry>], turns: &Turns) -> ApiResult<()> {
        let encodings = self.encodings();
        let unusual = encodings.unusual(entries);
        for some in unusual.chunks(CHECK_BATCH) {
            let cost = Cost::of_json(some.iter().map(|entry| entry.size()).sum());
            let check = || some.iter().try_for_each(|entry| encodings.object_of(entry).map(drop));
            turns.run(cost, check).await??;
        }
        Ok(())
    }

    /// The list, which is encoded slice by slice.
    fn slices(
        &self,
        call: &Call,
        output: Output,
        meta: &ListMeta,
        entries: Vec<Arc<Entry>>,
    ) -> ApiResult<Box<dyn Slices>> {
        let bytes: usize = entries.iter().map(|entry| entry.size()).sum();
        let caching = if bytes <= MAX_CACHED {
            Caching::Keep
        } else {
            Caching::Scan
        };
        Ok(match (output.target, output.format) {
            (Target::Table, _) => {
                let rows = table::Rows {
                    facts: self.kind().clone(),
                    encodings: Arc::clone(self.encodings()),
                    row_object: table::row_object(call.query())?,
                    now: self.now(),
                    caching,
                };
                Box::new(rows.of_list(output, meta, entries))
            }
            (_, Format::Protobuf) => Box::new(self.messages(output, meta, entries, caching)),
            (Target::PartialObjectList, _) => {
                let write = self.write_metadata(caching);
                let around = (list_head(PARTIAL_LIST_KIND, PARTIAL_API_VERSION, meta), b"]}".to_vec());
                Box::new(TextList::new(output, around, entries, write, None))
            }
            _ => {
                let write = self.write_object(caching);
                Box::new(TextList::new(output, self.around_objects(meta), entries, write, None))
            }
        })
    }

    fn write_object(&self, caching: Caching) -> WriteItem {
        let encodings = Arc::clone(self.encodings());
        Box::new(move |entry, out| {
            let json = encodings.json(entry, caching)?;
            let start = encodings.item_start();
            match json.strip_prefix(&*start.omitted) {
                Some(rest) => {
                    out.extend_from_slice(start.text.as_bytes());
                    out.extend_from_slice(rest);
                }
                // Another encoder wrote it, in another order.
                None => json::encode_item(&*encodings.object_of(entry)?, out),
            }
            Ok(())
        })
    }

    fn write_metadata(&self, caching: Caching) -> WriteItem {
        let encodings = Arc::clone(self.encodings());
        Box::new(move |entry, out| {
            let metadata = encodings.metadata(entry, caching)?;
            for part in [PartialObjectMetadata::OPEN.as_bytes(), &metadata, b"}"] {
                out.extend_from_slice(part);
            }
            Ok(())
        })
    }

    fn messages(&self, output: Output, meta: &ListMeta, entries: Vec<Arc<Entry>>, caching: Caching) -> MessageList {
        let encodings = Arc::clone(self.encodings());
        let is_partial = output.target == Target::PartialObjectList;
        let name = match is_partial {
            true => (partial_api_version(output).into(), PARTIAL_LIST_KIND.into()),
            false => (self.kind().api_version.clone(), self.kind().list_kind.clone()),
        };
        let is_transcoded = encodings.is_transcoded();
        let cost = match is_transcoded {
            true => Cost::of_transcoding(CHEAP_CHUNK),
            false => Cost::of_other_form(CHUNK),
        };
        let write: WriteMessage = match (is_partial, caching) {
            (true, _) => Box::new(move |entry, out| {
                out.extend_from_slice(&encodings.metadata_message(entry, caching)?);
                Ok(())
            }),
            (false, Caching::Scan) => Box::new(move |entry, out| encodings.scan_message(entry, out)),
            (false, Caching::Keep) => Box::new(move |entry, out| {
                out.extend_from_slice(&encodings.message(entry, caching)?);
                Ok(())
            }),
        };
        let list = MessageList::new(name, meta, entries, write, cost);
        // The lengths of other messages would be mixed up with these.
        match (is_partial, is_transcoded) {
            (false, true) => list.with_lengths(),
            _ => list,
        }
    }

    /// The compact JSON of a list without items.
    fn empty_list(&self, call: &Call, output: Output, meta: &ListMeta) -> ApiResult<Vec<u8>> {
        Ok(match output.target {
            Target::Table => {
                // It has no effect here, but an invalid one is refused.
                table::row_object(call.query())?;
                table::empty(self.kind(), meta)
            }
            Target::PartialObject | Target::PartialObjectList => {
                let mut list = list_head(PARTIAL_LIST_KIND, PARTIAL_API_VERSION, meta);
                // Like a list in Go that nothing was appended to.
                list.pop();
                list.extend_from_slice(b"null}");
                list
            }
            Target::Object => {
                let (head, tail) = self.around_objects(meta);
                [head, tail].concat()
            }
        })
    }

    /// The compact JSON before and behind the items of a list.
    fn around_objects(&self, meta: &ListMeta) -> (Vec<u8>, Vec<u8>) {
        self.representation().around_items(self.kind(), meta)
    }

    fn is_a_list(&self) -> ApiError {
        let kind = self.representation().list_type(self.kind());
        let why = "you requested PartialObjectMetadata, but the requested object is a list";
        ApiError::new(Reason::NotAcceptable, format!("{why} ({kind})"))
    }
}

/// The same answer, which keeps `pinned` until it is sent.
fn pinning(mut response: Response, pinned: RetainedMemory) -> Response {
    response.extensions_mut().insert(pinned);
    response
}

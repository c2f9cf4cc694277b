//! Lists: reads of many objects at one revision.

use std::cell::Cell;
use std::sync::Arc;

use axum::response::Response;
use planesmith_machinery::meta::ListMeta;
use planesmith_machinery::status::{ApiError, ApiResult, Expired};
use planesmith_store::{At, Compacted, Entry, ListQuery, Page, Revision};

use super::continue_token::{ContinueToken, PageState};
use super::selection::Selection;
use crate::encodings::Caching;
use crate::endpoint::{Call, Endpoint, ListPage};
use crate::negotiation::{Acceptable, Target};
use crate::offload::block_in_place;
use crate::options::{ListOptions, VersionMatch, parse_version_field};
use crate::request::Stage;

/// Number of objects that are read at once for a small page: a converter gets them in one request.
const FEWEST_READ: usize = 32;

/// The part and the state of the objects that a page lists.
struct Window {
    at: At,
    /// The first key of the page.
    start: Option<String>,
    limit: Option<usize>,
}

/// The number of objects that a list read.
#[derive(Clone, Copy, Debug)]
enum ReadObjects {
    FromCache(usize),
    /// States that only the store has.
    FromStore(usize),
}

impl Endpoint {
    /// Answers with a list.
    pub(crate) async fn list(&self, call: &Call) -> ApiResult<Response> {
        let output = self.negotiate(&call.parts, Acceptable::Collection)?;
        let options = ListOptions::for_list(call.query())?;
        let selection = Selection::new(&options, self.kind(), call.ctx.info.name())?;
        let mut page = self.page(call, &options, &selection).await?;
        // Metadata is the same in every version.
        if matches!(output.target, Target::Object | Target::Table) {
            page.entries = self.converted(page.entries).await?;
        }
        let encode = self.render_list(call, output, page);
        call.ctx.timeline.wait(Stage::Encode, encode).await
    }

    /// The page of objects that `options` request.
    pub(crate) async fn page(
        &self,
        call: &Call,
        options: &ListOptions<'_>,
        selection: &Selection,
    ) -> ApiResult<ListPage> {
        let base = self.store().prefix(call.namespace());
        let window = self.window(call, options, &base).await?;
        let superseded = self.store().collection().superseded_bytes();
        let (mut page, read) = call
            .ctx
            .timeline
            .time(Stage::Select, || self.look_up(call.namespace(), selection, &window))
            .map_err(|_| expired(window.start.as_deref(), &base))?;
        if selection.reads_objects() {
            let limit = window.limit.map_or(usize::MAX, |limit| limit.max(1));
            page.entries = self.selected(selection, page.entries, limit).await?;
            if page.entries.len() > limit {
                page.entries.truncate(limit);
                page.more = true;
            }
        }
        match read {
            ReadObjects::FromCache(read) => self.metrics().list(read, page.entries.len()),
            ReadObjects::FromStore(read) => self.metrics().list_of_store(read, page.entries.len()),
        }
        let next = page.next().map(|start| ContinueToken {
            state: PageState::At(page.revision),
            start: below(&start, &base),
        });
        let remaining = page.remaining.filter(|_| next.is_some() && selection.is_everything());
        let meta = ListMeta {
            resource_version: page.revision.to_string(),
            r#continue: next.map(|token| token.encode()).unwrap_or_default(),
            remaining_item_count: remaining.and_then(|count| i64::try_from(count).ok()),
            ..ListMeta::default()
        };
        Ok(ListPage {
            meta,
            entries: page.entries,
            superseded,
        })
    }

    /// The entries that match, or may match: the latter without a limit, because pages consist of the objects that
    /// match. Also the number of entries that were read.
    fn look_up(
        &self,
        namespace: &str,
        selection: &Selection,
        window: &Window,
    ) -> Result<(Page, ReadObjects), Compacted> {
        let store = &**self.store();
        let evaluated = Cell::new(0);
        let matches = |entry: &Entry| {
            evaluated.set(evaluated.get() + 1);
            self.may_select(selection, entry)
        };
        let filter: Option<&dyn Fn(&Entry) -> bool> = if selection.is_everything() {
            None
        } else {
            Some(&matches)
        };
        let prefix = selection.prefix(store, namespace);
        let query = ListQuery {
            prefix: &prefix,
            start: window.start.as_deref(),
            limit: window.limit.filter(|_| !selection.reads_objects()),
            at: window.at,
            filter,
        };
        let collection = store.collection();
        let reads_back = collection.reads_back(window.at);
        let page = match reads_back {
            true => block_in_place(|| collection.list(&query)),
            false => collection.list(&query),
        }?;
        let read = match selection.is_everything() {
            true => page.entries.len(),
            false => evaluated.get(),
        };
        let read = match reads_back {
            true => ReadObjects::FromStore(read),
            false => ReadObjects::FromCache(read),
        };
        Ok((page, read))
    }

    /// True if `entry` matches, or may match and has to be read.
    pub(crate) fn may_select(&self, selection: &Selection, entry: &Entry) -> bool {
        let store = &**self.store();
        match selection.reads_objects() && !self.encodings().is_as_stored(entry) {
            true => selection.may_match(store, entry),
            false => selection.matches(store, entry),
        }
    }

    /// The first matching entries of those that may match, and one more than `limit` if there are more. Objects after
    /// these are not read.
    async fn selected(
        &self,
        selection: &Selection,
        entries: Vec<Arc<Entry>>,
        limit: usize,
    ) -> ApiResult<Vec<Arc<Entry>>> {
        let wanted = limit.saturating_add(1);
        let at_once = wanted.max(FEWEST_READ);
        let mut selected = Vec::new();
        for batch in entries.chunks(at_once) {
            let converted = self.converted(batch.to_vec()).await?;
            for (entry, converted) in batch.iter().zip(converted) {
                if self.selects(selection, entry, &converted)? {
                    selected.push(Arc::clone(entry));
                    if selected.len() == wanted {
                        return Ok(selected);
                    }
                }
            }
        }
        Ok(selected)
    }

    /// True if `entry` matches; `shown` is the same entry or its converted object.
    ///
    /// # Errors
    ///
    /// 500 when the object has to be read and cannot be.
    pub(crate) fn selects(&self, selection: &Selection, entry: &Entry, shown: &Arc<Entry>) -> ApiResult<bool> {
        let store = &**self.store();
        if !selection.reads_objects() || self.encodings().is_as_stored(entry) {
            return Ok(selection.matches(store, entry));
        }
        Ok(selection.may_match(store, entry)
            && selection.matches_json(store, entry, &self.encodings().json(shown, Caching::Keep)?))
    }

    async fn window(&self, call: &Call, options: &ListOptions<'_>, base: &str) -> ApiResult<Window> {
        let limit = options.page_limit();
        let any = options.accepts_any_state();
        if !options.continue_token.is_empty() {
            let token = ContinueToken::decode(&options.continue_token)?;
            if !any && !options.resource_version.is_empty() {
                let why = "specifying resource version is not allowed when using continue";
                return Err(ApiError::bad_request(why));
            }
            let at = match token.state {
                PageState::At(revision) => {
                    self.wait_for(call, revision.0).await?;
                    At::Exact(revision)
                }
                PageState::Newest => {
                    self.fresh(call).await?;
                    At::Latest
                }
            };
            let start = Some(format!("{base}{}", token.start));
            return Ok(Window { at, start, limit });
        }
        let version = parse_version_field(&options.resource_version)
            .map_err(|why| ApiError::bad_request(format!("invalid resource version: {why}")))?;
        if version == 0 {
            if !any {
                self.fresh(call).await?;
            }
            return Ok(Window {
                at: At::Latest,
                start: None,
                limit,
            });
        }
        self.wait_for(call, version).await?;
        let at = match options.version_match {
            Some(VersionMatch::Exact) => At::Exact(Revision(version)),
            // Pages always were of exactly the requested revision.
            None if limit.is_some() => At::Exact(Revision(version)),
            Some(VersionMatch::NotOlderThan) | None => At::Latest,
        };
        Ok(Window { at, start: None, limit })
    }
}

/// 410 for a state that was compacted; a list that has begun may continue with the newest state.
fn expired(start: Option<&str>, base: &str) -> ApiError {
    let Some(start) = start else {
        return ApiError::expired(Expired::List);
    };
    let token = ContinueToken {
        state: PageState::Newest,
        start: below(start, base),
    };
    ApiError::expired(Expired::Page {
        continue_token: &token.encode(),
    })
}

fn below(key: &str, base: &str) -> String {
    key.strip_prefix(base).unwrap_or(key).to_owned()
}

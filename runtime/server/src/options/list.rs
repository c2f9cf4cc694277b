//! Options of a list, a watch or the deletion of a collection.

use std::borrow::Cow;
use std::time::Duration;

use planesmith_machinery::feature::Features;
use planesmith_machinery::field_error::FieldErrors;
use planesmith_machinery::selector::{FieldQuery, LabelQuery};
use planesmith_machinery::status::{ApiError, ApiResult};

use super::{check, number, parse_version_field};
use crate::features::WATCH_LIST;
use crate::request::Query;

/// Maximum duration of a watch: far beyond any server's uptime, and short enough to be added to a point in time.
const LONGEST_WATCH: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The parameters of a list, as they were sent.
#[derive(Clone, Debug, Default)]
pub(crate) struct ListOptions<'q> {
    pub(crate) label_selector: Cow<'q, str>,
    pub(crate) field_selector: Cow<'q, str>,
    /// The resourceVersion; empty means the newest state.
    pub(crate) resource_version: Cow<'q, str>,
    /// The match of the resourceVersion; `None` means the behaviour of old servers.
    pub(crate) version_match: Option<VersionMatch>,
    /// Objects per page; `None` means all.
    pub(crate) limit: Option<u64>,
    /// The continue token; empty for the first page.
    pub(crate) continue_token: Cow<'q, str>,
    /// Duration of a watch; `None` leaves it to the server.
    pub(crate) timeout: Option<Duration>,
    pub(crate) bookmarks: bool,
    send_initial_events: Option<bool>,
}

/// The match of a resourceVersion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum VersionMatch {
    /// The state at that revision.
    Exact,
    /// Any state at that revision or later.
    NotOlderThan,
}

/// The start of a watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// With the existing objects.
    State,
    /// With the first change after the resourceVersion.
    Changes,
}

impl<'q> ListOptions<'q> {
    /// Reads the parameters of a list or of the deletion of a collection.
    pub(crate) fn for_list(query: Query<'q>) -> ApiResult<Self> {
        let (options, matched) = Self::read(query)?;
        let mut errors = FieldErrors::default();
        options.check_list_match(&matched, &mut errors);
        if options.send_initial_events.is_some() {
            errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
        }
        options.check(&errors)?;
        Ok(options)
    }

    /// Reads the parameters of a watch of a server with `features`.
    ///
    /// If only the path makes the request a watch, the parameters are checked as those of a list.
    pub(crate) fn for_watch(query: Query<'q>, features: &Features) -> ApiResult<Self> {
        if query.flag("watch") != Some(true) {
            return Self::for_list(query);
        }
        let (mut options, mut matched) = Self::read(query)?;
        // The meaning of requests before the parameter existed.
        let from_state = matches!(&*options.resource_version, "" | "0");
        let mut errors = FieldErrors::default();
        let lists = features.has(&WATCH_LIST);
        if lists && options.send_initial_events.is_none() && matched.is_empty() && from_state {
            options.send_initial_events = Some(true);
            matched = Cow::Borrowed("NotOlderThan");
        }
        if options.send_initial_events.is_some() {
            if matched != "NotOlderThan" {
                let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
                errors.forbidden("resourceVersionMatch", why);
            }
            if !lists {
                let why = "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled";
                errors.forbidden("sendInitialEvents", why);
            }
        }
        if !matched.is_empty() {
            options.check_watch_match(&matched, &mut errors);
        }
        options.check(&errors)?;
        Ok(options)
    }

    /// True if the client requests the initial objects, followed by a bookmark if it accepts bookmarks.
    pub(crate) fn requests_state(&self) -> bool {
        self.send_initial_events == Some(true)
    }

    /// True if the client accepts any state, in one page.
    pub(crate) fn accepts_any_state(&self) -> bool {
        self.resource_version == "0"
    }

    /// Objects per page of a list; `None` means all.
    pub(crate) fn page_limit(&self) -> Option<usize> {
        let limit = self.limit.filter(|_| !self.accepts_any_state())?;
        Some(usize::try_from(limit).unwrap_or(usize::MAX))
    }

    /// True for a watch that begins with the existing objects.
    pub(crate) fn watches_from_state(&self) -> bool {
        parse_version_field(&self.resource_version).is_ok_and(|version| self.start(version) == Start::State)
    }

    /// The start of a watch from `version`.
    pub(crate) fn start(&self, version: u64) -> Start {
        match self.send_initial_events {
            Some(true) => Start::State,
            None if version == 0 => Start::State,
            Some(false) | None => Start::Changes,
        }
    }

    fn read(query: Query<'q>) -> ApiResult<(Self, Cow<'q, str>)> {
        let text = |name| query.first(name).unwrap_or_default();
        let matched = text("resourceVersionMatch");
        let limit = number(query, "limit")?.and_then(|limit| u64::try_from(limit).ok());
        // A watch of negative duration ends at once.
        let timeout = number(query, "timeoutSeconds")?.filter(|seconds| *seconds != 0);
        let timeout = timeout.map(|seconds| u64::try_from(seconds).unwrap_or(0));
        let options = Self {
            label_selector: text("labelSelector"),
            field_selector: text("fieldSelector"),
            resource_version: text("resourceVersion"),
            version_match: match &*matched {
                "Exact" => Some(VersionMatch::Exact),
                "NotOlderThan" => Some(VersionMatch::NotOlderThan),
                _ => None,
            },
            limit: limit.filter(|limit| *limit > 0),
            continue_token: text("continue"),
            timeout: timeout.map(|seconds| Duration::from_secs(seconds).min(LONGEST_WATCH)),
            bookmarks: query.flag("allowWatchBookmarks").unwrap_or(false),
            send_initial_events: query.flag("sendInitialEvents"),
        };
        Ok((options, matched))
    }

    /// Refuses options with `errors`. Selectors that cannot be parsed are refused before: kube-apiserver parses them while it
    /// decodes the parameters.
    fn check(&self, errors: &FieldErrors) -> ApiResult<()> {
        if !errors.is_empty() {
            LabelQuery::parse(&self.label_selector).map_err(|error| ApiError::bad_request(error.to_string()))?;
            FieldQuery::parse(&self.field_selector).map_err(|error| ApiError::bad_request(error.to_string()))?;
        }
        check("ListOptions", errors)
    }

    fn check_list_match(&self, matched: &str, errors: &mut FieldErrors) {
        if matched.is_empty() {
            return;
        }
        let field = "resourceVersionMatch";
        if self.resource_version.is_empty() {
            errors.forbidden(
                field,
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            );
        }
        if !self.continue_token.is_empty() {
            errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
        }
        if self.version_match.is_none() {
            errors.not_supported_in_order(field, matched, &["Exact", "NotOlderThan", ""]);
        }
        if self.version_match == Some(VersionMatch::Exact) && self.resource_version == "0" {
            errors.forbidden(
                field,
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            );
        }
    }

    fn check_watch_match(&self, matched: &str, errors: &mut FieldErrors) {
        let field = "resourceVersionMatch";
        if self.send_initial_events.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            errors.forbidden(field, why);
        }
        if matched != "NotOlderThan" {
            errors.not_supported_in_order(field, matched, &["NotOlderThan"]);
        }
        if !self.continue_token.is_empty() {
            errors.forbidden(field, "resourceVersionMatch is forbidden when continue is provided");
        }
    }
}

//! The changes of a prefix, from a watch.

mod deliveries;

use std::time::Duration;

use futures_util::stream;
use http::uri::PathAndQuery;
use planesmith_store::Revision;
use planesmith_store::backend::{BackendFuture, Delivery, Feed, FeedError};
use tokio::sync::{mpsc, watch};
use tokio::time::Instant;
use tonic::{Request, Streaming};
use tonic_prost::ProstCodec;

use self::deliveries::{Deliveries, is_progress};
use crate::client::{Client, grpc, send, with_leader};
use crate::failure::Failure;
use crate::keys::{Keys, range_end};
use crate::members::Link;
use crate::protocol::maintenance::{STATUS, Status};
use crate::protocol::watch::{Answer, Create, Kind, Progress, Request as WatchRequest, WATCH};
use crate::version::orders_progress;

/// Maximum time until a watch stands.
const OPENING: Duration = Duration::from_secs(3);

/// A member answers a request for progress once the watch is up to date: until then others may be left out.
const PROGRESS_PAUSE: Duration = Duration::from_millis(50);

/// The changes of a prefix.
///
/// Members with faulty progress notifications send none: there the watch is on all keys of etcd, so that each
/// revision has an event, and those of other prefixes are progress.
pub(crate) struct WatchFeed {
    answers: Streaming<Answer>,
    requests: mpsc::Sender<WatchRequest>,
    deliveries: Deliveries,
    /// Changes when a reader requests the progress.
    wanted: watch::Receiver<()>,
    /// The time of the last request for progress that is not answered.
    requested: Option<Instant>,
    /// Changes when another member is in use.
    links: watch::Receiver<Link>,
}

/// Opens a feed of the changes after `after`, on the member in use.
pub(crate) async fn follow(
    client: &Client,
    keys: &Keys,
    prefix: &str,
    after: Revision,
    wanted: watch::Receiver<()>,
) -> Result<WatchFeed, FeedError> {
    let mut links = client.members.subscribe();
    let link = links.borrow_and_update().clone();
    let opening = tokio::time::timeout(OPENING, open(&link, keys, prefix, after));
    let opened = opening.await.unwrap_or_else(|_| Err(Failure::late()));
    let (answers, requests, has_progress) = opened.map_err(|failure| {
        if failure.blames_member() {
            client.members.leave(&link, &failure.reason());
        }
        FeedError::Lost(failure.reason())
    })?;
    Ok(WatchFeed {
        answers,
        requests,
        deliveries: Deliveries::new(keys.clone(), prefix, after, has_progress),
        wanted,
        requested: None,
        links,
    })
}

type Opened = (Streaming<Answer>, mpsc::Sender<WatchRequest>, bool);

async fn open(link: &Link, keys: &Keys, prefix: &str, after: Revision) -> Result<Opened, Failure> {
    let status = send(link, &STATUS, Request::new(Status {})).await?;
    let has_progress = orders_progress(&status.version);
    let (key, end) = match has_progress {
        true => {
            let key = keys.to_etcd(prefix);
            let end = range_end(&key);
            (key, end)
        }
        // etcd's names for the first key, and for the end of all.
        false => (vec![0], vec![0]),
    };
    let create = Kind::Create(Create {
        key,
        range_end: end,
        // Includes what is known: a watch that begins with the oldest revision that is not compacted misses deletions in it,
        // and one that begins in the future has no progress.
        start_revision: i64::try_from(after.0.max(1)).unwrap_or(i64::MAX),
        progress_notify: has_progress,
        fragment: true,
    });
    let (requests, sent) = mpsc::channel(2);
    // There is space for it.
    let _ = requests.try_send(create.into());
    let sent = stream::unfold(sent, |mut sent| async { Some((sent.recv().await?, sent)) });
    let path = PathAndQuery::from_static(WATCH.path);
    let streaming = grpc(link)
        .await?
        .streaming(with_leader(sent), path, ProstCodec::default())
        .await?;
    Ok((streaming.into_inner(), requests, has_progress))
}

impl WatchFeed {
    async fn deliver(&mut self) -> Result<Delivery, FeedError> {
        loop {
            tokio::select! {
                answer = self.answers.message() => {
                    let answer = match answer {
                        Ok(Some(answer)) => answer,
                        Ok(None) => return Err(FeedError::Lost("the member ended the watch".into())),
                        Err(status) => return Err(FeedError::Lost(Failure::from(status).reason())),
                    };
                    if is_progress(&answer) {
                        self.requested = None;
                    }
                    if let Some(delivery) = self.deliveries.take(answer)? {
                        return Ok(delivery);
                    }
                }
                changed = self.links.changed() => {
                    let reason = if changed.is_ok() { "another member is in use" } else { "the store is closed" };
                    return Err(FeedError::Lost(reason.into()));
                }
                Ok(()) = self.wanted.changed(), if self.may_request_progress() => {
                    self.requested = Some(Instant::now());
                    // A request that is not answered yet will do.
                    let _ = self.requests.try_send(Kind::Progress(Progress {}).into());
                }
            }
        }
    }

    fn may_request_progress(&self) -> bool {
        self.deliveries.has_progress
            && self
                .requested
                .is_none_or(|requested| requested.elapsed() >= PROGRESS_PAUSE)
    }
}

impl Feed for WatchFeed {
    fn next(&mut self) -> BackendFuture<'_, Result<Delivery, FeedError>> {
        Box::pin(self.deliver())
    }
}

//! Requests to the member in use, repeated where that is safe.

use std::time::Duration;

use http::uri::PathAndQuery;
use tokio::time::Instant;
use tonic::Request;
use tonic::client::Grpc;
use tonic::metadata::MetadataValue;
use tonic_prost::ProstCodec;

use crate::failure::Failure;
use crate::members::{Link, Members};
use crate::protocol::Method;

/// Pauses before a request is repeated, once all members have failed.
const FIRST_PAUSE: Duration = Duration::from_millis(10);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);

/// Time in which a request is answered nevertheless after a member was lost.
const GRACE: Duration = Duration::from_millis(500);

/// Bounds of the time that a request takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeouts {
    /// Of one attempt.
    pub(crate) answer: Duration,
    /// Of all attempts: none begins later.
    pub(crate) attempts: Duration,
}

/// The timeouts of requests that a member answers at once.
pub(crate) const QUICK: Timeouts = Timeouts {
    answer: Duration::from_secs(2),
    attempts: Duration::from_secs(5),
};

/// The timeouts of reads of many objects.
pub(crate) const PAGE: Timeouts = Timeouts {
    answer: Duration::from_secs(60),
    attempts: Duration::from_secs(60),
};

/// The timeouts of writes. A member itself gives up after seven seconds.
const WRITE: Timeouts = Timeouts {
    answer: Duration::from_secs(10),
    attempts: Duration::from_secs(5),
};

/// The requests to a cluster.
pub(crate) struct Client {
    pub(crate) members: Members,
}

impl Client {
    /// Sends `request` until it is answered: it may be performed several times.
    pub(crate) async fn repeat<Q, A>(&self, method: &Method<Q, A>, request: Q, timeouts: Timeouts) -> Result<A, Failure>
    where
        Q: prost::Message + Clone + 'static,
        A: prost::Message + Default + 'static,
    {
        let mut attempts = Attempts::begin(timeouts);
        loop {
            let failure = match self.attempt(method, request.clone(), timeouts.answer).await {
                Ok(answer) => return Ok(answer),
                Err(failure @ Failure::Refused(_)) => return Err(failure),
                Err(failure) => failure,
            };
            attempts.pause(self.members.count(), failure).await?;
        }
    }

    /// Sends `request`, again only if it was not performed before.
    pub(crate) async fn once<Q, A>(&self, method: &Method<Q, A>, request: Q) -> Result<A, Failure>
    where
        Q: prost::Message + Clone + 'static,
        A: prost::Message + Default + 'static,
    {
        let mut attempts = Attempts::begin(WRITE);
        loop {
            match self.attempt(method, request.clone(), WRITE.answer).await {
                Err(failure @ (Failure::MemberUnavailable(_) | Failure::Overloaded(_))) => {
                    attempts.pause(self.members.count(), failure).await?;
                }
                answered => return answered,
            }
        }
    }

    async fn attempt<Q, A>(&self, method: &Method<Q, A>, request: Q, timeout: Duration) -> Result<A, Failure>
    where
        Q: prost::Message + 'static,
        A: prost::Message + Default + 'static,
    {
        let abandoned = self.members.abandoned();
        let link = self.members.link();
        let sending = tokio::time::timeout(timeout, send(&link, method, with_leader(request)));
        let given_up = async {
            abandoned.await;
            tokio::time::sleep(GRACE).await;
        };
        let answered = tokio::select! {
            biased;
            answered = sending => answered.unwrap_or_else(|_| Err(Failure::late())),
            () = given_up => Err(Failure::Undecided("etcd lost a member while the request was under way".into())),
        };
        if let Err(failure) = &answered
            && failure.blames_member()
        {
            self.members.leave(&link, &failure.reason());
        }
        answered
    }
}

/// Sends one request over `link`.
pub(crate) async fn send<Q, A>(link: &Link, method: &Method<Q, A>, request: Request<Q>) -> Result<A, Failure>
where
    Q: prost::Message + 'static,
    A: prost::Message + Default + 'static,
{
    let mut grpc = grpc(link).await?;
    let path = PathAndQuery::from_static(method.path);
    let answer = grpc.unary(request, path, ProstCodec::default()).await?;
    Ok(answer.into_inner())
}

/// Returns the client of `link` once it takes requests.
pub(crate) async fn grpc(link: &Link) -> Result<Grpc<tonic::transport::Channel>, Failure> {
    let mut grpc = Grpc::with_origin(link.channel.clone(), link.uri.clone()).max_decoding_message_size(usize::MAX);
    grpc.ready()
        .await
        .map_err(|error| Failure::MemberUnavailable(error.to_string().into()))?;
    Ok(grpc)
}

/// Returns `request` with the demand that the member knows a leader: members that are cut off refuse it at once.
pub(crate) fn with_leader<Q>(request: Q) -> Request<Q> {
    let mut request = Request::new(request);
    request
        .metadata_mut()
        .insert("hasleader", MetadataValue::from_static("true"));
    request
}

/// The attempts of one request.
struct Attempts {
    end: Instant,
    count: usize,
    pause: Duration,
}

impl Attempts {
    fn begin(timeouts: Timeouts) -> Self {
        Self {
            end: Instant::now() + timeouts.attempts,
            count: 0,
            pause: FIRST_PAUSE,
        }
    }

    /// Waits before the next attempt; ends with `failure` if there is none. Each of `members` is tried without a pause.
    async fn pause(&mut self, members: usize, failure: Failure) -> Result<(), Failure> {
        self.count += 1;
        if Instant::now() + self.pause >= self.end {
            return Err(failure);
        }
        if self.count >= members || !failure.blames_member() {
            tokio::time::sleep(self.pause).await;
            self.pause = (2 * self.pause).min(LONGEST_PAUSE);
        }
        Ok(())
    }
}

//! The members of the cluster, one of which is in use.

use http::Uri;
use tokio::sync::watch;
use tonic::transport::Channel;

use crate::channel::Connector;
use crate::config::Config;

/// The members. All requests go to the same one until it fails: its answers and its feeds agree in time.
pub(crate) struct Members {
    connectors: Box<[Connector]>,
    link: watch::Sender<Link>,
    /// Changes when answers to requests that are under way are not worth waiting for any more.
    abandoned: watch::Sender<()>,
}

/// The connection to the member that is in use.
#[derive(Clone)]
pub(crate) struct Link {
    pub(crate) channel: Channel,
    /// Grows with every connection.
    pub(crate) number: u64,
    /// The URL of the member.
    pub(crate) uri: Uri,
}

impl Members {
    /// Returns the members at `uris`; several servers begin with different ones.
    pub(crate) fn new(uris: Vec<Uri>, config: &Config) -> Self {
        let connectors: Box<[_]> = uris.into_iter().map(|uri| Connector::new(uri, config)).collect();
        let first = fastrand::usize(..connectors.len());
        let link = Link {
            channel: connectors[first].channel(),
            number: first as u64,
            uri: connectors[first].uri.clone(),
        };
        Self {
            connectors,
            link: watch::Sender::new(link),
            abandoned: watch::Sender::new(()),
        }
    }

    /// The number of members.
    pub(crate) fn count(&self) -> usize {
        self.connectors.len()
    }

    /// Returns the connection in use.
    pub(crate) fn link(&self) -> Link {
        self.link.borrow().clone()
    }

    /// Returns a receiver that sees every change of the connection.
    pub(crate) fn subscribe(&self) -> watch::Receiver<Link> {
        self.link.subscribe()
    }

    /// Returns once requests that are sent now are not worth waiting for: the member is silent and there are others, or the
    /// leader that had to decide is another one.
    pub(crate) fn abandoned(&self) -> impl Future<Output = ()> + use<> {
        let mut abandoned = self.abandoned.subscribe();
        async move {
            if abandoned.changed().await.is_err() {
                std::future::pending().await
            }
        }
    }

    /// Ends the wait for requests that are under way.
    pub(crate) fn abandon(&self) {
        self.abandoned.send_replace(());
    }

    /// Goes on with the next member unless another connection than `failed` is in use. Requests that were sent over
    /// the old one are waited for there.
    pub(crate) fn leave(&self, failed: &Link, reason: &str) {
        self.link.send_if_modified(|link| {
            if link.number != failed.number {
                return false;
            }
            let number = link.number + 1;
            let connector = &self.connectors[number as usize % self.connectors.len()];
            tracing::warn!(from = %link.uri, to = %connector.uri, reason, "goes on with the next etcd member");
            *link = Link {
                channel: connector.channel(),
                number,
                uri: connector.uri.clone(),
            };
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::Members;
    use crate::config::Config;

    #[tokio::test]
    async fn a_failed_member_is_left_once() {
        let uris = ["http://127.0.0.1:1", "http://127.0.0.1:2"];
        let members = Members::new(
            uris.iter().map(|uri| uri.parse().unwrap()).collect(),
            &Config::default(),
        );
        let first = members.link();
        let mut changes = members.subscribe();
        members.leave(&first, "test");
        members.leave(&first, "test");
        let second = members.link();
        assert_eq!(second.number, first.number + 1);
        assert_ne!(second.uri, first.uri);
        assert!(changes.has_changed().unwrap());
        changes.mark_unchanged();
        members.leave(&first, "test");
        assert!(!changes.has_changed().unwrap());
        members.leave(&second, "test");
        assert_eq!(members.link().uri, first.uri);
    }
}

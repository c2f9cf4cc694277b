//! Another server that receives events.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use bytes::Bytes;
use planesmith_control_plane::Host;
use planesmith_control_plane::outbound::{Network, Outbound};
use tokio::sync::watch;

use crate::destination::Destination;

/// The number of deliveries of a batch before it is lost; kube-apiserver's.
const ATTEMPTS: u32 = 5;
/// The growth of the time between them.
const BACKOFF_FACTOR: f64 = 1.5;

/// A server that receives lists of events.
#[derive(Debug)]
pub(crate) struct Webhook {
    host: Host,
    backoff: Duration,
    /// True once the server ends, and nothing is repeated any more.
    stopping: watch::Sender<bool>,
}

impl Webhook {
    /// Reads the current context of a kubeconfig. Deliveries use `outbound`.
    ///
    /// # Errors
    ///
    /// The entry that is missing in the file, or cannot be used.
    pub(crate) fn open(kubeconfig: &Path, backoff: Duration, outbound: &Outbound) -> Result<Self> {
        Ok(Self {
            host: Host::open_in(Network::ControlPlane, kubeconfig, outbound)?,
            backoff,
            stopping: watch::Sender::new(false),
        })
    }
}

impl Destination for Webhook {
    fn deliver(&self, events: &[Bytes]) -> Result<(), String> {
        let delivery = post(
            self.host.clone(),
            list_of(events),
            self.backoff,
            self.stopping.subscribe(),
        );
        self.host.dedicated_runtime().block_on(delivery)?
    }

    fn stop(&self) {
        self.stopping.send_replace(true);
    }
}

/// Sends a list until it is accepted.
async fn post(
    host: Host,
    list: Vec<u8>,
    mut wait: Duration,
    mut stopping: watch::Receiver<bool>,
) -> Result<(), String> {
    let mut attempt = 1;
    loop {
        let Err(why) = host.post("", list.clone()).await else {
            return Ok(());
        };
        if attempt == ATTEMPTS || *stopping.borrow() {
            return Err(why);
        }
        tracing::debug!(why, attempt, "a delivery of audit events is repeated");
        // One last attempt follows when the server ends.
        let _ = tokio::time::timeout(wait, stopping.wait_for(|stopping| *stopping)).await;
        wait = wait.mul_f64(BACKOFF_FACTOR);
        attempt += 1;
    }
}

/// Returns the list of encoded events.
fn list_of(events: &[Bytes]) -> Vec<u8> {
    let mut list = br#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":["#.to_vec();
    list.extend_from_slice(&events.join(&b','));
    list.extend_from_slice(b"]}");
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_items_of_a_list() {
        let list = list_of(&[Bytes::from_static(b"{\"a\":1}"), Bytes::from_static(b"{}")]);
        let expected = r#"{"kind":"EventList","apiVersion":"audit.k8s.io/v1","metadata":{},"items":[{"a":1},{}]}"#;
        assert_eq!(String::from_utf8(list).unwrap(), expected);
    }
}

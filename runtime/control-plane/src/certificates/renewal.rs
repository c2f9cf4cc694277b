//! Renews the serving certificate of a server that runs for longer than its lifetime.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use planesmith_server::listener::Tls;

use super::{Authority, CertificateError};

/// Interval between checks of the certificate, which is renewed a month before it expires.
const CHECK_INTERVAL: Duration = Duration::from_secs(3600);

/// Renews the server's own certificate before it expires, and uses the new one from the next connection on.
#[derive(Debug)]
pub(crate) struct Renewal {
    /// The authority that signs it.
    pub(crate) authority: Arc<Authority>,
    /// DNS names that it covers.
    pub(crate) names: Vec<String>,
    /// Addresses that it covers.
    pub(crate) addresses: Vec<IpAddr>,
    /// Serves with the certificate.
    pub(crate) tls: Arc<Tls>,
}

impl Renewal {
    /// Checks the certificate periodically, for as long as it is polled.
    pub(crate) async fn run(self) {
        loop {
            tokio::time::sleep(CHECK_INTERVAL).await;
            match self.renew() {
                Ok(false) => {}
                Ok(true) => tracing::info!("the serving certificate is renewed"),
                Err(error) => {
                    let error = &error as &dyn std::error::Error;
                    tracing::error!(error, "the serving certificate cannot be renewed");
                }
            }
        }
    }

    /// Renews the certificate if it expires soon. Returns true if it did.
    ///
    /// # Errors
    ///
    /// When files cannot be read or written.
    pub(crate) fn renew(&self) -> Result<bool, CertificateError> {
        let renewed = self.authority.renew_serving(&self.names, &self.addresses)?;
        if renewed {
            self.tls.refresh();
        }
        Ok(renewed)
    }
}

#[cfg(test)]
mod tests {
    use planesmith_machinery::clock::{Clock, ManualClock, SystemClock};
    use planesmith_server::listener::{TlsFiles, TlsParameters};

    use super::*;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    #[tokio::test]
    async fn a_new_certificate_is_served_before_the_old_one_ends() {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(ManualClock::new(SystemClock.unix_millis()));
        let authority = Arc::new(Authority::open(dir.path(), Arc::<ManualClock>::clone(&clock)).unwrap());
        let names = vec!["localhost".to_owned()];
        let pair = authority.serving(&names, &[]).unwrap();
        let tls = Arc::new(
            Tls::open(TlsFiles {
                certificate: pair.certificate.clone(),
                key: pair.key,
                client_authorities: Vec::new(),
                proxy_authorities: Vec::new(),
                named: Vec::new(),
                parameters: TlsParameters::default(),
                clock: Arc::<ManualClock>::clone(&clock),
            })
            .unwrap(),
        );
        let renewal = Renewal {
            authority,
            names,
            addresses: Vec::new(),
            tls,
        };
        assert!(!renewal.renew().unwrap());
        let before = renewal.tls.serving_certificate();
        clock.advance(330 * DAY);
        assert!(!renewal.renew().unwrap());
        clock.advance(6 * DAY);
        assert!(renewal.renew().unwrap());
        assert_ne!(renewal.tls.serving_certificate(), before);
        assert!(!renewal.renew().unwrap());
    }
}

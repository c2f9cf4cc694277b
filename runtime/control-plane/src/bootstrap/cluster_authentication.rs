//! What servers behind this one need to know to trust its clients.

use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;
use serde_json::{Value, json};
use x509_parser::pem::Pem;

use crate::loopback::{Loopback, LoopbackError};
use crate::objects::{Objects, text};
use crate::reconciler::{self, Reconcile};

const NAMESPACE: &str = "kube-system";
const NAME: &str = "extension-apiserver-authentication";
const CLIENT_AUTHORITIES: &str = "client-ca-file";

/// Makes the ConfigMap with the authorities of client certificates, PEM, and keeps it; `None` for a server without
/// ConfigMaps.
pub(super) fn hook(stores: &Stores, loopback: &Loopback, client_authorities: &str) -> Option<Hook> {
    let work = ClusterAuthentication {
        config_maps: Objects::of(stores, loopback, "", "v1", "configmaps")?,
        client_authorities: client_authorities.to_owned(),
    };
    Some(Hook::new(
        "start-cluster-authentication-info-controller",
        move |shutdown| async move {
            reconciler::start(work, shutdown).await;
            Ok(())
        },
    ))
}

struct ClusterAuthentication {
    config_maps: Objects,
    client_authorities: String,
}

impl Reconcile for ClusterAuthentication {
    const NAME: &'static str = "authentication of the cluster";

    fn watched(&self) -> Vec<&Objects> {
        vec![&self.config_maps]
    }

    fn all(&self) -> Vec<String> {
        vec![NAME.to_owned()]
    }

    fn touched(&self, _kind: usize, namespace: &str, name: &str) -> Vec<String> {
        if (namespace, name) == (NAMESPACE, NAME) {
            self.all()
        } else {
            Vec::new()
        }
    }

    async fn reconcile(&self, _key: &str) -> Result<(), LoopbackError> {
        let Some(mut stored) = self.config_maps.get(NAMESPACE, NAME) else {
            let made = json!({
                "apiVersion": "v1",
                "kind": "ConfigMap",
                "metadata": {"name": NAME, "namespace": NAMESPACE},
                "data": {CLIENT_AUTHORITIES: united(&self.client_authorities, "")},
            });
            return self.config_maps.create(&made).await;
        };
        let have = text(&stored, "/data/client-ca-file");
        let wanted = united(&self.client_authorities, have);
        if have == wanted {
            return Ok(());
        }
        if !stored["data"].is_object() {
            stored["data"] = json!({});
        }
        stored["data"][CLIENT_AUTHORITIES] = Value::String(wanted);
        self.config_maps.replace(&stored).await
    }
}

/// The authorities of this server and those that others wrote, each once, without those whose time is over.
fn united(ours: &str, others: &str) -> String {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut united = String::new();
    for text in [ours, others] {
        for block in blocks(text) {
            let Some(Ok(pem)) = Pem::iter_from_buffer(block.as_bytes()).next() else {
                continue;
            };
            let lives = pem
                .parse_x509()
                .is_ok_and(|certificate| certificate.validity().is_valid());
            if lives && !seen.contains(&pem.contents) {
                seen.push(pem.contents);
                united.push_str(block.trim());
                united.push('\n');
            }
        }
    }
    united
}

/// The PEM blocks of a text, one by one.
fn blocks(text: &str) -> impl Iterator<Item = &str> {
    const END: &str = "-----END CERTIFICATE-----";
    let blocks = text.split_inclusive(END).filter(|block| block.ends_with(END));
    blocks.filter_map(|block| Some(&block[block.find("-----BEGIN CERTIFICATE-----")?..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::certificates::Authority;

    fn authority() -> String {
        let dir = tempfile::tempdir().unwrap();
        Authority::open(dir.path()).unwrap().certificate_pem().trim().to_owned() + "\n"
    }

    #[test]
    fn each_authority_is_said_once_and_what_is_none_is_dropped() {
        let (ours, theirs) = (authority(), authority());
        assert_eq!(united(&ours, ""), ours);
        let both = format!("{ours}{theirs}");
        assert_eq!(united(&ours, &format!("{theirs}nonsense\n{ours}")), both);
        assert_eq!(united(&ours, &both), both);
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
        assert_eq!(united(&ours, broken), ours);
    }
}

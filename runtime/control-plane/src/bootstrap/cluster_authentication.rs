//! The authorities and headers that servers behind this one need to trust its clients.

use std::time::{Duration, SystemTime};

use planesmith_access::authentication::RequestHeaders;
use planesmith_machinery::der::decode;
use planesmith_machinery::pem;
use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;
use serde_json::{Map, Value, json};
use x509_cert::Certificate;
use x509_cert::der::pem::{LineEnding, encode_string};

use super::authority_file::AuthorityFile;
use super::maintained_config_map::{self, Content};
use crate::loopback::Loopback;

/// Time between two reads of the files of authorities; kube-apiserver's.
const REFRESH: Duration = Duration::from_secs(60);

/// The key with the authorities of client certificates.
pub(crate) const CLIENT_AUTHORITIES: &str = "client-ca-file";
/// The key with the authorities of proxies.
pub(crate) const PROXY_AUTHORITIES: &str = "requestheader-client-ca-file";
/// The key with the names of proxies.
pub(crate) const ALLOWED_NAMES: &str = "requestheader-allowed-names";

/// The authorities and headers that servers behind this one can trust.
#[derive(Clone, Debug, Default)]
pub struct ClusterAuthentication {
    /// Authorities that sign the certificates of clients.
    pub client_authorities: Vec<AuthorityFile>,
    /// Authorities that sign the certificate with which this server authenticates when it names the user of a request.
    pub proxy_authorities: Vec<AuthorityFile>,
    /// Headers in which it names the user.
    pub headers: RequestHeaders,
}

/// The lists of `headers`, under their keys.
pub(crate) fn lists(headers: &mut RequestHeaders) -> [(&'static str, &mut Vec<String>); 5] {
    [
        (ALLOWED_NAMES, &mut headers.allowed_names),
        ("requestheader-extra-headers-prefix", &mut headers.extra_prefix),
        ("requestheader-group-headers", &mut headers.group),
        ("requestheader-uid-headers", &mut headers.uid),
        ("requestheader-username-headers", &mut headers.username),
    ]
}

/// Creates and maintains the ConfigMap with the trusted authorities and headers; `None` for a server without ConfigMaps.
pub(super) fn hook(stores: &Stores, loopback: &Loopback, authentication: &ClusterAuthentication) -> Option<Hook> {
    let name = "start-cluster-authentication-info-controller";
    maintained_config_map::hook(name, stores, loopback, authentication.clone())
}

impl Content for ClusterAuthentication {
    const NAME: &'static str = "extension-apiserver-authentication";
    const WORK: &'static str = "authentication of the cluster";
    const REFRESH: Option<Duration> = Some(REFRESH);

    fn data(&self, have: &Map<String, Value>, now: SystemTime) -> Option<Map<String, Value>> {
        let wanted = self.completed(have, now);
        (wanted != *have).then_some(wanted)
    }
}

impl ClusterAuthentication {
    /// Returns the data of the ConfigMap, merged with that of other servers.
    fn completed(&self, have: &Map<String, Value>, now: SystemTime) -> Map<String, Value> {
        let others = |key: &str| have.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut data = have.clone();
        for (key, ours) in [
            (CLIENT_AUTHORITIES, &self.client_authorities),
            (PROXY_AUTHORITIES, &self.proxy_authorities),
        ] {
            if !ours.is_empty() {
                let ours: String = ours.iter().map(|file| file.read() + "\n").collect();
                data.insert(key.to_owned(), united(&ours, others(key), now).into());
            }
        }
        if self.proxy_authorities.is_empty() {
            return data;
        }
        let mut headers = self.headers.clone();
        for (key, list) in lists(&mut headers) {
            let known: Vec<String> = serde_json::from_str(others(key)).unwrap_or_default();
            for value in known {
                if !list.contains(&value) {
                    list.push(value);
                }
            }
            // Older servers do not know the key of uids, so it is only written if it has a value.
            if !(key.contains("uid") && list.is_empty()) {
                data.insert(key.to_owned(), json!(list).to_string().into());
            }
        }
        data
    }
}

/// Returns the authorities of this server and those that other servers wrote, each once, without those that have
/// expired at `now`.
fn united(ours: &str, others: &str, now: SystemTime) -> String {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut united = String::new();
    for text in [ours, others] {
        for der in pem::contents(text.as_bytes(), pem::CERTIFICATE) {
            if is_valid(&der, now) && !seen.contains(&der) {
                // Encoded anew, so that nothing else of a file is published.
                united.push_str(&encode_string(pem::CERTIFICATE, LineEnding::LF, &der).unwrap_or_default());
                seen.push(der);
            }
        }
    }
    united
}

/// True if `der` is a certificate that is valid at `now`.
fn is_valid(der: &[u8], now: SystemTime) -> bool {
    decode::<Certificate>(der).is_ok_and(|certificate| {
        let validity = &certificate.tbs_certificate.validity;
        (validity.not_before.to_system_time()..=validity.not_after.to_system_time()).contains(&now)
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use planesmith_machinery::clock::Clock;
    use planesmith_machinery::clock::SystemClock;

    use super::*;
    use crate::certificates::Authority;

    fn authority() -> String {
        let dir = tempfile::tempdir().unwrap();
        Authority::open(dir.path(), Arc::new(SystemClock))
            .unwrap()
            .certificate_pem()
            .trim()
            .to_owned()
            + "\n"
    }

    fn united_now(ours: &str, others: &str) -> String {
        united(ours, others, SystemClock.now())
    }

    #[test]
    fn authorities_of_other_servers_are_retained() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ca.crt");
        std::fs::write(&file, authority()).unwrap();
        let authentication = ClusterAuthentication {
            client_authorities: Vec::new(),
            proxy_authorities: vec![AuthorityFile::open(&file).unwrap()],
            headers: RequestHeaders {
                username: vec!["X-Remote-User".to_owned()],
                ..RequestHeaders::default()
            },
        };
        let have = json!({"mine": "x", "requestheader-username-headers": "[\"X-User\"]"});
        let data = authentication.completed(have.as_object().unwrap(), SystemClock.now());
        let keys: Vec<&String> = data.keys().collect();
        assert_eq!(
            keys,
            [
                "mine",
                "requestheader-allowed-names",
                "requestheader-client-ca-file",
                "requestheader-extra-headers-prefix",
                "requestheader-group-headers",
                "requestheader-username-headers",
            ]
        );
        assert_eq!(data["requestheader-username-headers"], r#"["X-Remote-User","X-User"]"#);
        assert_eq!(authentication.completed(&data, SystemClock.now()), data);
    }

    #[test]
    fn files_that_change_are_followed_and_nothing_is_taken_back() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("ca.crt");
        let [first, second, others] = [authority(), authority(), authority()];
        std::fs::write(&file, &first).unwrap();
        let authentication = ClusterAuthentication {
            client_authorities: vec![AuthorityFile::open(&file).unwrap()],
            ..ClusterAuthentication::default()
        };
        let mut have = Map::new();
        have.insert(CLIENT_AUTHORITIES.to_owned(), others.clone().into());
        let before = authentication.data(&have, SystemClock.now()).expect("its own is added");
        assert_eq!(before[CLIENT_AUTHORITIES], format!("{first}{others}"));
        assert_eq!(authentication.data(&before, SystemClock.now()), None);

        std::fs::write(&file, &second).unwrap();
        let after = authentication
            .data(&before, SystemClock.now())
            .expect("the file has changed");
        assert_eq!(after[CLIENT_AUTHORITIES], format!("{second}{first}{others}"));
        assert!(ClusterAuthentication::REFRESH.is_some(), "somebody looks");
    }

    #[test]
    fn each_authority_is_said_once_and_what_is_none_is_dropped() {
        let (ours, theirs) = (authority(), authority());
        assert_eq!(united_now(&ours, ""), ours);
        let both = format!("{ours}{theirs}");
        assert_eq!(united_now(&ours, &format!("{theirs}nonsense\n{ours}")), both);
        assert_eq!(united_now(&ours, &both), both);
        let broken = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----";
        assert_eq!(united_now(&ours, broken), ours);
    }
}

//! Records the day from which on the use of service-account tokens in Secrets is recorded.

use std::time::SystemTime;

use planesmith_server::hooks::Hook;
use planesmith_server::stores::Stores;
use serde_json::{Map, Value};

use super::maintained_config_map::{self, Content};
use crate::loopback::Loopback;
use crate::service_accounts::token_secrets::{day, start_of};

pub(crate) const NAMESPACE: &str = "kube-system";
pub(crate) const NAME: &str = "kube-apiserver-legacy-service-account-token-tracking";

/// Creates and maintains the ConfigMap with the day; `None` for a server without ConfigMaps.
pub(super) fn hook(stores: &Stores, loopback: &Loopback) -> Option<Hook> {
    maintained_config_map::hook("start-legacy-token-tracking-controller", stores, loopback, FirstDay)
}

struct FirstDay;

impl Content for FirstDay {
    const NAME: &'static str = NAME;
    const WORK: &'static str = "tracking of service-account tokens";

    fn data(&self, have: &Map<String, Value>, now: SystemTime) -> Option<Map<String, Value>> {
        let since = have.get("since").and_then(Value::as_str).unwrap_or_default();
        let is_known = start_of(since).is_some();
        (!is_known).then(|| Map::from_iter([("since".to_owned(), day(now.into()).into())]))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_day_stays() {
        let data = |have: Value| FirstDay.data(have.as_object().unwrap(), SystemTime::UNIX_EPOCH);
        assert_eq!(data(json!({"since": "2026-01-31"})), None);
        for other in [json!({}), json!({"since": "yesterday", "more": "x"})] {
            let data = data(other).unwrap();
            assert_eq!(data.len(), 1);
            assert!(start_of(data["since"].as_str().unwrap()).is_some());
        }
    }
}

//! The credentials with which the server calls webhooks: those of a kubeconfig, which the plugin's configuration names.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue, USER_AGENT};
use planesmith_control_plane::admission::parse_configuration;
use planesmith_control_plane::kubeconfig::User;
use planesmith_machinery::yaml;
use serde::Deserialize;
use serde_json::Value;

const VERSIONS: [&str; 1] = ["apiserver.config.k8s.io/v1"];
const OLD_VERSIONS: [&str; 1] = ["apiserver.config.k8s.io/v1alpha1"];

/// The name of the server in its requests.
const AGENT: &str = "kube-apiserver-admission";

/// The configuration of the plugins for webhooks.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "camelCase")]
struct WebhookAdmissionConfiguration {
    kube_config_file: String,
}

/// The users of a kubeconfig, each named after the servers that it is for.
#[derive(Debug, Default)]
pub(super) struct Credentials {
    users: HashMap<String, User>,
    /// The user of the current context, for servers that no name includes.
    current: Option<String>,
}

/// Returns the headers of a request with the credentials of `user`.
///
/// # Errors
///
/// A token that cannot be read or sent. The message names no file.
pub(super) fn headers(user: &User) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    if let Some(value) = user.authorization()? {
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

impl Credentials {
    /// Reads the kubeconfig that a plugin's `configuration` names, if it names one.
    ///
    /// # Errors
    ///
    /// The configuration or the kubeconfig cannot be read or used.
    pub(super) fn read(configuration: Option<&Value>) -> Result<Self> {
        let is_old = configuration
            .and_then(|value| value.get("apiVersion"))
            .and_then(Value::as_str)
            == Some(OLD_VERSIONS[0]);
        let configuration: WebhookAdmissionConfiguration = match is_old {
            true => parse_configuration(configuration, "WebhookAdmission", &OLD_VERSIONS)?,
            false => parse_configuration(configuration, "WebhookAdmissionConfiguration", &VERSIONS)?,
        };
        if configuration.kube_config_file.is_empty() {
            return Ok(Self::default());
        }
        let path = Path::new(&configuration.kube_config_file);
        if !path.is_absolute() {
            bail!("kubeConfigFile must be an absolute file path");
        }
        let read = || {
            let folder = path.parent().unwrap_or(Path::new("."));
            // Lenient, as all readers of kubeconfigs are.
            let json = yaml::to_json(&fs::read(path)?)?.json;
            Self::parse(&serde_json::from_slice(&json)?, folder)
        };
        read().with_context(|| format!("kubeConfigFile {}", path.display()))
    }

    fn parse(kubeconfig: &Value, folder: &Path) -> Result<Self> {
        let mut users = HashMap::new();
        for entry in elements(kubeconfig, "users") {
            let name = str_at(entry, "/name").to_owned();
            let user = User::parse(entry.get("user").unwrap_or(&Value::Null), folder);
            users.insert(name.clone(), user.with_context(|| format!("user {name:?}"))?);
        }
        let current = str_at(kubeconfig, "/current-context");
        let mut contexts = elements(kubeconfig, "contexts");
        let context = contexts.find(|context| !current.is_empty() && str_at(context, "/name") == current);
        let current = context.map(|context| str_at(context, "/context/user").to_owned());
        Ok(Self { users, current })
    }

    /// Returns the credentials for the server at `authority`, the `host:port` of a URL, whose port may be missing.
    pub(super) fn of_host(&self, authority: &str) -> &User {
        let has_port = authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| port.parse::<u16>().is_ok());
        match has_port {
            true => self.find(authority),
            false => self.find(&format!("{authority}:443")),
        }
    }

    /// Returns the credentials for a server by its `host:port`: those of the most specific name.
    fn find(&self, target: &str) -> &User {
        static ANONYMOUS: User = User::ANONYMOUS;
        let suffixes = target.match_indices('.').map(|(dot, _)| format!("*{}", &target[dot..]));
        let names = std::iter::once(target.to_owned()).chain(suffixes);
        let of_host = target.strip_suffix(":443").into_iter().flat_map(|host| {
            let suffixes = host.match_indices('.').map(|(dot, _)| format!("*{}", &host[dot..]));
            std::iter::once(host.to_owned()).chain(suffixes).collect::<Vec<_>>()
        });
        let default = std::iter::once("*".to_owned()).chain(self.current.clone());
        let mut names = names.chain(of_host).chain(default);
        names.find_map(|name| self.users.get(&name)).unwrap_or(&ANONYMOUS)
    }
}

fn elements<'c>(config: &'c Value, list: &str) -> impl Iterator<Item = &'c Value> {
    config.get(list).and_then(Value::as_array).into_iter().flatten()
}

fn str_at<'v>(value: &'v Value, pointer: &str) -> &'v str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn sent(credentials: &Credentials, authority: &str) -> String {
        let headers = headers(credentials.of_host(authority)).unwrap();
        let value = headers.get(AUTHORIZATION).map(|value| value.to_str().unwrap());
        value.unwrap_or_default().to_owned()
    }

    #[test]
    fn the_most_specific_name_counts() {
        let user = |name: &str| json!({"name": name, "user": {"token": name}});
        let users = ["a.b.svc:8443", "*.b.svc", "c.svc", "me"].map(user);
        let config = json!({"users": users, "current-context": "x",
            "contexts": [{"name": "x", "context": {"user": "me"}}]});
        let credentials = Credentials::parse(&config, Path::new(".")).unwrap();
        for (authority, expected) in [
            ("a.b.svc:8443", "Bearer a.b.svc:8443"),
            ("a.b.svc:443", "Bearer *.b.svc"),
            ("a.b.svc", "Bearer *.b.svc"),
            ("c.svc", "Bearer c.svc"),
            ("c.svc:9443", "Bearer me"),
        ] {
            assert_eq!(sent(&credentials, authority), expected, "{authority}");
        }
    }

    #[test]
    fn a_default_user_precedes_the_current_context() {
        let config = json!({"users": [
            {"name": "*", "user": {"username": "u", "password": "p"}},
            {"name": "me", "user": {"token": "t"}},
        ], "current-context": "x", "contexts": [{"name": "x", "context": {"user": "me"}}]});
        let credentials = Credentials::parse(&config, Path::new(".")).unwrap();
        assert_eq!(sent(&credentials, "h:1"), "Basic dTpw");
    }

    #[test]
    fn without_a_kubeconfig_calls_are_anonymous() {
        let credentials = Credentials::read(None).unwrap();
        assert_eq!(sent(&credentials, "h:1"), "");
    }
}

//! The flags of etcd, with the names and meanings that they have in kube-apiserver.

use std::path::PathBuf;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args};
use planesmith_control_plane::options::{StorageKind, check_readable, parse_go_duration};
use planesmith_machinery::scheme::StorageMediaType;

/// The flags for connecting to etcd, which commands have, too.
#[derive(Args, Clone, Debug)]
pub(crate) struct ConnectionOptions {
    /// Beginning of all keys in etcd.
    #[arg(long, default_value = "/registry", value_name = "PREFIX")]
    pub(crate) etcd_prefix: String,

    /// Authorities, PEM, of the certificates of etcd.
    #[arg(long = "etcd-cafile", value_name = "FILE")]
    pub(crate) etcd_cafile: Option<PathBuf>,

    /// Client certificate for etcd, PEM; needs --etcd-keyfile.
    #[arg(long = "etcd-certfile", value_name = "FILE", requires = "etcd_keyfile")]
    pub(crate) etcd_certfile: Option<PathBuf>,

    /// Key of the client certificate for etcd, PEM; needs --etcd-certfile.
    #[arg(long = "etcd-keyfile", value_name = "FILE", requires = "etcd_certfile")]
    pub(crate) etcd_keyfile: Option<PathBuf>,

    /// Encoding of the objects in etcd: application/vnd.kubernetes.protobuf, application/json or application/yaml. Each of them is
    /// read. Kinds without protobuf are always in JSON.
    #[arg(long, default_value = "application/vnd.kubernetes.protobuf", value_name = "TYPE")]
    pub(crate) storage_media_type: String,

    /// Maximum time to wait for etcd at start.
    #[arg(long, default_value = "1m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub(crate) storage_initialization_timeout: Duration,
}

/// The flags of etcd.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Storage and controllers")]
pub(crate) struct EtcdOptions {
    /// URLs of the members of an etcd, which then has the objects; kube-apiserver can use it at the same time.
    #[arg(long, value_delimiter = ',', value_name = "URLS")]
    pub(crate) etcd_servers: Vec<String>,

    /// Other etcds for single resources. Not supported: one etcd has all objects.
    #[arg(long, value_delimiter = ',', value_name = "GROUP/RESOURCE#URLS,...")]
    pub(crate) etcd_servers_overrides: Vec<String>,

    #[command(flatten)]
    pub(crate) connection: ConnectionOptions,

    /// Interval at which one of the servers lets etcd forget its history of the interval before; 0s leaves that to others.
    #[arg(long, default_value = "5m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub(crate) etcd_compaction_interval: Duration,

    /// Accepted for compatibility: objects are counted in the cache, at no cost.
    #[arg(long, default_value = "1m0s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub(crate) etcd_count_metric_poll_period: Duration,

    /// Interval at which the size of the database of etcd is read; 0s never.
    #[arg(long, default_value = "30s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub(crate) etcd_db_metric_poll_interval: Duration,

    /// Time limit of the health check etcd.
    #[arg(long, default_value = "2s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub(crate) etcd_healthcheck_timeout: Duration,

    /// Time limit of the readiness check of etcd.
    #[arg(long, default_value = "2s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub(crate) etcd_readycheck_timeout: Duration,

    /// Seconds for which objects that expire, such as events, share one lease of etcd.
    #[arg(long, default_value_t = 60, value_name = "SECONDS")]
    pub(crate) lease_reuse_duration_seconds: u32,

    /// Accepted for compatibility: etcd3, the only one.
    #[arg(long, default_value = "", hide_default_value = true, value_name = "BACKEND")]
    pub(crate) storage_backend: String,
}

/// The value of `--storage` for objects in etcd.
pub(crate) const ETCD: StorageKind = StorageKind::new(
    "etcd",
    "In an etcd, which other servers use, too; --etcd-servers implies it",
);

/// True if `matches` say that the objects are in etcd.
pub(crate) fn wants_etcd(matches: &ArgMatches) -> bool {
    let names_servers = || {
        let mut servers = matches.get_many::<String>("etcd_servers").into_iter().flatten();
        servers.any(|server| !server.is_empty())
    };
    kind(matches) == Some(ETCD) || names_servers()
}

fn kind(matches: &ArgMatches) -> Option<StorageKind> {
    matches.get_one::<StorageKind>("storage").copied()
}

impl EtcdOptions {
    /// Checks the flags together; `matches` are those of all flags.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub(crate) fn check(&self, matches: &ArgMatches) -> Result<(), String> {
        self.connection.check()?;
        if !matches!(&*self.storage_backend, "" | "etcd3") {
            return Err(format!(
                "--storage-backend is {:?}; expected etcd3",
                self.storage_backend
            ));
        }
        for server in &self.etcd_servers {
            check_server(server)?;
        }
        if let Some(first) = self.etcd_servers_overrides.first() {
            check_override(first)?;
            return Err(format!(
                "--etcd-servers-overrides is {first:?}, but all objects are in one etcd here; expected none"
            ));
        }
        let is_explicit = matches.value_source("storage") == Some(ValueSource::CommandLine);
        let has_servers = !self.etcd_servers.is_empty();
        match kind(matches) == Some(ETCD) {
            true if !has_servers => {
                Err("--storage is etcd, but --etcd-servers is missing; expected the URLs of its members".to_owned())
            }
            false if is_explicit && has_servers => {
                Err("--etcd-servers is set, but --storage is not etcd; expected one of the two".to_owned())
            }
            true | false => Ok(()),
        }
    }
}

impl ConnectionOptions {
    /// Checks the flags.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected one.
    pub(crate) fn check(&self) -> Result<(), String> {
        self.media_type()?;
        for (flag, file) in [
            ("--etcd-cafile", &self.etcd_cafile),
            ("--etcd-certfile", &self.etcd_certfile),
            ("--etcd-keyfile", &self.etcd_keyfile),
        ] {
            if let Some(file) = file {
                check_readable(flag, file)?;
            }
        }
        Ok(())
    }

    /// The encoding of objects.
    ///
    /// # Errors
    ///
    /// The flag, its value and the expected ones.
    pub(crate) fn media_type(&self) -> Result<StorageMediaType, String> {
        match &*self.storage_media_type {
            "application/vnd.kubernetes.protobuf" => Ok(StorageMediaType::Protobuf),
            // Empty as in kube-apiserver: scripts pass an unset variable.
            "application/json" | "" => Ok(StorageMediaType::Json),
            "application/yaml" => Ok(StorageMediaType::Yaml),
            other => Err(format!(
                "--storage-media-type is {other:?}; expected application/vnd.kubernetes.protobuf, application/json or application/yaml"
            )),
        }
    }

    /// The beginning of all keys, with one slash before it and none behind it.
    pub(crate) fn prefix(&self) -> String {
        let parts = self.etcd_prefix.split('/').filter(|part| !part.is_empty());
        parts.fold(String::new(), |prefix, part| prefix + "/" + part)
    }
}

/// Checks the URL of a member. As in etcd's own client, the scheme can be left out.
pub(crate) fn check_server(server: &str) -> Result<(), String> {
    let address = match server.split_once("://") {
        Some(("http" | "https", address)) => address,
        None => server,
        Some(_) => "",
    };
    match address.is_empty() || address.contains(char::is_whitespace) {
        true => Err(format!(
            "--etcd-servers has {server:?}; expected URLs such as https://192.0.2.1:2379"
        )),
        false => Ok(()),
    }
}

fn check_override(text: &str) -> Result<(), String> {
    let parts = text.split_once('#').filter(|(_, servers)| !servers.contains('#'));
    match parts.is_some_and(|(resource, _)| resource.matches('/').count() == 1) {
        true => Ok(()),
        false => Err(format!(
            "--etcd-servers-overrides has {text:?}; expected GROUP/RESOURCE#URLS, with semicolons between URLs"
        )),
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, FromArgMatches as _};
    use planesmith_control_plane::options::Options;

    use planesmith_control_plane::options::named_value;

    use super::*;

    fn read(flags: &[&str]) -> Result<(EtcdOptions, bool), String> {
        let kinds = [StorageKind::SLED, StorageKind::MEMORY, ETCD].to_vec();
        let command = Options::command().mut_arg("storage", |flag| flag.value_parser(named_value::parser(kinds)));
        let command = EtcdOptions::augment_args(command);
        let words = std::iter::once(&"planesmith").chain(flags);
        let matches = command.try_get_matches_from(words).map_err(|error| error.to_string())?;
        let options = EtcdOptions::from_arg_matches(&matches).map_err(|error| error.to_string())?;
        options.check(&matches)?;
        Ok((options, wants_etcd(&matches)))
    }

    #[test]
    fn the_servers_alone_are_enough() {
        let (options, wanted) = read(&["--etcd-servers=https://192.0.2.1:2379,192.0.2.2:2379"]).unwrap();
        assert!(wanted);
        assert_eq!(options.etcd_servers, ["https://192.0.2.1:2379", "192.0.2.2:2379"]);
        assert_eq!(options.connection.prefix(), "/registry");
        assert_eq!(options.connection.media_type(), Ok(StorageMediaType::Protobuf));
        assert!(read(&["--storage=etcd", "--etcd-servers=http://[::1]:2379"]).unwrap().1);
        assert!(!read(&[]).unwrap().1);
        let (options, _) = read(&["--etcd-prefix=clusters/one//", "--storage-media-type=application/json"]).unwrap();
        assert_eq!(options.connection.prefix(), "/clusters/one");
        assert_eq!(options.connection.media_type(), Ok(StorageMediaType::Json));
        let (options, _) = read(&["--storage-media-type="]).unwrap();
        assert_eq!(options.connection.media_type(), Ok(StorageMediaType::Json));
    }

    #[test]
    fn wrong_values_say_what_was_expected() {
        for (flags, expected) in [
            (&["--storage=etcd"][..], "--etcd-servers is missing; expected the URLs"),
            (
                &["--storage=sled", "--etcd-servers=http://a:1"],
                "--storage is not etcd; expected one of the two",
            ),
            (&["--etcd-servers=ftp://a:1"], "expected URLs such as https://"),
            (&["--etcd-servers="], "expected URLs such as https://"),
            (&["--storage-backend=etcd2"], "expected etcd3"),
            (&["--storage-media-type=text/plain"], "expected application/vnd"),
            (
                &["--etcd-servers-overrides=pods#http://a:1"],
                "expected GROUP/RESOURCE#URLS",
            ),
            (&["--etcd-servers-overrides=/pods"], "expected GROUP/RESOURCE#URLS"),
            (
                &["--etcd-servers-overrides=/events#http://a:1"],
                "in one etcd here; expected none",
            ),
            (
                &["--etcd-cafile=/does/not/exist"],
                "--etcd-cafile is /does/not/exist, which cannot be read",
            ),
            (&["--etcd-certfile=/does/not/exist"], "--etcd-keyfile"),
            (&["--etcd-compaction-interval=often"], "expected a duration"),
        ] {
            let error = read(flags).unwrap_err();
            assert!(error.contains(expected), "{flags:?}: {error}");
        }
    }
}

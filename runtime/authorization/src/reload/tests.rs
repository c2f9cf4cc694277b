use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use planesmith_access::authorization::{AlwaysAllow, Decision, Target};
use planesmith_server::metrics::Metrics;

use super::*;

/// The time limit for a changed file to take effect.
const SOON: Duration = Duration::from_secs(30);

const ALLOW: &str = "{type: AlwaysAllow, name: alwaysallow}";
const REFUSE: &str = "{type: RBAC, name: rbac}";

/// Denies everything.
#[derive(Debug)]
struct Refuse;

impl Authorizer for Refuse {
    fn authorize(&self, _: &Attributes<'_>) -> AuthorizationOutcome {
        Decision::Deny(String::new()).into()
    }
}

fn of_mode(mode: AuthorizationMode) -> Result<Arc<dyn Authorizer>> {
    Ok(match mode {
        AuthorizationMode::ALWAYS_ALLOW => Arc::new(AlwaysAllow),
        _ => Arc::new(Refuse),
    })
}

/// A file in a folder of its own.
struct File {
    path: PathBuf,
    _folder: tempfile::TempDir,
}

impl File {
    fn new(authorizers: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("authorization.yaml");
        let file = Self { path, _folder: folder };
        file.write(authorizers);
        file
    }

    fn write(&self, authorizers: &[&str]) {
        let authorizers = authorizers.join(", ");
        let text = format!(
            "apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers: [{authorizers}]\n"
        );
        fs::write(&self.path, text).unwrap();
    }
}

#[tokio::test]
async fn a_file_that_is_not_valid_changes_nothing() {
    let file = File::new(&[REFUSE, ALLOW]);
    let (_, mut reload) = ReloadableChain::open(
        &file.path,
        &AuthorizationMode::KUBERNETES,
        of_mode,
        (Metrics::default().authorizers(), &Outbound::default()),
    )
    .unwrap();
    assert_eq!(
        reload.modes(),
        [AuthorizationMode::ALWAYS_ALLOW, AuthorizationMode::RBAC]
    );
    for (invalid, why) in [
        (&[REFUSE][..], "missing required types: [AlwaysAllow]"),
        (
            &[REFUSE, ALLOW, "{type: Node, name: node}"],
            "authorizer type Node is not allowed if it was not enabled at initial server startup",
        ),
        (&["{type: RBAC}"], "authorizers[0].name: Required value"),
    ] {
        file.write(invalid);
        let content = fs::read(&file.path).unwrap();
        assert_eq!(reload.replace(&content).await.unwrap_err().to_string(), why);
    }
    file.write(&[REFUSE, "{name: alwaysallow, type: AlwaysAllow}"]);
    let content = fs::read(&file.path).unwrap();
    assert!(!reload.replace(&content).await.unwrap(), "it means the same as before");
}

#[tokio::test]
async fn a_changed_file_takes_effect_without_a_restart() {
    let file = File::new(&[REFUSE, ALLOW]);
    let metrics = Metrics::default();
    let (followed, reload) = ReloadableChain::open(
        &file.path,
        &AuthorizationMode::KUBERNETES,
        of_mode,
        (metrics.authorizers(), &Outbound::default()),
    )
    .unwrap();
    let chain = reload.start(
        followed,
        ConfigurationMetrics::register(&metrics, "authorization", "server"),
    );
    let decide = || {
        let user = UserInfo::default();
        let attributes = Attributes::new(&user, "get", Target::Path("/version"));
        chain.authorize(&attributes).ready().expect("all authorizers are local")
    };
    assert_eq!(decide(), Decision::Deny(String::new()));
    file.write(&[ALLOW, REFUSE]);
    let begin = Instant::now();
    while decide() != Decision::ALLOW {
        assert!(begin.elapsed() < SOON, "the file is followed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

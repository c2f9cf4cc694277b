//! The cost of all that protects a server: operations with it, compared with the same operations without.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context as _, Result};
use futures_util::{StreamExt as _, TryStreamExt as _};
use http::Method;
use planesmith_e2e::{Connection, Endpoint};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::load::{self, Pool, Read, WRITERS, Writes};
use super::objects::{self, Sample};
use super::steady::cpu_of;
use super::subject::{Program, Subject};

/// The number of role bindings in the namespace of the load.
const BINDINGS: usize = 10_000;

/// The number of operations per round.
const GETS: usize = 20_000;
const CREATES: usize = 4_000;

/// The account of the load, which has the rights that it needs and no others.
const ACCOUNT: &str = "default";

const ROLE: &str = "editor";

/// True if this module measures the row called `name`.
pub(crate) fn measures(name: &str) -> bool {
    matches!(name, "get-protected" | "create-protected")
}

/// A server with roles, audit, flow control and encryption, and one with none of them.
#[derive(Debug)]
pub(crate) struct AccessCost {
    protected: Client,
    open: Client,
    divisor: usize,
    round: AtomicUsize,
    /// The files that the flags of the protected server name.
    _files: TempDir,
}

/// A server, and the credentials of an ordinary account there.
#[derive(Debug)]
struct Client {
    subject: Subject,
    endpoint: Endpoint,
}

impl AccessCost {
    /// Starts and fills both servers.
    pub(crate) async fn start(program: &Program, quick: bool) -> Result<Self> {
        std::fs::create_dir_all(&program.folder)?;
        let files = tempfile::tempdir_in(&program.folder)?;
        let protected = Client::start(program, protected_flags(files.path())?).await?;
        let open = [
            "--authorization-mode=AlwaysAllow",
            "--enable-priority-and-fairness=false",
        ];
        let open = Client::start(program, open.map(str::to_owned).into()).await?;
        eprintln!("filling a server with {BINDINGS} role bindings");
        protected.bind().await?;
        Ok(Self {
            protected,
            open,
            divisor: if quick { 5 } else { 1 },
            round: AtomicUsize::new(0),
            _files: files,
        })
    }

    /// Measures one round of the row called `name`.
    pub(crate) async fn measure(&self, name: &str) -> Result<Vec<(&'static str, f64)>> {
        let round = self.round.fetch_add(1, Ordering::Relaxed);
        let mut costs = [0.0; 2];
        for (client, cost) in [&self.protected, &self.open].into_iter().zip(&mut costs) {
            *cost = match name {
                "get-protected" => client.get(GETS / self.divisor).await?,
                _ => client.create(CREATES / self.divisor, round).await?,
            };
        }
        let [protected, open] = costs;
        eprintln!("    {protected:.1} us cpu with protection, {open:.1} without");
        Ok(match name {
            "get-protected" => vec![("get-protected", protected - open)],
            _ => vec![("create-protected", protected / open)],
        })
    }
}

/// Returns the flags that switch everything on, and writes the files that they name to `folder`.
fn protected_flags(folder: &Path) -> Result<Vec<String>> {
    let write = |name: &str, content: Value| -> Result<PathBuf> {
        let path = folder.join(name);
        std::fs::write(&path, content.to_string())?;
        Ok(path)
    };
    let policy = json!({
        "apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}],
    });
    let key = json!({"name": "key", "secret": "cGxhbmVzbWl0aCBtZWFzdXJlcyB3aXRoIHRoaXMga2U="});
    let encryption = json!({
        "apiVersion": "apiserver.config.k8s.io/v1",
        "kind": "EncryptionConfiguration",
        "resources": [{"resources": ["configmaps"], "providers": [{"aesgcm": {"keys": [key]}}, {"identity": {}}]}],
    });
    Ok(vec![
        "--authorization-mode=Node,RBAC".to_owned(),
        format!("--audit-policy-file={}", write("policy.json", policy)?.display()),
        format!("--audit-log-path={}", folder.join("audit.log").display()),
        format!(
            "--encryption-provider-config={}",
            write("encryption.json", encryption)?.display()
        ),
    ])
}

impl Client {
    async fn start(program: &Program, flags: Vec<String>) -> Result<Self> {
        let (subject, _) = Program {
            flags,
            ..program.clone()
        }
        .start()
        .await?;
        subject.prepare().await?;
        let connection = Connection::open(&subject.endpoint).await?;
        let path = format!(
            "/api/v1/namespaces/{}/serviceaccounts/{ACCOUNT}/token",
            objects::WRITTEN_NAMESPACE
        );
        let request = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}});
        let answer = connection.call(Method::POST, &path, request.to_string()).await?;
        let granted = answer.expect(201)?.json()?;
        let token = granted["status"]["token"].as_str().context("an answer has a token")?;
        let endpoint = Endpoint::new(&subject.endpoint.url(), token, None)?;
        Ok(Self { subject, endpoint })
    }

    /// Creates the role of the account, its binding, and those of many others.
    async fn bind(&self) -> Result<()> {
        let pool = Pool::open(&self.subject.endpoint, WRITERS).await?;
        let rbac = format!(
            "/apis/rbac.authorization.k8s.io/v1/namespaces/{}",
            objects::WRITTEN_NAMESPACE
        );
        let rule = json!({"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get", "create"]});
        let role = json!({"metadata": {"name": ROLE}, "rules": [rule]});
        let create = async |number: usize, path: String, object: Value| -> Result<()> {
            let connection = pool.connection(number);
            let answer = connection.call(Method::POST, &path, object.to_string()).await?;
            answer.expect(201).map(drop)
        };
        create(0, format!("{rbac}/roles"), role).await?;
        let bindings = (0..BINDINGS).map(|number| {
            let subject = match number {
                0 => json!({"kind": "ServiceAccount", "name": ACCOUNT, "namespace": objects::WRITTEN_NAMESPACE}),
                _ => json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": format!("user-{number}")}),
            };
            let binding = json!({
                "metadata": {"name": format!("binding-{number}")},
                "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ROLE},
                "subjects": [subject],
            });
            create(number, format!("{rbac}/rolebindings"), binding)
        });
        futures_util::stream::iter(bindings)
            .buffer_unordered(WRITERS)
            .try_collect()
            .await
    }

    /// Returns the processor time of a GET, in microseconds.
    async fn get(&self, total: usize) -> Result<f64> {
        let pool = Pool::open(&self.endpoint, WRITERS).await?;
        let prefix = "read-";
        let path = Sample::ConfigMap.object(objects::WRITTEN_NAMESPACE, &format!("{prefix}{}", objects::name(0)));
        if pool.connection(0).get(&path).await?.status == 404 {
            Self::writes(prefix, 1, 0).run(&pool).await?;
        }
        let read = Read::json(path);
        let (cpu, ()) = cpu_of(&self.subject, load::read(&pool, &read, total, WRITERS)).await?;
        Ok(cpu.as_secs_f64() * 1e6 / total as f64)
    }

    /// Returns the processor time of a durable create, in microseconds.
    async fn create(&self, total: usize, round: usize) -> Result<f64> {
        let pool = Pool::open(&self.endpoint, WRITERS).await?;
        let prefix = format!("round-{round}-");
        let (cpu, _) = cpu_of(&self.subject, Self::writes(&prefix, total, round).run(&pool)).await?;
        self.subject
            .clear(Sample::ConfigMap, objects::WRITTEN_NAMESPACE)
            .await?;
        Ok(cpu.as_secs_f64() * 1e6 / total as f64)
    }

    fn writes(prefix: &str, total: usize, round: usize) -> Writes<'_> {
        Writes {
            prefix,
            round,
            ..Writes::creates(Sample::ConfigMap, objects::WRITTEN_NAMESPACE, total)
        }
    }
}

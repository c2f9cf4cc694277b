//! Servers that run in the process of the test, each with its own store, address and data folder.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use clap::Parser as _;
use http::Method;
use http::header::{ACCEPT, HeaderValue};
use planesmith_control_plane::component::{Contribution, ServerContext};
use planesmith_control_plane::descriptors::Descriptors;
use planesmith_control_plane::options::Options;
use planesmith_control_plane::{Component, Program, Server};
use planesmith_e2e::{Connection, Endpoint};
use planesmith_machinery::clock::{Clock, ManualClock, SystemClock};
use planesmith_machinery::pem;
use planesmith_machinery::time::Time;
use planesmith_server::filters::{AddedFilter, Exchange, Filter, FilterPlace, Step};
use planesmith_server::lifecycle::{Signal, Signals};
use planesmith_shop::generated::PROGRAM;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const PRODUCTS: &str = "/apis/shop.example.com/v1/products";
const LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/default/leases";

/// Flags of some of the servers, by number.
const FLAGS: [(usize, &str); 2] = [
    (3, "--feature-gates=CBORServingAndStorage=true"),
    (5, "--feature-gates=CoordinatedLeaderElection=true"),
];

/// Maximum time for a server to become ready; many start at once.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// A running server.
struct Shop {
    connection: Connection,
    signal: Signal,
    running: JoinHandle<Result<()>>,
}

impl Shop {
    /// Starts a server in `folder`, with the certificates and keys in `certificates`, and with `flags`.
    async fn start(folder: &Path, certificates: &Path, flags: &[&str]) -> Self {
        Self::start_program(&PROGRAM, folder, certificates, flags).await
    }

    /// Starts a server of `program`.
    async fn start_program(program: &Program, folder: &Path, certificates: &Path, flags: &[&str]) -> Self {
        Self::start_with_clock(program, folder, certificates, flags, Arc::new(SystemClock)).await
    }

    /// Starts a server of `program` with a clock of its own.
    async fn start_with_clock(
        program: &Program,
        folder: &Path,
        certificates: &Path,
        flags: &[&str],
        clock: Arc<dyn Clock>,
    ) -> Self {
        let tokens = folder.join("tokens.csv");
        std::fs::write(&tokens, "secret,admin,1,system:masters\n").expect("the folder is writable");
        let [data, certificates, tokens] = [
            format!("--data-dir={}", folder.join("data").display()),
            format!("--cert-dir={}", certificates.display()),
            format!("--token-auth-file={}", tokens.display()),
        ];
        let common = ["planesmith-shop", "--storage=memory", "--secure-port=0"];
        let own = [data.as_str(), &certificates, &tokens];
        let options = Options::try_parse_from(common.iter().chain(&own).chain(flags));
        let mut options = options.expect("the arguments are valid");
        options.clock = clock;
        let server = Server::open(program, &options, Descriptors::current())
            .await
            .expect("the server opens");
        let endpoint = Endpoint::new(server.url(), "secret", None).expect("the URL is valid");
        let (signal, signals) = Signals::manual();
        let running = tokio::spawn(server.run(signals));
        let connection = Connection::open(&endpoint).await.expect("the server listens");
        Self {
            connection,
            signal,
            running,
        }
    }

    async fn ready(&self) {
        let ready = async {
            while self.connection.get("/readyz").await.expect("the server answers").status != 200 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(READY_WITHIN, ready)
            .await
            .expect("the server is ready");
    }

    /// True if the server answers in CBOR.
    async fn speaks_cbor(&self) -> bool {
        let request = self
            .connection
            .request(Method::GET, PRODUCTS)
            .header(ACCEPT, "application/cbor");
        let request = request.body(Vec::new().into()).expect("the request is valid");
        let answer = self.connection.finish(request).await.expect("the server answers");
        answer.status == 200
    }

    /// True if the server stores the strategy of a lease.
    async fn stores_strategies(&self) -> bool {
        let lease = json!({"metadata": {"name": "l"}, "spec": {"strategy": "OldestEmulationVersion"}});
        let lease = self.connection.call(Method::POST, LEASES, lease.to_string()).await;
        let lease = lease
            .expect("the server answers")
            .expect(201)
            .expect("the lease is valid");
        !lease.json().expect("the answer is JSON")["spec"]["strategy"].is_null()
    }

    async fn stop(self) {
        self.signal.stop();
        self.running
            .await
            .expect("the server does not panic")
            .expect("the server stops in order");
    }
}

fn product(name: &str) -> Value {
    json!({
        "apiVersion": "shop.example.com/v1", "kind": "Product", "metadata": {"name": name},
        "spec": {"title": name, "price": "1"},
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_servers_run_in_one_process() {
    const SERVERS: usize = 100;
    let root = tempfile::tempdir().unwrap();
    let certificates = root.path().join("pki");
    let mut shops = Vec::new();
    for number in 0..SERVERS {
        let folder = root.path().join(number.to_string());
        std::fs::create_dir(&folder).unwrap();
        let flags = FLAGS.iter().filter(|(of, _)| *of == number).map(|(_, flag)| *flag);
        shops.push(Shop::start(&folder, &certificates, &flags.collect::<Vec<_>>()).await);
    }
    for (number, shop) in shops.iter().enumerate() {
        shop.ready().await;
        let body = product(&format!("p{number}")).to_string();
        let created = shop.connection.call(Method::POST, PRODUCTS, body).await.unwrap();
        created.expect(201).unwrap();
    }
    for (number, shop) in shops.iter().enumerate() {
        let list: Value = shop
            .connection
            .get(PRODUCTS)
            .await
            .unwrap()
            .expect(200)
            .unwrap()
            .json()
            .unwrap();
        let names: Vec<&Value> = list["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| &item["metadata"]["name"])
            .collect();
        assert_eq!(names, [&json!(format!("p{number}"))]);
    }
    // Each answers by its own flags.
    for (number, shop) in shops.iter().enumerate() {
        let expected = FLAGS.map(|(of, _)| of == number);
        assert_eq!(
            [shop.speaks_cbor().await, shop.stores_strategies().await],
            expected,
            "{number}"
        );
    }
    // One that stops leaves the others alone.
    let mut shops = shops.into_iter();
    shops.next().unwrap().stop().await;
    for shop in shops {
        assert_eq!(shop.connection.get("/readyz").await.unwrap().status, 200);
        shop.stop().await;
    }
}

/// Returns the document at `path`, with the cells of a table if there is one.
async fn document(shop: &Shop, path: &str, accept: &str) -> Value {
    let request = shop.connection.request(Method::GET, path).header(ACCEPT, accept);
    let request = request.body(Vec::new().into()).expect("the request is valid");
    let answer = shop.connection.finish(request).await.expect("the server answers");
    answer
        .expect(200)
        .expect("the object exists")
        .json()
        .expect("the answer is JSON")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_server_stamps_by_its_own_clock() {
    const SERVER_LEASES: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";
    const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
    const STARTS: [&str; 2] = ["2001-02-03T04:05:06Z", "2040-05-06T07:08:09Z"];
    let root = tempfile::tempdir().unwrap();
    let mut shops = Vec::new();
    for start in STARTS {
        let second = start.parse::<Time>().unwrap().as_second();
        let clock = Arc::new(ManualClock::new(second.unsigned_abs() * 1000));
        let folder = root.path().join(&start[..4]);
        std::fs::create_dir(&folder).unwrap();
        let own = Arc::<ManualClock>::clone(&clock);
        let shop = Shop::start_with_clock(&PROGRAM, &folder, &folder.join("pki"), &[], own).await;
        shop.ready().await;
        let created = shop
            .connection
            .call(Method::POST, PRODUCTS, product("p").to_string())
            .await
            .unwrap();
        created.expect(201).unwrap();
        shops.push((start, clock, folder, shop));
    }
    for (start, clock, folder, shop) in shops {
        clock.advance(Duration::from_secs(3 * 3600));
        let object = document(&shop, &format!("{PRODUCTS}/p"), "application/json").await;
        assert_eq!(object["metadata"]["creationTimestamp"], start);
        assert_eq!(object["metadata"]["managedFields"][0]["time"], start);
        let table = document(&shop, &format!("{PRODUCTS}/p"), TABLE).await;
        let age = table["columnDefinitions"].as_array().unwrap().iter();
        let age = age
            .enumerate()
            .find(|(_, column)| column["name"] == "Age")
            .map(|(index, _)| &table["rows"][0]["cells"][index]);
        assert_eq!(age, Some(&json!("3h")), "{table}");
        let leases = document(&shop, SERVER_LEASES, "application/json").await;
        let renewed = leases["items"][0]["spec"]["renewTime"].as_str().unwrap_or_default();
        assert_eq!(&renewed[..19], &start[..19], "{leases}");
        let authority = std::fs::read(folder.join("pki/ca.crt")).unwrap();
        let authority = pem::first(&authority, "CERTIFICATE").expect("the file has a certificate");
        // Certificates are backdated by five minutes.
        let year = &start[2..4];
        let not_before = authority
            .windows(15)
            .find(|bytes| bytes.starts_with(&[0x17, 13]) && bytes.ends_with(b"Z"))
            .map(|bytes| String::from_utf8_lossy(&bytes[2..]).into_owned());
        assert!(not_before.is_some_and(|begin| begin.starts_with(year)), "{start}");
        shop.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_roles_of_a_private_group_are_parts_of_the_roles_for_people() {
    const VIEW: &str = "/apis/rbac.authorization.k8s.io/v1/clusterroles/view";
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::start(folder.path(), &folder.path().join("pki"), &[]).await;
    shop.ready().await;
    let aggregated = async {
        loop {
            let role: Value = shop
                .connection
                .get(VIEW)
                .await
                .unwrap()
                .expect(200)
                .unwrap()
                .json()
                .unwrap();
            let rules = role["rules"].as_array().cloned().unwrap_or_default();
            if rules
                .iter()
                .any(|rule| rule["apiGroups"] == json!(["shop.example.com"]))
            {
                break;
            }
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(READY_WITHIN, aggregated)
        .await
        .expect("the role has the rules of the shop");
    shop.stop().await;
}

/// A component with a filter, which adds the user to each answer.
#[derive(Debug)]
struct Greeting;

#[derive(Debug)]
struct GreetsUsers;

impl Component for Greeting {
    fn install<'a>(&self, _: &ServerContext<'a>) -> Result<Contribution<'a>> {
        let greets = AddedFilter {
            filter: Arc::new(GreetsUsers),
            place: FilterPlace::Authenticated,
        };
        Ok(Contribution {
            filters: vec![greets],
            ..Contribution::default()
        })
    }
}

impl Filter for GreetsUsers {
    fn name(&self) -> &'static str {
        "greeting"
    }

    fn enter<'a>(&'a self, exchange: &'a mut Exchange) -> Step<'a> {
        let user = HeaderValue::try_from(&exchange.ctx.user.name).expect("the name is a header value");
        exchange.headers.insert("x-greeted-user", user);
        Step::Continue
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_component_brings_a_filter() {
    let program = Program {
        components: &[planesmith_rbac::COMPONENT, &Greeting],
        ..PROGRAM
    };
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::start_program(&program, folder.path(), &folder.path().join("pki"), &[]).await;
    shop.ready().await;
    let answer = shop.connection.get(PRODUCTS).await.unwrap();
    assert_eq!(
        (answer.status.as_u16(), &answer.headers["x-greeted-user"]),
        (200, &HeaderValue::from_static("admin"))
    );
    shop.stop().await;
}

#[tokio::test]
async fn a_server_that_cannot_listen_leaves_its_store_closed() {
    let root = tempfile::tempdir().unwrap();
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let open = async |port: u16| {
        let options = Options::try_parse_from([
            "planesmith-shop",
            &format!("--secure-port={port}"),
            &format!("--data-dir={}", root.path().display()),
        ]);
        Server::open(&PROGRAM, &options.unwrap(), Descriptors::current()).await
    };
    let port = taken.local_addr().unwrap().port();
    let refused = open(port).await.unwrap_err().to_string();
    assert!(refused.contains("choose another --secure-port"), "{refused}");
    let server = open(0).await.expect("nothing has the folder open");
    let (signal, signals) = Signals::manual();
    signal.stop();
    server.run(signals).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_lists_their_components_has_definitions_and_api_services() {
    const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    const WIDGETS: &str = "/apis/example.com/v1/namespaces/default/widgets";
    let program = Program {
        components: &[planesmith_aggregator::COMPONENT, planesmith_extensions::COMPONENT],
        ..PROGRAM
    };
    let folder = tempfile::tempdir().unwrap();
    let shop = Shop::start_program(&program, folder.path(), &folder.path().join("pki"), &[]).await;
    shop.ready().await;
    let definition = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com", "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {"type": "object"}}}],
        },
    });
    let call = |path, body: Value| shop.connection.call(Method::POST, path, body.to_string());
    call(DEFINITIONS, definition).await.unwrap().expect(201).unwrap();
    let widget = json!({"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w"}});
    let served = async {
        while call(WIDGETS, widget.clone()).await.unwrap().status != 201 {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(READY_WITHIN, served)
        .await
        .expect("widgets are served");
    for name in ["v1.shop.example.com", "v1.example.com"] {
        let path = format!("/apis/apiregistration.k8s.io/v1/apiservices/{name}");
        let registered = async {
            while shop.connection.get(&path).await.unwrap().status != 200 {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(READY_WITHIN, registered).await.expect(name);
    }
    shop.stop().await;
}

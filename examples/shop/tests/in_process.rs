//! Servers that run in the process of the test, each with its own store, address and data folder.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use clap::Parser as _;
use http::Method;
use planesmith_control_plane::Server;
use planesmith_control_plane::descriptors::Descriptors;
use planesmith_control_plane::options::Options;
use planesmith_e2e::{Connection, Endpoint};
use planesmith_server::lifecycle::{Signal, Signals};
use planesmith_shop::generated::PROGRAM;
use serde_json::{Value, json};
use tokio::task::JoinHandle;

const PRODUCTS: &str = "/apis/shop.example.com/v1/products";

/// Maximum time for a server to become ready; many start at once.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// A running server.
struct Shop {
    connection: Connection,
    signal: Signal,
    running: JoinHandle<Result<()>>,
}

impl Shop {
    /// Starts a server in `folder`, with the certificates and keys in `certificates`.
    async fn start(folder: &Path, certificates: &Path) -> Self {
        let tokens = folder.join("tokens.csv");
        std::fs::write(&tokens, "secret,admin,1,system:masters\n").expect("the folder is writable");
        let options = Options::try_parse_from([
            "planesmith-shop",
            "--storage=memory",
            "--secure-port=0",
            &format!("--data-dir={}", folder.join("data").display()),
            &format!("--cert-dir={}", certificates.display()),
            &format!("--token-auth-file={}", tokens.display()),
        ]);
        let server = Server::open(
            &PROGRAM,
            &options.expect("the arguments are valid"),
            Descriptors::current(),
        )
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
        shops.push(Shop::start(&folder, &certificates).await);
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
    // One that stops leaves the others alone.
    let mut shops = shops.into_iter();
    shops.next().unwrap().stop().await;
    for shop in shops {
        assert_eq!(shop.connection.get("/readyz").await.unwrap().status, 200);
        shop.stop().await;
    }
}

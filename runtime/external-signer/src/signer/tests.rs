use std::convert::Infallible;
use std::path::PathBuf;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use bytes::{BufMut as _, Bytes, BytesMut};
use clap::{CommandFactory as _, FromArgMatches as _};
use futures_util::stream::{self, Iter};
use http::{HeaderMap, HeaderValue, Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo};
use planesmith_access::authentication::service_account::{Claims, KeyRing, TokenIssuer, key_set};
use planesmith_control_plane::authentication::AuthenticationContext;
use planesmith_control_plane::feature_gates::FeatureGates;
use planesmith_control_plane::options::Options;
use planesmith_control_plane::outbound::Outbound;
use planesmith_server::metrics::Metrics;
use prost::Message;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use tempfile::TempDir;
use tokio::net::UnixListener;
use tokio::task::JoinHandle;

use super::*;
use crate::COMPONENT;
use crate::protocol::{Key, Timestamp};

/// The beginning of a `SubjectPublicKeyInfo` for a key on the curve P-256, before its point.
const P256_INFO: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce,
    0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

/// The answers of the signer of a test.
struct Answers {
    pair: EcdsaKeyPair,
    header: String,
    keys: FetchKeysResponse,
    max_lifetime: i64,
    /// The number of reads of keys.
    reads: usize,
    /// Answers wait while a test locks this.
    gate: Arc<tokio::sync::Mutex<()>>,
}

/// A signer on a socket of its own, until it is dropped.
struct RunningSigner {
    folder: TempDir,
    answers: Arc<Mutex<Answers>>,
    task: Option<JoinHandle<()>>,
}

impl RunningSigner {
    /// A signer with one key, which does not listen yet.
    fn new() -> Self {
        let random = SystemRandom::new();
        let pair = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pair.as_ref(), &random).unwrap();
        let key = [&P256_INFO[..], pair.public_key().as_ref()].concat();
        let keys = FetchKeysResponse {
            keys: vec![Key {
                key_id: "one".to_owned(),
                key,
                exclude_from_oidc_discovery: false,
            }],
            data_timestamp: Some(Timestamp {
                seconds: 1_900_000_000,
                nanos: 0,
            }),
            refresh_hint_seconds: 300,
        };
        let answers = Answers {
            pair,
            header: r#"{"alg":"ES256","kid":"one","typ":"JWT"}"#.to_owned(),
            keys,
            max_lifetime: 3600,
            reads: 0,
            gate: Arc::default(),
        };
        Self {
            folder: tempfile::tempdir().unwrap(),
            answers: Arc::new(Mutex::new(answers)),
            task: None,
        }
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("signer.sock")
    }

    fn listen(mut self) -> Self {
        let listener = UnixListener::bind(self.socket()).unwrap();
        let answers = Arc::clone(&self.answers);
        self.task = Some(tokio::spawn(serve(listener, answers)));
        self
    }

    fn change(&self, change: impl FnOnce(&mut Answers)) {
        change(&mut self.answers.lock().unwrap());
    }

    async fn open(&self) -> Result<TokenSigner> {
        Signer::open(&self.socket(), ExternalSignerMetrics::register(&Metrics::default())).await
    }
}

impl Drop for RunningSigner {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
    }
}

async fn serve(listener: UnixListener, answers: Arc<Mutex<Answers>>) {
    while let Ok((stream, _)) = listener.accept().await {
        let answers = Arc::clone(&answers);
        tokio::spawn(async move {
            let service = service_fn(move |request| answer(request, Arc::clone(&answers)));
            let http = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
            // The client may break off.
            let _ = http.serve_connection(TokioIo::new(stream), service).await;
        });
    }
}

type Body = StreamBody<Iter<std::vec::IntoIter<Result<Frame<Bytes>, Infallible>>>>;

async fn answer(request: Request<Incoming>, answers: Arc<Mutex<Answers>>) -> Result<Response<Body>, Infallible> {
    let path = request.uri().path().to_owned();
    let body = request.into_body().collect().await.map(|body| body.to_bytes());
    let message = body.unwrap_or_default();
    let message = message.get(5..).unwrap_or_default();
    let gate = Arc::clone(&answers.lock().unwrap().gate);
    drop(gate.lock().await);
    let message = {
        let mut answers = answers.lock().unwrap();
        match path.as_str() {
            SIGN => answers.sign(message),
            FETCH_KEYS => {
                answers.reads += 1;
                answers.keys.encode_to_vec()
            }
            METADATA => MetadataResponse {
                max_token_expiration_seconds: answers.max_lifetime,
            }
            .encode_to_vec(),
            path => panic!("{path}"),
        }
    };
    let mut framed = BytesMut::new();
    framed.put_u8(0);
    framed.put_u32(u32::try_from(message.len()).unwrap());
    framed.extend_from_slice(&message);
    let trailers = HeaderMap::from_iter([("grpc-status".parse().unwrap(), HeaderValue::from_static("0"))]);
    let frames = vec![Ok(Frame::data(framed.freeze())), Ok(Frame::trailers(trailers))];
    let mut response = Response::new(StreamBody::new(stream::iter(frames)));
    let media_type = HeaderValue::from_static("application/grpc");
    response.headers_mut().insert(http::header::CONTENT_TYPE, media_type);
    Ok(response)
}

impl Answers {
    fn sign(&self, message: &[u8]) -> Vec<u8> {
        let request = SignRequest::decode(message).unwrap();
        let header = URL_SAFE_NO_PAD.encode(&self.header);
        let content = format!("{header}.{}", request.claims);
        let signature = self.pair.sign(&SystemRandom::new(), content.as_bytes()).unwrap();
        let signature = URL_SAFE_NO_PAD.encode(signature.as_ref());
        SignResponse { header, signature }.encode_to_vec()
    }
}

async fn signed(opened: &TokenSigner) -> Result<String, String> {
    let issuer = TokenIssuer::new("https://issuer", KeyRing::external(Arc::clone(&opened.signer)));
    let signed = issuer.sign(Claims::default()).wait().await;
    signed.map_err(|error| error.to_string())
}

#[tokio::test]
async fn a_signer_that_starts_later_is_waited_for() {
    let signer = RunningSigner::new();
    let (socket, answers) = (signer.socket(), Arc::clone(&signer.answers));
    let starts = tokio::spawn(async move {
        tokio::time::sleep(RETRY).await;
        serve(UnixListener::bind(socket).unwrap(), answers).await;
    });
    let opened = signer.open().await.unwrap();
    assert_eq!(opened.max_lifetime, Duration::from_secs(3600));
    let max_age = opened.signer.max_age();
    assert!((290..=300).contains(&max_age.as_secs()), "{max_age:?}");
    let set = key_set(&opened.signer.keys());
    assert_eq!(
        (&set["keys"][0]["kid"], &set["keys"][0]["alg"]),
        (&"one".into(), &"ES256".into())
    );
    let token = signed(&opened).await.unwrap();
    assert_eq!(token.split('.').count(), 3);
    starts.abort();
}

/// A time in which a client has tried to connect.
const RETRY: Duration = Duration::from_millis(50);

#[tokio::test]
async fn a_new_key_is_read_when_a_token_names_it() {
    let signer = RunningSigner::new().listen();
    let opened = signer.open().await.unwrap();
    signer.change(|answers| {
        answers.keys.keys[0].key_id = "two".to_owned();
        answers.header = answers.header.replace("one", "two");
    });
    assert!(opened.signer.keys().iter().all(|key| key.id() == "one"));
    signed(&opened).await.unwrap();
    assert!(opened.signer.keys().iter().all(|key| key.id() == "two"));
}

#[tokio::test]
async fn a_read_goes_on_without_the_client_that_caused_it() {
    let signer = RunningSigner::new().listen();
    let opened = signer.open().await.unwrap();
    let gate = Arc::clone(&signer.answers.lock().unwrap().gate);
    let closed = gate.lock().await;
    signer.change(|answers| answers.keys.keys[0].key_id = "two".to_owned());
    let caused = opened.signer.refresh().now_or_never();
    assert_eq!(caused, None, "the client disconnects before the answer");
    drop(closed);
    while opened.signer.keys().iter().all(|key| key.id() != "two") {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test]
async fn a_hint_without_end_is_bounded() {
    let signer = RunningSigner::new().listen();
    signer.change(|answers| answers.keys.refresh_hint_seconds = i64::MAX);
    let opened = signer.open().await.unwrap();
    let days = opened.signer.max_age().as_secs() / (24 * 60 * 60);
    assert!((364..=365).contains(&days), "{days}");
    assert_eq!(signer.answers.lock().unwrap().reads, 1);
}

#[tokio::test]
async fn unknown_keys_cause_few_reads() {
    let signer = RunningSigner::new().listen();
    let opened = signer.open().await.unwrap();
    for _ in 0..3 {
        opened.signer.refresh().await;
    }
    assert_eq!(signer.answers.lock().unwrap().reads, 2, "one at the start");
}

#[tokio::test]
async fn tokens_of_keys_that_clients_do_not_know_are_refused() {
    let signer = RunningSigner::new().listen();
    signer.change(|answers| answers.keys.keys[0].exclude_from_oidc_discovery = true);
    let opened = signer.open().await.unwrap();
    assert_eq!(key_set(&opened.signer.keys())["keys"].as_array().map(Vec::len), Some(0));
    let expected = "while validating header: key used for signing JWT (kid: one) is excluded from OIDC discovery docs";
    assert_eq!(signed(&opened).await, Err(expected.to_owned()));
}

#[tokio::test]
async fn invalid_keys_and_limits_prevent_the_start() {
    let beginning = "while initially filling key cache: while performing initial cache fill: while fetching token verification keys: ";
    let signer = RunningSigner::new().listen();
    signer.change(|answers| answers.max_lifetime = 300);
    let problem = signer.open().await.unwrap_err();
    let expected = "max token life supported by external-jwt-signer (300s) is less than acceptable (min 600s)";
    assert_eq!(problem.to_string(), expected);
    for (change, expected) in [
        (
            (|answers| answers.keys.keys[0].key = vec![1]) as fn(&mut Answers),
            "while parsing external public keys: the public key cannot be read",
        ),
        (|answers| answers.keys.keys[0].key.clear(), "found empty public key"),
        (
            |answers| answers.keys.keys[0].key_id.clear(),
            "found invalid public key id \"\"",
        ),
        (
            |answers| answers.keys.refresh_hint_seconds = 0,
            "found invalid refresh hint (0s)",
        ),
        (|answers| answers.keys.keys.clear(), "found no keys"),
        (|answers| answers.keys.data_timestamp = None, "invalid data timestamp"),
    ] {
        let signer = RunningSigner::new().listen();
        signer.change(change);
        let problem = format!("{:#}", signer.open().await.unwrap_err());
        assert!(problem.starts_with(&format!("{beginning}{expected}")), "{problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_flag_names_the_socket_of_the_signer() {
    let signer = RunningSigner::new().listen();
    let endpoint = format!("--service-account-signing-endpoint={}", signer.socket().display());
    let command = COMPONENT.flags(Options::command());
    let matches = command.try_get_matches_from(["server", &endpoint]).unwrap();
    let mut options = Options::from_arg_matches(&matches).unwrap();
    options.matches = matches;
    let context = AuthenticationContext {
        options: &options,
        gates: &FeatureGates::default(),
        metrics: &Arc::default(),
        server_name: "server",
        outbound: &Outbound::default(),
    };
    let opened = COMPONENT.token_signer(&context).unwrap().unwrap();
    assert_eq!(signed(&opened).await.unwrap().split('.').count(), 3);
    let counted = context.metrics.text();
    for line in [
        r#"apiserver_externaljwt_fetch_keys_request_total{code="OK"} 1"#,
        r#"apiserver_externaljwt_sign_request_total{code="OK"} 1"#,
        r#"apiserver_externaljwt_request_duration_seconds_count{code="OK",method="/v1.ExternalJWTSigner/Metadata"} 1"#,
        "apiserver_externaljwt_fetch_keys_data_timestamp 1900000000",
    ] {
        assert!(counted.lines().any(|found| found == line), "{line} in {counted}");
    }
}

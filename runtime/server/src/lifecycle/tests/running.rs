//! A running server with a socket.

use hyper_util::rt::TokioIo;
use tokio::task::JoinHandle;

use super::*;

struct Running {
    address: std::net::SocketAddr,
    signal: Signal,
    ended: JoinHandle<Result<(), RunError>>,
    waiting: Arc<Notify>,
}

/// Starts a server whose only resource is a core `echoes`.
async fn start(change: impl FnOnce(ApiServer) -> ApiServer) -> Running {
    let mut routes = Routes::new();
    let echo = Arc::new(Echo::new("", "echoes", Scope::Cluster, &Verb::STORED));
    let waiting = Arc::clone(&echo.waiting);
    routes.add(echo);
    let server = config(AlwaysAllow)
        .complete()
        .unwrap()
        .prepare(change(ApiServer::new("core", routes)))
        .unwrap();
    Running::of(server, waiting).await
}

impl Running {
    async fn of(server: PreparedServer, waiting: Arc<Notify>) -> Self {
        let listener = Listener::bind("127.0.0.1:0".parse().unwrap(), None).await.unwrap();
        let address = listener.local_addr().unwrap();
        let (signal, signals) = Signals::manual();
        Self {
            address,
            signal,
            ended: tokio::spawn(server.run(listener, signals)),
            waiting,
        }
    }

    async fn get(&self, path: &str) -> (StatusCode, String) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
            .await
            .unwrap();
        let connection = tokio::spawn(connection);
        let request = Request::get(path).header("host", "x").body(Body::empty()).unwrap();
        let response = sender.send_request(request).await.unwrap();
        let code = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        connection.abort();
        (code, String::from_utf8(body.to_vec()).unwrap())
    }
}

#[tokio::test]
async fn start_hooks_run_in_order_and_show_at_readyz() {
    let go_on = Arc::new(Notify::new());
    let released = Arc::clone(&go_on);
    let first_done = Arc::new(AtomicBool::new(false));
    let (first, second) = (Arc::clone(&first_done), Arc::clone(&first_done));
    let running = start(|server| {
        let inner = ApiServer::new("inner", Routes::new()).with_start_hook(Hook::new("first", move |_| async move {
            released.notified().await;
            first.store(true, Ordering::SeqCst);
            Ok(())
        }));
        let hook = Hook::new("second", move |_| async move {
            if second.load(Ordering::SeqCst) {
                Ok(())
            } else {
                Err(HookError("out of order".to_owned()))
            }
        });
        let hook = hook.after("first").with_parts(&["half"]);
        server.in_front_of(inner).with_start_hook(hook)
    })
    .await;
    let (code, body) = running.get("/readyz").await;
    assert_eq!(code, StatusCode::INTERNAL_SERVER_ERROR);
    let waiting = "[+]ping ok\n[+]log ok\n[-]poststarthook/first failed: reason withheld\n\
                   [-]poststarthook/second failed: reason withheld\n[-]poststarthook/half failed: reason withheld\n\
                   [+]shutdown ok\nreadyz check failed\n";
    assert_eq!(body, waiting);
    go_on.notify_one();
    while running.get("/readyz").await.0 != StatusCode::OK {
        tokio::task::yield_now().await;
    }
    running.signal.stop();
    running.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_path_that_a_hook_still_installs_is_503_and_not_404() {
    let go_on = Arc::new(Notify::new());
    let released = Arc::clone(&go_on);
    let running = start(|server| {
        let quick = Hook::new("quick", |_| async { Ok(()) }).installs_paths();
        let slow = Hook::new("slow", move |_| async move {
            released.notified().await;
            Ok(())
        });
        server.with_start_hook(quick).with_start_hook(slow.installs_paths())
    })
    .await;
    while !running.get("/readyz").await.1.contains("[+]poststarthook/quick ok") {
        tokio::task::yield_now().await;
    }
    for path in [
        "/apis/custom.example.com/v1/widgets",
        "/apis/custom.example.com/v1",
        "/unknown",
    ] {
        let (code, body) = running.get(path).await;
        assert_eq!(code, StatusCode::SERVICE_UNAVAILABLE, "{path}: {body}");
        assert!(body.contains(r#""retryAfterSeconds":5"#), "{path}: {body}");
    }
    go_on.notify_one();
    while running.get("/readyz").await.0 != StatusCode::OK {
        tokio::task::yield_now().await;
    }
    assert_eq!(
        running.get("/apis/custom.example.com/v1/widgets").await.0,
        StatusCode::NOT_FOUND
    );
    running.signal.stop();
    running.ended.await.unwrap().unwrap();
}

#[test]
fn hooks_of_one_name_are_refused() {
    let hook = || Hook::new("twice", |_| async { Ok(()) });
    let start = |server: ApiServer| server.with_start_hook(hook());
    let stop = |server: ApiServer| server.with_stop_hook(hook());
    let core = || ApiServer::new("core", Routes::new());
    let outer = || ApiServer::new("outer", Routes::new());
    let prepare = |chain| config(AlwaysAllow).complete().unwrap().prepare(chain);
    for chain in [
        start(outer().in_front_of(start(core()))),
        stop(outer().in_front_of(stop(core()))),
    ] {
        let error = prepare(chain).unwrap_err();
        assert_eq!(
            error.to_string(),
            "two hooks are called twice; each hook of a chain needs a name of its own"
        );
    }
    assert!(prepare(stop(start(core()))).is_ok());
}

#[tokio::test]
async fn a_failing_start_hook_ends_the_server() {
    let running =
        start(|server| server.with_start_hook(Hook::new("broken", |_| async { Err(HookError("no".to_owned())) })))
            .await;
    let error = running.ended.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "the start hook broken failed");
}

#[tokio::test]
async fn a_server_that_takes_long_to_start_lives_for_a_grace_period() {
    for (grace, code) in [(Duration::from_secs(600), 200), (Duration::ZERO, 500)] {
        let mut config = config(AlwaysAllow);
        config.livez_grace = grace;
        let server = ApiServer::new("core", Routes::new());
        let server = server.with_start_hook(Hook::new("endless", |_| std::future::pending()));
        let running = Running::of(config.complete().unwrap().prepare(server).unwrap(), Arc::default()).await;
        let (lives, healthy) = (running.get("/livez").await.0, running.get("/healthz").await.0);
        assert_eq!((lives.as_u16(), healthy.as_u16()), (code, 500));
    }
}

#[tokio::test]
async fn a_server_that_is_stopped_while_it_starts_stops_in_order() {
    let stopped = Arc::new(AtomicBool::new(false));
    let hook_ran = Arc::clone(&stopped);
    let running = start(|server| {
        server
            .with_start_hook(Hook::new("endless", |_| std::future::pending()))
            .with_stop_hook(Hook::new("last", move |_| async move {
                hook_ran.store(true, Ordering::SeqCst);
                Ok(())
            }))
    })
    .await;
    assert_eq!(running.get("/livez/ping").await.0, StatusCode::OK);
    running.signal.stop();
    running.ended.await.unwrap().unwrap();
    assert!(stopped.load(Ordering::SeqCst));
}

#[tokio::test]
async fn stopping_lets_running_requests_finish() {
    let stopped = Arc::new(AtomicBool::new(false));
    let hook_ran = Arc::clone(&stopped);
    let running = start(|server| {
        server.with_stop_hook(Hook::new("last", move |_| async move {
            hook_ran.store(true, Ordering::SeqCst);
            Ok(())
        }))
    })
    .await;
    let request = running.get("/api/v1/echoes/until-stop");
    let mut request = Box::pin(request);
    tokio::select! {
        _ = request.as_mut() => panic!("answered too early"),
        () = running.waiting.notified() => {}
    }
    running.signal.stop();
    let (code, body) = request.await;
    assert_eq!((code, body.as_str()), (StatusCode::OK, "get echoes until-stop"));
    let address = running.address;
    running.ended.await.unwrap().unwrap();
    assert!(stopped.load(Ordering::SeqCst));
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn a_second_signal_ends_at_once() {
    let running = start(|server| server).await;
    let request = running.get("/api/v1/echoes/waits");
    let mut request = Box::pin(request);
    tokio::select! {
        _ = request.as_mut() => panic!("answered too early"),
        () = running.waiting.notified() => {}
    }
    running.signal.stop();
    running.signal.stop();
    drop(request);
    assert!(matches!(running.ended.await.unwrap(), Err(RunError::Interrupted)));
}

#[tokio::test]
async fn readyz_fails_while_the_server_still_serves() {
    let mut config = config(AlwaysAllow);
    config.shutdown_delay = Duration::from_secs(3600);
    let server = config.complete().unwrap().prepare(chain()).unwrap();
    let running = Running::of(server, Arc::default()).await;
    assert_eq!(running.get("/readyz").await.0, StatusCode::OK);
    running.signal.stop();
    while running.get("/readyz").await.0 == StatusCode::OK {
        tokio::task::yield_now().await;
    }
    assert_eq!(running.get("/livez").await, (StatusCode::OK, "ok".to_owned()));
    assert_eq!(running.get("/api/v1/echoes").await.0, StatusCode::OK);
    running.signal.stop();
    assert!(matches!(running.ended.await.unwrap(), Err(RunError::Interrupted)));
}

/// A request from the network to a server without a socket.
async fn from_network(front: &crate::lifecycle::Front, path: &str, agent: &str) -> Response {
    let connection = Connection {
        peer: Some(([192, 0, 2, 1], 1).into()),
        ..Connection::default()
    };
    let request = Request::get(path).header("user-agent", agent);
    let request = request.body(Body::empty()).unwrap();
    front.serve(request, Arc::new(connection)).await
}

#[tokio::test]
async fn new_requests_are_turned_away_until_those_under_way_are_answered() {
    let (waiting, release) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
    let (began, released) = (Arc::clone(&waiting), Arc::clone(&release));
    let slow = get(move || async move {
        began.notify_one();
        released.notified().await;
        "done"
    });
    let mut config = config(AlwaysAllow);
    config.shutdown_retry_after = true;
    let server = config.complete().unwrap();
    let server = server.prepare(chain().with_path("/slow", slow)).unwrap();
    let front = server.front();
    let running = Running::of(server, waiting).await;
    let mut request = Box::pin(running.get("/slow"));
    tokio::select! {
        _ = request.as_mut() => panic!("answered too early"),
        () = running.waiting.notified() => {}
    }
    running.signal.stop();
    let path = "/api/v1/echoes";
    while running.get(path).await.0 == StatusCode::OK {
        tokio::task::yield_now().await;
    }
    let text = "The apiserver is shutting down, please try again later.\n".to_owned();
    assert_eq!(running.get(path).await, (StatusCode::TOO_MANY_REQUESTS, text));
    let refused = from_network(&front, path, "kubectl/v1.36.0").await;
    assert_eq!(refused.headers()["retry-after"], "5");
    assert_eq!(refused.headers()["connection"], "close");
    let of_server = from_network(&front, path, "kube-apiserver/v1.36.0").await;
    assert_eq!(of_server.status(), StatusCode::OK);
    drop(of_server);
    assert_eq!(running.get("/livez").await.0, StatusCode::OK);
    release.notify_one();
    assert_eq!(request.await, (StatusCode::OK, "done".to_owned()));
    let address = running.address;
    running.ended.await.unwrap().unwrap();
    assert!(TcpStream::connect(address).await.is_err());
}

#[tokio::test]
async fn watches_are_waited_for_within_their_grace_period() {
    let mut config = config(AlwaysAllow);
    config.shutdown_retry_after = true;
    config.watch_grace = Duration::from_secs(3600);
    let server = prepared(config);
    let mut watch = server.front().shutdown.clone().of_watch();
    let running = Running::of(server, Arc::default()).await;
    running.signal.stop();
    watch.requested().await;
    // The server listens as long as the watch has not ended.
    assert_eq!(running.get("/livez").await.0, StatusCode::OK);
    assert!(!running.ended.is_finished());
    drop(watch);
    running.ended.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_server_that_was_never_ready_refuses_requests() {
    let go_on = Arc::new(Notify::new());
    let released = Arc::clone(&go_on);
    let mut config = config(AlwaysAllow);
    config.refuse_until_ready = true;
    let hook = Hook::new("slow", move |_| async move {
        released.notified().await;
        Ok(())
    });
    let server = config.complete().unwrap();
    let server = server.prepare(chain().with_start_hook(hook)).unwrap();
    let front = server.front();
    let running = Running::of(server, Arc::default()).await;
    let path = "/api/v1/echoes";
    let (code, body) = running.get(path).await;
    assert_eq!(code, StatusCode::SERVICE_UNAVAILABLE);
    let text = "The apiserver hasn't been fully initialized yet, please try again later.\n";
    assert_eq!(body, text);
    assert_eq!(from_network(&front, path, "x").await.headers()["retry-after"], "5");
    assert_eq!(running.get("/livez/ping").await.0, StatusCode::OK);
    let inside = Request::get(path).body(Body::empty()).unwrap();
    let inside = front.serve(inside, Arc::new(Connection::default())).await;
    assert_eq!(inside.status(), StatusCode::OK);
    go_on.notify_one();
    while running.get(path).await.0 != StatusCode::OK {
        tokio::task::yield_now().await;
    }
    running.signal.stop();
    running.ended.await.unwrap().unwrap();
}

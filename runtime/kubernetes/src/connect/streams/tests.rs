use futures_util::FutureExt;
use http::Request;
use planesmith_access::authorization::AuthorizationOutcome;
use planesmith_server::request::{Context, RequestInfo};
use planesmith_server::shutdown::Stop;

use super::*;

/// Allows all users to read, and some users to create streams of commands.
#[derive(Debug)]
struct Reading(&'static str);

impl Authorizer for Reading {
    fn authorize(&self, attributes: &Attributes<'_>) -> AuthorizationOutcome {
        let authorization::Target::Resource {
            resource,
            subresource,
            namespace,
            name,
            ..
        } = attributes.target
        else {
            return Decision::Failed("no resource".to_owned()).into();
        };
        match attributes.verb {
            "create" if subresource != self.0 => {
                Decision::NoOpinion(format!("no {resource}/{subresource} {namespace}/{name}")).into()
            }
            _ => AuthorizationOutcome::ALLOW,
        }
    }
}

fn call(method: &str, stream: &str) -> Call {
    let uri = format!("/api/v1/namespaces/a/pods/p/{stream}");
    let request = Request::builder().method(method).uri(uri);
    let parts = request.body(()).unwrap().into_parts().0;
    let (_, shutdown) = Stop::new();
    let mut ctx = Context::unknown(shutdown);
    ctx.info = Arc::new(RequestInfo::new(&parts.method, &parts.uri));
    Call::new(ctx, parts)
}

#[test]
fn a_stream_opened_with_get_needs_the_permission_to_create() {
    let authorizer = Reading("exec");
    let authorize = |method: &str, stream: Stream| {
        let call = call(method, stream.name());
        let authorized = authorize_create(&authorizer, stream, &call).now_or_never();
        authorized
            .expect("nothing waits")
            .map_err(|error| (error.code(), error.message().to_owned()))
    };
    assert_eq!(authorize("GET", Stream::Exec), Ok(()));
    // The authorization filter has checked this one already.
    assert_eq!(authorize("POST", Stream::Attach), Ok(()));
    for stream in [Stream::Attach, Stream::PortForward] {
        let why = format!("pods \"p\" is forbidden: no pods/{} a/p", stream.name());
        assert_eq!(authorize("GET", stream), Err((403, why)));
    }
}

#[test]
fn several_ports_fit_in_one_parameter() {
    let ports = |query: &str| {
        let parts = Request::get(format!("/?{query}")).body(()).unwrap().into_parts().0;
        let (_, shutdown) = Stop::new();
        let call = Call::new(Context::unknown(shutdown), parts);
        let wishes = Stream::PortForward.wishes(Parameters(call.query()));
        wishes
            .map(|wishes| wishes.query())
            .map_err(|error| error.message().to_owned())
    };
    assert_eq!(ports(""), Ok(String::new()));
    assert_eq!(ports("ports=80,443&ports=8080"), Ok("port=80%2C443%2C8080".to_owned()));
    for (wrong, why) in [
        ("80,", "parsing \"\": invalid syntax"),
        ("%2B1", "parsing \"+1\": invalid syntax"),
        ("65536", "parsing \"65536\": value out of range"),
    ] {
        let expected = format!("cannot convert to []int32: strconv.ParseUint: {why}");
        assert_eq!(ports(&format!("ports={wrong}")), Err(expected));
    }
}

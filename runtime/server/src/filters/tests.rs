use std::time::SystemTime;

use planesmith_access::authentication::{Chain, RequestHeaderAuthenticator, RequestHeaders};

use super::authentication::Authentication;
use super::*;
use crate::metrics::SharedMetrics;
use crate::shutdown::Stop;

#[test]
fn nobody_says_in_the_name_of_a_proxy_who_asks() {
    let proxies = RequestHeaders {
        username: vec!["X-User".to_owned(), "X-Remote-User".to_owned()],
        extra_prefix: vec!["X-More-".to_owned()],
        ..RequestHeaders::default()
    };
    let proxies = RequestHeaderAuthenticator::new(proxies, SystemTime::now);
    let chain = Chain::new(vec![Box::new(proxies)], true);
    let filter = Authentication::new(Arc::new(chain), SharedMetrics::default());
    let mut request = Request::get("/apis/shop.example.com/v1/orders");
    for name in ["x-user", "x-more-scopes", "x-remote-user", "x-remote-group", "accept"] {
        request = request.header(name, "admin");
    }
    let (_stop, shutdown) = Stop::new();
    let request = request.body(Body::empty()).unwrap();
    let mut exchange = Exchange::new(request, Arc::new(Connection::default()), shutdown);
    assert!(matches!(filter.enter(&mut exchange), Step::Continue));
    let left: Vec<_> = exchange.request.headers().keys().collect();
    assert_eq!(left, ["accept"]);
}

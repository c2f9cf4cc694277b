use super::*;
use crate::outbound::Network;

/// The connections of a server whose file has these selections, in the notation of YAML.
fn outbound(selections: &str) -> Result<Outbound, String> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("egress.yaml");
    let head = "apiVersion: apiserver.k8s.io/v1beta1\nkind: EgressSelectorConfiguration\negressSelections:\n";
    fs::write(&file, format!("{head}{selections}")).unwrap();
    let options = EgressSelectorOptions {
        egress_selector_config_file: Some(file),
    };
    options.check()?;
    options.outbound().map_err(|error| format!("{error:#}"))
}

#[test]
fn selections_are_for_their_networks_alone() {
    let selections = "- {name: cluster, connection: {proxyProtocol: GRPC, transport: {uds: {udsName: /run/k.sock}}}}\n\
                      - {name: Etcd, connection: {proxyProtocol: Direct}}\n";
    let outbound = outbound(selections).unwrap();
    let cluster = format!("{:?}", outbound.dialer(Network::Cluster));
    assert!(cluster.contains("Konnectivity(\"/run/k.sock\")"), "{cluster}");
    assert!(outbound.selected(Network::Etcd).is_some());
    assert!(outbound.selected(Network::ControlPlane).is_none());
    for direct in [outbound.dialer(Network::ControlPlane), outbound.dialer(Network::Etcd)] {
        assert!(format!("{direct:?}").contains("proxy: None"), "{direct:?}");
    }
}

#[test]
fn a_server_without_a_file_has_no_selector() {
    let options = EgressSelectorOptions {
        egress_selector_config_file: None,
    };
    assert!(!options.outbound().unwrap().has_selector());
    assert!(!outbound("").unwrap().has_selector());
}

#[test]
fn addresses_of_proxies_have_a_port() {
    let http = |url: &str| {
        let transport = format!("{{tcp: {{url: '{url}'}}}}");
        outbound(&format!(
            "- {{name: cluster, connection: {{proxyProtocol: HTTPConnect, transport: {transport}}}}}\n"
        ))
    };
    let outbound = http("http://[2001:db8::1]:8131").unwrap();
    let dialer = format!("{:?}", outbound.dialer(Network::Cluster));
    assert!(dialer.contains("host: \"2001:db8::1\", port: 8131"), "{dialer}");
    for url in ["http://proxy.example", "http://:8131", "http://"] {
        let problem = http(url).map(drop).unwrap_err();
        assert!(
            problem.ends_with(&format!("invalid proxy server url {url:?}; expected a host and a port")),
            "{problem}"
        );
    }
}

#[test]
fn certificates_are_read_at_the_start() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.pem");
    fs::write(&empty, "").unwrap();
    let file = empty.display();
    let tls = format!("{{clientCert: {file}, clientKey: {file}}}");
    let transport = format!("{{tcp: {{url: 'https://proxy.example:8131', tlsConfig: {tls}}}}}");
    let selection =
        format!("- {{name: cluster, connection: {{proxyProtocol: HTTPConnect, transport: {transport}}}}}\n");
    let problem = outbound(&selection).map(drop).unwrap_err();
    let expected = "--egress-selector-config-file: failed to create dialer for egressSelection \"cluster\": the TLS settings \
                    cannot be used";
    assert!(problem.starts_with(expected), "{problem}");
}

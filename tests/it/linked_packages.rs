//! The packages and features that the servers are linked with.

use std::process::Command;

use anyhow::{Context as _, Result, ensure};

/// Returns the packages, and the features of packages, that a package of this workspace is linked with by default, or without
/// its own features.
fn linked_with(package: &str, features: Option<&str>) -> Result<String> {
    let tree = [
        "tree",
        "--offline",
        "--edges=normal,features",
        "--prefix=none",
        "--package",
        package,
    ];
    let output = Command::new(env!("CARGO"))
        .args(tree)
        .args(features)
        .output()
        .context("cargo tree")?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn a_small_server_with_a_private_group_is_linked_with_no_built_in_kinds() {
    let built_in = [
        "planesmith-kubernetes v",
        "planesmith-api-defs feature \"kubernetes\"",
        "planesmith-api-defs feature \"admissionregistration\"",
        "planesmith-api-defs feature \"apiextensions\"",
        "planesmith-api-defs feature \"apiregistration\"",
        "planesmith-flow-control v",
        "planesmith-streams v",
        "planesmith-aggregator v",
        "planesmith-dynamic-admission v",
        "planesmith-extensions v",
        "planesmith-expressions v",
        "planesmith-audit v",
        "planesmith-authorization v",
        "planesmith-openid v",
        "planesmith-external-signer v",
        "planesmith-trace-export v",
        "planesmith-encrypted-storage v",
        "planesmith-encryption v",
        "aes v",
        "planesmith-etcd-storage v",
        "planesmith-store-etcd v",
        "opentelemetry v",
        "tonic v",
        "rsa v",
        "tikv-jemallocator v",
    ];
    let planesmith = linked_with("planesmith", None).unwrap();
    let shop = linked_with("planesmith-shop", Some("--no-default-features")).unwrap();
    for part in built_in {
        assert!(planesmith.contains(part), "{part} in {planesmith}");
        assert!(!shop.contains(part), "{part} in {shop}");
    }
}

#[test]
fn servers_are_linked_with_no_test_support() {
    for server in ["planesmith", "planesmith-shop"] {
        let linked = linked_with(server, None).unwrap();
        assert!(!linked.contains("feature \"testing\""), "{linked}");
    }
}

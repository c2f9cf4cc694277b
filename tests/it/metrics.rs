//! Metrics, and log messages about slow requests.

use std::time::Duration;

use http::Method;
use planesmith_e2e::{Binary, Home};

use crate::objects::{CONFIG_MAPS, config_map};

/// Metrics that dashboards and alerts for kube-apiserver rely on, with labels that identify all required series.
const EXPECTED: &[&str] = &[
    r#"apiserver_request_total{code="201",component="apiserver",dry_run="",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1"} "#,
    r#"apiserver_request_total{code="200",component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1"} 1"#,
    r#"apiserver_request_duration_seconds_bucket{component="apiserver",dry_run="",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1",le="0.005"}"#,
    r#"apiserver_request_sli_duration_seconds_bucket{component="apiserver",group="",resource="configmaps",scope="resource",subresource="",verb="POST",version="v1",le="0.05"}"#,
    r#"apiserver_response_sizes_bucket{component="apiserver",group="",resource="configmaps",scope="namespace",subresource="",verb="LIST",version="v1",le="1000"}"#,
    r#"apiserver_request_body_size_bytes_count{group="",resource="configmaps",verb="create"} "#,
    r#"apiserver_longrunning_requests{component="apiserver",group="",resource="configmaps",scope="cluster",subresource="",verb="WATCH",version="v1"} 1"#,
    r#"apiserver_watch_events_total{group="",resource="configmaps",version="v1"} "#,
    r#"apiserver_watch_events_sizes_bucket{group="",resource="configmaps",version="v1",le="1024"} "#,
    r#"apiserver_init_events_total{group="",resource="configmaps"} "#,
    r#"apiserver_resource_objects{group="apps",resource="deployments"} 0"#,
    r#"apiserver_storage_objects{resource="deployments.apps"} 0"#,
    r#"apiserver_resource_objects{group="",resource="events"} "#,
    r#"apiserver_resource_size_estimate_bytes{group="",resource="configmaps"} "#,
    r#"apiserver_storage_events_received_total{group="",resource="configmaps"} "#,
    r#"apiserver_watch_cache_events_received_total{group="",resource="configmaps"} "#,
    r#"apiserver_watch_cache_events_dispatched_total{group="",resource="configmaps"} "#,
    r#"apiserver_watch_cache_resource_version{group="",resource="configmaps"} "#,
    r#"watch_cache_capacity{group="",resource="configmaps"} "#,
    r#"apiserver_watch_cache_initializations_total{group="",resource="configmaps"} 1"#,
    r#"apiserver_cache_list_fetched_objects_total{group="",index="",resource="configmaps"} "#,
    r#"kube_apiserver_clusterip_allocator_allocated_ips{cidr="10.0.0.0/24"} 1"#,
    r#"kube_apiserver_clusterip_allocator_available_ips{cidr="10.0.0.0/24"} 253"#,
    r#"kube_apiserver_clusterip_allocator_allocation_total{cidr="10.0.0.0/24",scope="static"} 1"#,
    "kube_apiserver_nodeport_allocator_allocated_ports 0",
    "kube_apiserver_nodeport_allocator_available_ports 2768",
    r#"pod_security_evaluations_total{decision="allow",mode="enforce",policy_level="privileged",policy_version="latest",request_operation="create",resource="pod",subresource=""} 0"#,
    r#"rest_client_requests_total{code="201",host="localhost",method="POST"} "#,
    r#"rest_client_request_duration_seconds_bucket{host="localhost",verb="POST",le="0.005"} "#,
    r#"version_info{binary="1.36",component="kube",emulation="1.36",min_compat="1.35"} 1"#,
    r#"apiserver_storage_size_bytes{storage_cluster_id="etcd-0"} "#,
    r#"etcd_request_duration_seconds_count{group="",operation="create",resource="configmaps"} "#,
    r#"apiserver_admission_controller_admission_duration_seconds_count{name="NamespaceLifecycle",operation="CREATE",rejected="false",type="admit"} "#,
    r#"apiserver_admission_step_admission_duration_seconds_count{operation="CREATE",rejected="false",type="validate"} "#,
    r#"authentication_attempts{result="success"} "#,
    r#"authentication_token_cache_request_total{status="miss"} "#,
    r#"authenticated_user_requests{username="admin"} "#,
    r#"authorization_attempts_total{result="allowed"} "#,
    r#"apiserver_current_inflight_requests{request_kind="mutating"} 0"#,
    r#"apiserver_current_inqueue_requests{request_kind="readOnly"} 0"#,
    r#"workqueue_depth{name="garbage_collector_attempt_to_delete"} "#,
    r#"workqueue_queue_duration_seconds_count{name="namespace"} "#,
    "apiserver_envelope_encryption_dek_cache_fill_percent 0",
    "apiserver_storage_envelope_transformation_cache_misses_total 0",
    "# TYPE process_cpu_seconds_total counter",
    "process_max_fds ",
    r#"kubernetes_feature_enabled{name="CBORServingAndStorage",stage="ALPHA"} 0"#,
    "kubernetes_build_info{",
];

/// The time limit for the server's internal requests.
const TIMEOUT: Duration = Duration::from_secs(60);

#[tokio::test]
async fn dashboards_find_what_they_know() {
    let home = Home::new().unwrap();
    let server = home
        .start(&Binary::Planesmith.path().unwrap(), &["--storage=memory"])
        .await
        .unwrap();
    let connection = server.connect().await.unwrap();
    let made = connection
        .call(Method::POST, CONFIG_MAPS, config_map("a", "b"))
        .await
        .unwrap();
    assert_eq!(made.status, 201, "{}", made.excerpt());
    connection.get(CONFIG_MAPS).await.unwrap().expect(200).unwrap();
    let mut watch = connection.watch("/api/v1/configmaps?watch=1").await.unwrap();
    watch.event().await.unwrap().unwrap();
    let mut text = String::new();
    let shown = async {
        // The server's internal requests are in flight now and then.
        while text.is_empty() || !missing(&text).is_empty() {
            let answer = connection.get("/metrics").await.unwrap().body;
            text = String::from_utf8_lossy(&answer).into_owned();
        }
    };
    let shown = tokio::time::timeout(TIMEOUT, shown).await;
    assert!(shown.is_ok(), "{:?} is missing in\n{text}", missing(&text));
}

/// Returns the expected lines that are missing.
fn missing(text: &str) -> Vec<&'static str> {
    let is_missing = |line: &&'static str| !text.lines().any(|shown| shown.starts_with(*line));
    EXPECTED.iter().copied().filter(is_missing).collect()
}

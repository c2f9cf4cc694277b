//! Flags about kubelets.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use planesmith_control_plane::options::parse_go_duration;

/// Flags about kubelets, which serve logs and streams of pods.
#[derive(Args, Clone, Debug)]
pub struct KubeletOptions {
    /// Client certificate, PEM, that the server shows to kubelets; needs --kubelet-client-key.
    #[arg(long, value_name = "FILE", requires = "kubelet_client_key")]
    pub kubelet_client_certificate: Option<PathBuf>,

    /// Key of the client certificate for kubelets, PEM.
    #[arg(long, value_name = "FILE", requires = "kubelet_client_certificate")]
    pub kubelet_client_key: Option<PathBuf>,

    /// Authorities, PEM, of the certificates of kubelets; without them any certificate is accepted.
    #[arg(long, value_name = "FILE")]
    pub kubelet_certificate_authority: Option<PathBuf>,

    /// Addresses of a node to reach its kubelet by, the preferred one first.
    #[arg(
        long,
        value_delimiter = ',',
        default_value = "Hostname,InternalDNS,InternalIP,ExternalDNS,ExternalIP",
        value_name = "TYPES"
    )]
    pub kubelet_preferred_address_types: Vec<String>,

    /// Time limit for connecting to a kubelet.
    #[arg(long, default_value = "5s", value_parser = parse_go_duration, value_name = "DURATION")]
    pub kubelet_timeout: Duration,

    /// Port of kubelets whose nodes do not report one.
    #[arg(long, default_value_t = 10250, value_name = "PORT", hide = true)]
    pub kubelet_port: u16,
}

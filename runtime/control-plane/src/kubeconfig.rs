//! The administrator's kubeconfig.

use std::fs;
use std::io;
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::certificates::CertificatePair;
use crate::private_file::write_private;

/// Writes a kubeconfig for `server` with the client certificate inside (0600).
///
/// # Errors
///
/// When the certificate cannot be read or the file cannot be written.
pub fn write_kubeconfig(path: &Path, server: &str, authority_pem: &str, client: &CertificatePair) -> io::Result<()> {
    let authority = STANDARD.encode(authority_pem);
    let certificate = STANDARD.encode(fs::read(&client.certificate)?);
    let key = STANDARD.encode(fs::read(&client.key)?);
    let text = format!(
        "apiVersion: v1\n\
         kind: Config\n\
         clusters:\n\
         - name: planesmith\n  \
           cluster:\n    \
             server: {server}\n    \
             certificate-authority-data: {authority}\n\
         users:\n\
         - name: admin\n  \
           user:\n    \
             client-certificate-data: {certificate}\n    \
             client-key-data: {key}\n\
         contexts:\n\
         - name: planesmith\n  \
           context:\n    \
             cluster: planesmith\n    \
             user: admin\n\
         current-context: planesmith\n"
    );
    write_private(path, text.as_bytes())
}

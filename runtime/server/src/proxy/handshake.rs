//! Errors of TLS handshakes, in the words of Go, which clients know.

use std::io;

use planesmith_machinery::time::Time;
use rustls::pki_types::{ServerName, UnixTime};
use rustls::{AlertDescription, CertificateError, Error, InvalidMessage};

/// A failed handshake in Go's words.
pub(super) fn go_message(error: &io::Error) -> String {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    match inner {
        Some(Error::InvalidCertificate(problem)) => {
            format!("tls: failed to verify certificate: x509: {}", certificate(problem))
        }
        Some(Error::AlertReceived(alert)) => format!("remote error: tls: {}", alert_text(*alert)),
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            "tls: first record does not look like a TLS handshake".to_owned()
        }
        Some(other) => format!("tls: {other}"),
        None => match error.kind() {
            io::ErrorKind::UnexpectedEof => "EOF".to_owned(),
            io::ErrorKind::TimedOut => "net/http: TLS handshake timeout".to_owned(),
            io::ErrorKind::ConnectionReset => "read: connection reset by peer".to_owned(),
            _ => format!("tls: {error}"),
        },
    }
}

fn certificate(problem: &CertificateError) -> String {
    let expired = "certificate has expired or is not yet valid";
    let at = |time: &UnixTime| Time::from_second(i64::try_from(time.as_secs()).unwrap_or(i64::MAX));
    match problem {
        // A signature by another key of that name counts as one of an unknown authority.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired | CertificateError::NotValidYet => expired.to_owned(),
        CertificateError::ExpiredContext { time, not_after } => {
            format!("{expired}: current time {} is after {}", at(time), at(not_after))
        }
        CertificateError::NotValidYetContext { time, not_before } => {
            format!("{expired}: current time {} is before {}", at(time), at(not_before))
        }
        CertificateError::NotValidForNameContext { expected, presented } => other_name(expected, presented),
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "certificate specifies an incompatible key usage".to_owned()
        }
        CertificateError::UnhandledCriticalExtension => "unhandled critical extension".to_owned(),
        CertificateError::BadEncoding => "malformed certificate".to_owned(),
        CertificateError::UnsupportedSignatureAlgorithmContext { .. }
        | CertificateError::UnsupportedSignatureAlgorithmForPublicKeyContext { .. } => {
            "cannot verify signature: algorithm unimplemented".to_owned()
        }
        // webpki has no code for these.
        CertificateError::Other(problem) => match problem.to_string() {
            // The CA is not a trusted authority, or its certificate would have been trusted directly.
            problem if problem.contains("CaUsedAsEndEntity") => "certificate signed by unknown authority".to_owned(),
            problem if problem.contains("EndEntityUsedAsCa") => {
                "certificate is not authorized to sign other certificates".to_owned()
            }
            problem => problem,
        },
        other => other.to_string(),
    }
}

/// The message for a certificate that is not for `expected`; `presented` are its names as webpki prints them.
fn other_name(expected: &ServerName<'_>, presented: &[String]) -> String {
    let (kind, wanted) = match expected {
        ServerName::IpAddress(address) => ("IpAddress", std::net::IpAddr::from(*address).to_string()),
        name => ("DnsName", name.to_str().into_owned()),
    };
    let of_kind = presented.iter().filter_map(|name| {
        let name = name.strip_prefix(kind)?.strip_prefix('(')?.strip_suffix(')')?;
        Some(name.trim_matches('"'))
    });
    let names: Vec<&str> = of_kind.collect();
    match (kind, names.is_empty()) {
        (_, false) => format!("certificate is valid for {}, not {wanted}", names.join(", ")),
        ("IpAddress", true) => {
            format!("cannot validate certificate for {wanted} because it doesn't contain any IP SANs")
        }
        _ => format!("certificate is not valid for any names, but wanted to match {wanted}"),
    }
}

fn alert_text(alert: AlertDescription) -> String {
    let text = match alert {
        AlertDescription::UnexpectedMessage => "unexpected message",
        AlertDescription::HandshakeFailure => "handshake failure",
        AlertDescription::BadCertificate => "bad certificate",
        AlertDescription::UnsupportedCertificate => "unsupported certificate",
        AlertDescription::CertificateRevoked => "revoked certificate",
        AlertDescription::CertificateExpired => "expired certificate",
        AlertDescription::CertificateUnknown => "unknown certificate",
        AlertDescription::IllegalParameter => "illegal parameter",
        AlertDescription::UnknownCA => "unknown certificate authority",
        AlertDescription::AccessDenied => "access denied",
        AlertDescription::DecodeError => "error decoding message",
        AlertDescription::DecryptError => "error decrypting message",
        AlertDescription::ProtocolVersion => "protocol version not supported",
        AlertDescription::InsufficientSecurity => "insufficient security level",
        AlertDescription::InternalError => "internal error",
        AlertDescription::UnrecognisedName => "unrecognized name",
        AlertDescription::CertificateRequired => "certificate required",
        AlertDescription::NoApplicationProtocol => "no application protocol",
        other => return format!("alert({})", u8::from(other)),
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use rustls::OtherError;

    use super::*;

    fn said(error: Error) -> String {
        go_message(&io::Error::new(io::ErrorKind::InvalidData, error))
    }

    fn not_valid_for(name: &str, presented: &[&str]) -> String {
        said(Error::InvalidCertificate(CertificateError::NotValidForNameContext {
            expected: ServerName::try_from(name.to_owned()).unwrap(),
            presented: presented.iter().map(|&name| name.to_owned()).collect(),
        }))
    }

    #[test]
    fn authorities_that_nobody_knows() {
        let expected = "tls: failed to verify certificate: x509: certificate signed by unknown authority";
        let odd = OtherError(Arc::new(io::Error::other("CaUsedAsEndEntity")));
        for problem in [
            CertificateError::UnknownIssuer,
            CertificateError::BadSignature,
            CertificateError::Other(odd),
        ] {
            assert_eq!(said(Error::InvalidCertificate(problem)), expected);
        }
    }

    #[test]
    fn names_that_a_certificate_has_not() {
        let presented = [
            "DnsName(\"a.example\")",
            "DnsName(\"b.example\")",
            "IpAddress(192.0.2.1)",
        ];
        for (name, presented, expected) in [
            (
                "c.example",
                &presented[..],
                "certificate is valid for a.example, b.example, not c.example",
            ),
            (
                "192.0.2.2",
                &presented[..],
                "certificate is valid for 192.0.2.1, not 192.0.2.2",
            ),
            (
                "192.0.2.2",
                &presented[..1],
                "cannot validate certificate for 192.0.2.2 because it doesn't contain any IP SANs",
            ),
            (
                "c.example",
                &[],
                "certificate is not valid for any names, but wanted to match c.example",
            ),
        ] {
            let expected = format!("tls: failed to verify certificate: x509: {expected}");
            assert_eq!(not_valid_for(name, presented), expected);
        }
    }

    #[test]
    fn times_that_are_over() {
        let at = |seconds| UnixTime::since_unix_epoch(Duration::from_secs(seconds));
        let expired = CertificateError::ExpiredContext {
            time: at(1_700_000_000),
            not_after: at(1_600_000_000),
        };
        assert_eq!(
            said(Error::InvalidCertificate(expired)),
            "tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time \
             2023-11-14T22:13:20Z is after 2020-09-13T12:26:40Z"
        );
    }

    #[test]
    fn a_peer_that_closes_or_speaks_another_protocol_is_an_error() {
        assert_eq!(
            said(Error::AlertReceived(AlertDescription::CertificateRequired)),
            "remote error: tls: certificate required"
        );
        assert_eq!(
            said(Error::AlertReceived(AlertDescription::Unknown(200))),
            "remote error: tls: alert(200)"
        );
        assert_eq!(go_message(&io::ErrorKind::UnexpectedEof.into()), "EOF");
        assert_eq!(
            go_message(&io::ErrorKind::TimedOut.into()),
            "net/http: TLS handshake timeout"
        );
    }
}

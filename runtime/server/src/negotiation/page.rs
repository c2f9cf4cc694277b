//! The output of pages about the process: text for people, unless the client requests a document by its kind and
//! version.

use http::request::Parts;
use planesmith_machinery::feature::Features;
use planesmith_machinery::status::{ApiError, ApiResult};

use super::accept::{self, Clause};
use super::{Acceptable, Format, Output, accept_header, choose, wants_indentation};
use crate::request::features_of;

/// The API group of the documents of such pages.
pub(crate) const GROUP: &str = "config.k8s.io";

const TEXT: &str = "text/plain";

/// The negotiated output of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PageOutput {
    /// Lines of text.
    Text,
    /// An API object.
    Document { output: Output, version: &'static str },
}

/// Negotiates the output of the page whose documents are of the kind `kind`.
///
/// # Errors
///
/// 406 when the client accepts none of the offered outputs. A document is offered only to clients that name its exact
/// kind and version.
pub(crate) fn negotiate_page(request: &Parts, kind: &str) -> ApiResult<PageOutput> {
    let header = accept_header(request);
    if header.is_empty() {
        return Ok(PageOutput::Text);
    }
    let features = features_of(request);
    let mut clauses = accept::clauses(header).into_iter();
    let chosen = clauses.find_map(|clause| form(&clause, kind, features));
    match chosen {
        Some(PageOutput::Document { mut output, version }) => {
            output.pretty |= wants_indentation(request);
            Ok(PageOutput::Document { output, version })
        }
        Some(PageOutput::Text) => Ok(PageOutput::Text),
        None => {
            let formats = formats(features).map(Format::media_type);
            // Lists text/plain before feature-gated types.
            let (usual, added): (Vec<_>, Vec<_>) = formats.partition(|name| *name != Format::Cbor.media_type());
            Err(ApiError::not_acceptable(&[&usual[..], &[TEXT], &added[..]].concat()))
        }
    }
}

/// The encoding of the error for a client that accepts no form of the page.
pub(crate) fn negotiate_refusal(request: &Parts) -> Output {
    let agreed = choose(request, Acceptable::Plain, |output| is_declared(output.format));
    let mut output = agreed.unwrap_or(Output {
        pretty: true,
        ..Output::json()
    });
    output.pretty |= wants_indentation(request);
    output
}

/// The encodings of documents of pages.
fn formats(features: &Features) -> impl Iterator<Item = Format> + use<> {
    Format::all(features)
        .iter()
        .copied()
        .filter(|format| is_declared(*format))
}

/// True for all encodings but protobuf, in which pages are not declared.
fn is_declared(format: Format) -> bool {
    format != Format::Protobuf
}

fn form(clause: &Clause<'_>, kind: &str, features: &Features) -> Option<PageOutput> {
    let (mut wanted, mut group, mut version) = (None, None, None);
    let mut pretty = false;
    for (name, value) in &clause.parameters {
        match *name {
            "as" => wanted = Some(*value),
            "g" => group = Some(*value),
            "v" => version = Some(*value),
            "stream" | "sv" if !value.is_empty() => return None,
            "pretty" => pretty = *value == "1",
            _ => {}
        }
    }
    if wanted.is_none() && group.is_none() && version.is_none() {
        return clause.matches(TEXT).then_some(PageOutput::Text);
    }
    let version = ["v1alpha1", "v1beta1"]
        .into_iter()
        .find(|known| version == Some(known))?;
    if wanted != Some(kind) || group != Some(GROUP) {
        return None;
    }
    let format = formats(features).find(|format| clause.matches(format.media_type()))?;
    let output = Output {
        format,
        pretty,
        ..Output::json()
    };
    Some(PageOutput::Document { output, version })
}

#[cfg(test)]
mod tests {
    use http::Request;
    use http::header::ACCEPT;

    use super::*;

    fn request(accept: &str) -> Parts {
        let request = Request::get("/statusz").header(ACCEPT, accept);
        request.body(()).expect("a request").into_parts().0
    }

    #[test]
    fn a_document_is_named_with_its_kind_and_version() {
        for (accept, expected) in [
            ("", Some(PageOutput::Text)),
            ("*/*", Some(PageOutput::Text)),
            ("text/*", Some(PageOutput::Text)),
            ("text/plain; charset=utf-8", Some(PageOutput::Text)),
            ("application/json", None),
            ("text/plain;as=Statusz;g=config.k8s.io;v=v1beta1", None),
            ("application/json;as=Statusz;g=config.k8s.io;v=v1", None),
            ("application/json;as=Flagz;g=config.k8s.io;v=v1beta1", None),
            (
                "application/vnd.kubernetes.protobuf;as=Statusz;g=config.k8s.io;v=v1beta1",
                None,
            ),
        ] {
            assert_eq!(negotiate_page(&request(accept), "Statusz").ok(), expected, "{accept}");
        }
        let yaml = request("application/yaml;as=Statusz;g=config.k8s.io;v=v1alpha1");
        let agreed = negotiate_page(&yaml, "Statusz").expect("agreed");
        let expected = Output {
            format: Format::Yaml,
            ..Output::json()
        };
        assert_eq!(
            agreed,
            PageOutput::Document {
                output: expected,
                version: "v1alpha1"
            }
        );
    }

    #[test]
    fn accepted_media_types_are_listed() {
        let refused = negotiate_page(&request("application/json"), "Statusz").expect_err("refused");
        assert_eq!(
            refused.message(),
            "only the following media types are accepted: application/json, application/yaml, text/plain"
        );
        assert_eq!(negotiate_refusal(&request("application/yaml")).format, Format::Yaml);
        assert!(negotiate_refusal(&request("application/vnd.kubernetes.protobuf")).pretty);
    }
}

//! Conflicting files of one volume.

use std::fmt;

use planesmith_machinery::go_format::quote;

use crate::core::v1::{DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection};

/// Returns warnings about files of `volume` with equal or nested paths.
pub(super) fn overlaps(volume: &Volume) -> Vec<String> {
    let source = &volume.volume_source;
    let mut found = Vec::new();
    let mut alone = |of: Source<'_>, paths: Vec<FilePath<'_>>| {
        let mut seen = Seen::default();
        for file in paths {
            found.extend(seen.add(file).map(|words| warning(&volume.name, of, &words)));
        }
    };
    if let Some(map) = &source.config_map {
        let of = Source::named("ConfigMap", &map.local_object_reference.name);
        alone(of, of_keys(&map.items, Source::NONE));
    }
    if let Some(secret) = &source.secret {
        let of = Source::named("Secret", &secret.secret_name);
        alone(of, of_keys(&secret.items, Source::NONE));
    }
    if let Some(files) = &source.downward_api {
        alone(Source::new("DownwardAPI"), of_files(&files.items, Source::NONE));
    }
    let Some(projected) = &source.projected else {
        return found;
    };
    let mut seen = Seen::default();
    for source in &projected.sources {
        if *source == VolumeProjection::default() {
            found.push(format!(
                "volume {} (Projected) has no sources provided",
                quote(&volume.name)
            ));
        }
        for file in of_projection(source) {
            let of = Source::new("Projected");
            found.extend(seen.add(file).map(|words| warning(&volume.name, of, &words)));
        }
    }
    found
}

fn warning(volume: &str, of: Source<'_>, words: &str) -> String {
    format!("volume {} ({of}): overlapping paths: {words}", quote(volume))
}

/// A source of files in a volume.
#[derive(Clone, Copy)]
struct Source<'a> {
    kind: &'static str,
    name: Option<&'a str>,
}

impl<'a> Source<'a> {
    /// The volume itself as the source.
    const NONE: Self = Self::new("");

    const fn new(kind: &'static str) -> Self {
        Self { kind, name: None }
    }

    const fn named(kind: &'static str, name: &'a str) -> Self {
        Self { kind, name: Some(name) }
    }
}

impl fmt::Display for Source<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => write!(f, "{} {}", self.kind, quote(name)),
            None => f.write_str(self.kind),
        }
    }
}

/// A path in a volume and the source of its file.
struct FilePath<'a> {
    path: &'a str,
    source: Source<'a>,
}

impl<'a> FilePath<'a> {
    fn new(path: &'a str, source: Source<'a>) -> Self {
        Self {
            path: path.trim_end_matches('/'),
            source,
        }
    }

    fn overlaps(&self, other: &Self) -> bool {
        if self.path.is_empty() || other.path.is_empty() {
            return false;
        }
        let inside = |outer: &str, inner: &str| {
            let rest = inner.strip_prefix(outer);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        inside(self.path, other.path) || inside(other.path, self.path)
    }
}

impl fmt::Display for FilePath<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote(self.path))?;
        match self.source.kind {
            "" => Ok(()),
            _ => write!(f, " ({})", self.source),
        }
    }
}

/// The places found so far.
#[derive(Default)]
struct Seen<'a>(Vec<FilePath<'a>>);

impl<'a> Seen<'a> {
    /// Adds a file and describes its conflicts.
    fn add(&mut self, file: FilePath<'a>) -> impl Iterator<Item = String> + use<> {
        let others = self.0.iter().filter(|other| other.overlaps(&file));
        let words: Vec<String> = others.map(|other| format!("{file} with {other}")).collect();
        self.0.push(file);
        words.into_iter()
    }
}

fn of_keys<'a>(items: &'a [KeyToPath], source: Source<'a>) -> Vec<FilePath<'a>> {
    items.iter().map(|item| FilePath::new(&item.path, source)).collect()
}

fn of_files<'a>(items: &'a [DownwardAPIVolumeFile], source: Source<'a>) -> Vec<FilePath<'a>> {
    items.iter().map(|item| FilePath::new(&item.path, source)).collect()
}

fn of_projection(source: &VolumeProjection) -> Vec<FilePath<'_>> {
    if let Some(map) = source.config_map.as_ref().filter(|map| !map.items.is_empty()) {
        let source = Source::named("ConfigMap", &map.local_object_reference.name);
        return of_keys(&map.items, source);
    }
    if let Some(secret) = source.secret.as_ref().filter(|secret| !secret.items.is_empty()) {
        let source = Source::named("Secret", &secret.local_object_reference.name);
        return of_keys(&secret.items, source);
    }
    if let Some(files) = source.downward_api.as_ref().filter(|files| !files.items.is_empty()) {
        return of_files(&files.items, Source::new("DownwardAPI"));
    }
    if let Some(token) = &source.service_account_token {
        return vec![FilePath::new(&token.path, Source::new("ServiceAccountToken"))];
    }
    if let Some(bundle) = &source.cluster_trust_bundle {
        let name = bundle.name.as_ref().or(bundle.signer_name.as_ref());
        let source = Source::named("ClusterTrustBundle", name.map_or("", String::as_str));
        return vec![FilePath::new(&bundle.path, source)];
    }
    let Some(certificate) = &source.pod_certificate else {
        return Vec::new();
    };
    let files = [
        (&certificate.certificate_chain_path, "PodCertificate chain"),
        (&certificate.key_path, "PodCertificate key"),
        (&certificate.credential_bundle_path, "PodCertificate credential bundle"),
    ];
    let files = files.into_iter().filter(|(path, _)| !path.is_empty());
    files.map(|(path, of)| FilePath::new(path, Source::new(of))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::v1::{ProjectedVolumeSource, ServiceAccountTokenProjection, VolumeSource};

    #[test]
    fn files_inside_files_and_empty_sources_are_warned_about() {
        let token = |path: &str| VolumeProjection {
            service_account_token: Some(ServiceAccountTokenProjection {
                path: path.to_owned(),
                ..ServiceAccountTokenProjection::default()
            }),
            ..VolumeProjection::default()
        };
        let volume = Volume {
            name: "foo".to_owned(),
            volume_source: VolumeSource {
                projected: Some(ProjectedVolumeSource {
                    sources: vec![token("a/b"), token("ab"), VolumeProjection::default(), token("a/")],
                    ..ProjectedVolumeSource::default()
                }),
                ..VolumeSource::default()
            },
        };
        assert_eq!(
            overlaps(&volume),
            [
                "volume \"foo\" (Projected) has no sources provided",
                "volume \"foo\" (Projected): overlapping paths: \"a\" (ServiceAccountToken) with \"a/b\" \
                 (ServiceAccountToken)"
            ]
        );
    }
}

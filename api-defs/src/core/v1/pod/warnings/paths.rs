//! Files of one volume that are in each other's way.

use std::fmt;

use planesmith_machinery::go_format::quote;

use crate::core::v1::{DownwardAPIVolumeFile, KeyToPath, Volume, VolumeProjection};

/// What is said of files of `volume` that would lie at one place, or one inside another.
pub(super) fn overlaps(volume: &Volume) -> Vec<String> {
    let source = &volume.volume_source;
    let mut found = Vec::new();
    let mut alone = |kind: String, paths: Vec<Place>| {
        let mut seen = Seen::default();
        for place in paths {
            found.extend(seen.add(place).map(|words| warning(&volume.name, &kind, &words)));
        }
    };
    if let Some(map) = &source.config_map {
        let kind = format!("ConfigMap {}", quote(&map.local_object_reference.name));
        alone(kind, of_keys(&map.items, ""));
    }
    if let Some(secret) = &source.secret {
        let kind = format!("Secret {}", quote(&secret.secret_name));
        alone(kind, of_keys(&secret.items, ""));
    }
    if let Some(files) = &source.downward_api {
        alone("DownwardAPI".to_owned(), of_files(&files.items, ""));
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
        for place in of_projection(source) {
            found.extend(seen.add(place).map(|words| warning(&volume.name, "Projected", &words)));
        }
    }
    found
}

fn warning(volume: &str, kind: &str, words: &str) -> String {
    format!("volume {} ({kind}): overlapping paths: {words}", quote(volume))
}

/// A path in a volume, and what puts a file there; that may be empty.
struct Place {
    path: String,
    source: String,
}

impl Place {
    fn new(path: &str, source: impl Into<String>) -> Self {
        Self {
            path: path.trim_end_matches('/').to_owned(),
            source: source.into(),
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
        inside(&self.path, &other.path) || inside(&other.path, &self.path)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&quote(&self.path))?;
        match self.source.as_str() {
            "" => Ok(()),
            source => write!(f, " ({source})"),
        }
    }
}

/// The places so far.
#[derive(Default)]
struct Seen(Vec<Place>);

impl Seen {
    /// Adds a place; says which ones it is in the way of.
    fn add(&mut self, place: Place) -> impl Iterator<Item = String> {
        let others = self.0.iter().filter(|other| other.overlaps(&place));
        let words: Vec<String> = others.map(|other| format!("{place} with {other}")).collect();
        self.0.push(place);
        words.into_iter()
    }
}

fn of_keys(items: &[KeyToPath], source: &str) -> Vec<Place> {
    items.iter().map(|item| Place::new(&item.path, source)).collect()
}

fn of_files(items: &[DownwardAPIVolumeFile], source: &str) -> Vec<Place> {
    items.iter().map(|item| Place::new(&item.path, source)).collect()
}

fn of_projection(source: &VolumeProjection) -> Vec<Place> {
    if let Some(map) = source.config_map.as_ref().filter(|map| !map.items.is_empty()) {
        let name = quote(&map.local_object_reference.name);
        return of_keys(&map.items, &format!("ConfigMap {name}"));
    }
    if let Some(secret) = source.secret.as_ref().filter(|secret| !secret.items.is_empty()) {
        let name = quote(&secret.local_object_reference.name);
        return of_keys(&secret.items, &format!("Secret {name}"));
    }
    if let Some(files) = source.downward_api.as_ref().filter(|files| !files.items.is_empty()) {
        return of_files(&files.items, "DownwardAPI");
    }
    if let Some(token) = &source.service_account_token {
        return vec![Place::new(&token.path, "ServiceAccountToken")];
    }
    if let Some(bundle) = &source.cluster_trust_bundle {
        let name = bundle.name.as_ref().or(bundle.signer_name.as_ref());
        let name = quote(name.map_or("", String::as_str));
        return vec![Place::new(&bundle.path, format!("ClusterTrustBundle {name}"))];
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
    files.map(|(path, source)| Place::new(path, source)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::v1::{ProjectedVolumeSource, ServiceAccountTokenProjection, VolumeSource};

    #[test]
    fn files_inside_files_and_empty_sources_are_told() {
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

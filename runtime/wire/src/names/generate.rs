//! Names made by the server from `generateName`.

/// The part of `generateName` that is used, in bytes: 63 less the five that are added.
pub const MAX_GENERATED_BASE: usize = 58;

/// The part of `generateName` that a generated name starts with: at most [`MAX_GENERATED_BASE`] bytes, cut between
/// characters. Five random characters of `bcdfghjklmnpqrstvwxz2456789` follow it.
#[must_use]
pub fn generated_base(generate_name: &str) -> &str {
    &generate_name[..generate_name.floor_char_boundary(MAX_GENERATED_BASE)]
}

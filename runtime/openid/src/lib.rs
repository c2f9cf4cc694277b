//! Tokens of OpenID providers: `--oidc-*`, or a file that configures several issuers (`--authentication-config`). A program lists
//! [`COMPONENT`] to have these flags.
//!
//! Reading order: `configuration` (the file), `validation` (its rules, compiled), `compact_token` and `json_web_key` (tokens and
//! their signatures), `https_url` and `provider` (an issuer's documents), `verifier`, `mapping` (claims as a user),
//! `distributed_claims`, `issuer` (all of this for one issuer), `issuers` (the authenticator), and `reload`.

mod compact_token;
mod component;
mod configuration;
mod distributed_claims;
mod https_url;
mod issuer;
mod issuers;
mod json_web_key;
mod mapping;
mod provider;
mod reload;
mod validation;
mod verifier;

pub use component::COMPONENT;

//! `extensions`: the first versions of kinds that moved to other groups.

pub mod v1beta1;

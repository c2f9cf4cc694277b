//! `extensions`: where kinds of today began.

pub mod v1beta1;

//! Authentication, authorization and admission.

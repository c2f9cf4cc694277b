//! The model behind the derives: read, check, print.

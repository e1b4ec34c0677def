//! The rules' promises, one binary.

mod figures;
mod support;

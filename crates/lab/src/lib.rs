//! Experiments with networks that choose which symmetries to keep, and pictures of what they choose from.

pub mod diagram;

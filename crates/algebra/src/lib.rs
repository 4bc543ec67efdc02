//! Exact algebra of finite symmetry groups.

//! Shapes in closed form.

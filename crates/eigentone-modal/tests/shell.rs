//! Shells against patch tests, plate, beam and ring theory, and axisymmetric solids.

mod shell {
    pub mod common;
    mod correction;
    mod frequencies;
    mod patch;
    mod supports;
    mod wood;
}

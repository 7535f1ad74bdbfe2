//! Boxes that are computed by their modes: exact for what is in them.

use super::COURANT;
use crate::kernel::cosine::{Cosine, Scratch, mode};
use std::collections::HashMap;
use std::sync::Arc;

/// What boxes of one size have in common.
struct Table {
    cosine: Cosine,
    /// `2 cos ωΔt − 2` of each mode. Without the two, so that slow modes keep their precision.
    fall: Vec<f32>,
    /// What a force does to each mode: `2 (1 − cos ωΔt)/(ωΔt)²`.
    push: Vec<f32>,
}

/// Tables by size.
#[derive(Default)]
pub struct Tables(HashMap<[usize; 3], Arc<Table>>);

impl Tables {
    fn get(&mut self, size: [usize; 3]) -> Arc<Table> {
        self.0.entry(size).or_insert_with(|| Arc::new(Table::new(size))).clone()
    }
}

impl Table {
    fn new(size: [usize; 3]) -> Self {
        let [nx, ny, nz] = size;
        let squares = size.map(|n| {
            let turn = |place| COURANT * std::f64::consts::PI * mode(place, n) as f64 / n as f64;
            (0..n).map(|place| turn(place).powi(2)).collect::<Vec<f64>>()
        });
        let (mut fall, mut push) = (Vec::with_capacity(nx * ny * nz), Vec::with_capacity(nx * ny * nz));
        for z in &squares[2] {
            for y in &squares[1] {
                for x in &squares[0] {
                    let turn = (x + y + z).sqrt();
                    // 2 cos a − 2 = −4 sin² (a/2)
                    let half = (0.5 * turn).sin();
                    fall.push((-4.0 * half * half) as f32);
                    push.push(if turn == 0.0 { 1.0 } else { (2.0 * half / turn).powi(2) as f32 });
                }
            }
        }
        Self { cosine: Cosine::new(size), fall, push }
    }
}

/// A box's modes.
pub struct Modes {
    table: Arc<Table>,
    /// Amplitudes.
    now: Vec<f32>,
    /// What they gained in the last step. Kept instead of the amplitudes before, whose difference would lose digits.
    gain: Vec<f32>,
}

impl Modes {
    pub fn new(size: [usize; 3], tables: &mut Tables) -> Self {
        let len = size.iter().product();
        Self { table: tables.get(size), now: vec![0.0; len], gain: vec![0.0; len] }
    }

    /// A step. The force is used up.
    pub fn advance(&mut self, force: Option<&mut [f32]>, pressure: &mut [f32], scratch: &mut Scratch) {
        let table = &*self.table;
        let modes = self.now.iter_mut().zip(&mut self.gain).zip(&table.fall);
        match force {
            Some(force) => {
                table.cosine.forward(force, scratch);
                for (((now, gain), fall), (push, force)) in modes.zip(table.push.iter().zip(force)) {
                    *gain += fall * *now + push * *force;
                    *now += *gain;
                }
            }
            None => {
                for ((now, gain), fall) in modes {
                    *gain += fall * *now;
                    *now += *gain;
                }
            }
        }
        pressure.copy_from_slice(&self.now);
        table.cosine.inverse(pressure, scratch);
    }

    /// Adds a change of the pressure, which is used up.
    pub fn add(&mut self, change: &mut [f32], scratch: &mut Scratch) {
        self.table.cosine.forward(change, scratch);
        for ((now, gain), change) in self.now.iter_mut().zip(&mut self.gain).zip(change) {
            *now += *change;
            *gain += *change;
        }
    }
}

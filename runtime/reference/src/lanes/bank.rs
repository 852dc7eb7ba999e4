//! [`Bank`]: registers, each with a value and a bound for every lane.

use crate::values::Number;

/// How many elements are computed at a time.
pub(crate) const LANES: usize = 128;

/// Registers.
pub(crate) struct Bank {
    pub(crate) floats: Vec<Vec<f64>>,
    pub(crate) integers: Vec<Vec<i64>>,
    /// How far a value may be away; for integers, too.
    pub(crate) bounds: Vec<Vec<f64>>,
    /// For each output that is a sum: the sum of its terms' magnitudes.
    pub(crate) magnitudes: Vec<Vec<f64>>,
}

impl Bank {
    pub(crate) fn new(registers: usize, outputs: usize) -> Self {
        Self {
            floats: vec![vec![0.0; LANES]; registers],
            integers: vec![vec![0; LANES]; registers],
            bounds: vec![vec![0.0; LANES]; registers],
            magnitudes: vec![vec![0.0; LANES]; outputs],
        }
    }

    /// Gives all lanes of a register this value.
    pub(crate) fn broadcast(&mut self, register: usize, number: Number) {
        self.floats[register].fill(number.float);
        self.integers[register].fill(number.integer);
        self.bounds[register].fill(number.bound);
    }

    /// Gives a lane of a register this value.
    pub(crate) fn set(&mut self, register: usize, lane: usize, number: Number) {
        self.floats[register][lane] = number.float;
        self.integers[register][lane] = number.integer;
        self.bounds[register][lane] = number.bound;
    }

    pub(crate) fn get(&self, register: usize, lane: usize) -> Number {
        Number {
            float: self.floats[register][lane],
            integer: self.integers[register][lane],
            bound: self.bounds[register][lane],
        }
    }
}

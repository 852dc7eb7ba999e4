//! Tests of the whole debugger.

mod allocations;
mod back_by_line;
mod debugger;
pub(crate) mod drawn_clock;
mod going_back;
mod hit_counts;
mod outside;
mod overflow;
mod pairs;
mod past_tensors;
mod pauses;
mod races;
mod scale;
mod stepping_model;
mod watching_back;

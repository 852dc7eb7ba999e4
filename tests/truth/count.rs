//! Counts and findings.

use std::collections::BTreeMap;

/// The most findings of a kind that are kept with their text.
const KEPT: usize = 12;

#[derive(Default)]
pub(crate) struct Tally {
    counts: BTreeMap<&'static str, usize>,
    findings: Vec<Finding>,
}

#[derive(Clone)]
pub(crate) struct Finding {
    pub(crate) kind: &'static str,
    pub(crate) text: String,
}

impl Tally {
    pub(crate) fn add(&mut self, kind: &'static str, count: usize) {
        *self.counts.entry(kind).or_default() += count;
    }

    pub(crate) fn find(&mut self, kind: &'static str, text: &str) {
        self.find_all(kind, 1, text);
    }

    pub(crate) fn find_all(&mut self, kind: &'static str, count: usize, text: &str) {
        self.add(kind, count);
        let same = self.findings.iter().filter(|it| it.kind == kind).count();
        if same < KEPT && !self.findings.iter().any(|it| it.kind == kind && it.text == text) {
            self.findings.push(Finding { kind, text: text.to_owned() });
        }
    }

    pub(crate) fn get(&self, kind: &str) -> usize {
        self.counts.get(kind).copied().unwrap_or(0)
    }

    pub(crate) fn findings(&self) -> &[Finding] {
        &self.findings
    }

    pub(crate) fn kinds(&self) -> impl Iterator<Item = (&'static str, usize)> {
        self.counts.iter().map(|(kind, count)| (*kind, *count))
    }

    /// Adds other counts.
    pub(crate) fn join(&mut self, other: &Self) {
        for (kind, count) in other.kinds() {
            self.add(kind, count);
        }
    }

    /// Adds other counts and findings.
    pub(crate) fn merge(&mut self, other: Self) {
        self.join(&other);
        for finding in other.findings {
            if !self.findings.iter().any(|it| it.kind == finding.kind && it.text == finding.text) {
                self.findings.push(finding);
            }
        }
    }

    /// The percentage of `kind` in the sum of `kind` and `others`.
    pub(crate) fn share(&self, kind: &str, others: &[&str]) -> f64 {
        let own = self.get(kind) as f64;
        let all = own + others.iter().map(|it| self.get(it) as f64).sum::<f64>();
        if all == 0.0 { 0.0 } else { 100.0 * own / all }
    }
}

//! Where a bracketed group of MLIR ends.

/// The brackets that are open.
#[derive(Clone, Debug, Default)]
pub struct Brackets(Vec<u8>);

impl Brackets {
    /// Takes a byte that is in no string and no arrow. Returns whether it closes the group.
    ///
    /// `>` closes only an angle bracket: elsewhere it compares, as in
    /// `affine_set<(d0) : (d0 >= 0)>`.
    pub fn closes(&mut self, byte: u8) -> bool {
        match byte {
            b'(' | b'[' | b'{' | b'<' => self.0.push(byte),
            b'>' if self.0.last() != Some(&b'<') => {}
            b')' | b']' | b'}' | b'>' => {
                self.0.pop();
                return self.0.is_empty();
            }
            _ => {}
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Brackets;

    #[test]
    fn groups_end_with_their_bracket() {
        let end = |text: &str| {
            let mut brackets = Brackets::default();
            text.bytes().position(|byte| brackets.closes(byte)).map(|at| at + 1)
        };
        for group in ["<(d0) : (d0 - 1 >= 0, d0 == 2)>", "[(<{}>)]", "(a > b)"] {
            assert_eq!(end(&[group, ">)]} and more"].concat()), Some(group.len()), "{group}");
        }
        assert_eq!(end("<(d0) : (d0 >= 0)"), None);
    }
}

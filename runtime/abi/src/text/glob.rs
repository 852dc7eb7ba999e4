//! Patterns for names, such as `*matmul*`: `*` stands for any text, `?` for any character, and
//! everything else for itself.

/// Whether the whole name fits the pattern.
#[must_use]
pub fn matches(pattern: &str, name: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().collect();
    let name: Vec<char> = name.chars().collect();
    // The last star, and the end of the part of the name that it has matched so far. Backtracking
    // never has to go further back than that.
    let (mut at, mut in_name, mut star) = (0, 0, None);
    while in_name < name.len() {
        match pattern.get(at) {
            Some('*') => {
                star = Some((at, in_name));
                at += 1;
            }
            Some(expected) if *expected == '?' || *expected == name[in_name] => {
                at += 1;
                in_name += 1;
            }
            _ => {
                let Some((star_at, taken)) = star else { return false };
                star = Some((star_at, taken + 1));
                (at, in_name) = (star_at + 1, taken + 1);
            }
        }
    }
    pattern[at..].iter().all(|rest| *rest == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_take_as_much_as_it_needs() {
        let cases = [
            ("mlp_*", "mlp_dispatch_0_matmul_4x16x8_f32", true),
            ("*matmul*", "mlp_dispatch_0_matmul_4x16x8_f32", true),
            ("*_f32", "mlp_f32_f32", true),
            ("*dispatch_?_*", "mlp_dispatch_1_x", true),
            ("*dispatch_?_*", "mlp_dispatch_10_x", false),
            ("mlp", "mlp_dispatch", false),
            ("*", "", true),
            ("", "", true),
            ("", "x", false),
            ("?", "é", true),
            ("a*b*c", "aXbYbZc", true),
            ("a*b*c", "aXbYbZ", false),
            ("*ab", "aab", true),
            ("*-s?nc", "local-sync", true),
            ("vulkan*", "local-sync", false),
        ];
        for (pattern, name, expected) in cases {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}

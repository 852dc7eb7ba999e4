//! How many workgroups a dispatch has, from the text of its executable as the compiler prints it
//! when everything is tiled (`executable-targets`):
//!
//! ```text
//! hal.executable.export public @f ordinal(0) … count(%arg0: !hal.device, %arg1: index) -> … {
//!   %c1 = arith.constant 1 : index
//!   %0 = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%arg1]
//!   hal.return %0, %c1, %c1 : index, index, index
//! }
//! ```
//!
//! The arguments after the device are the workload of the dispatch
//! ([`super::DispatchInterface::workload`]).

use std::collections::HashMap;

use mlir::Meaning;
use mlir::{Element, Map};

use super::statements::{definition, operands, statements, symbol};

/// The count of workgroups of a dispatch, as a function of its workload.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorkgroupCount {
    /// The names of the arguments after the device.
    arguments: Vec<String>,
    definitions: Vec<Definition>,
    results: [String; 3],
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct Definition {
    name: String,
    /// Its operation with all operands.
    operation: String,
    rest: String,
}

impl WorkgroupCount {
    /// Reads the count of a dispatch by its exported name. `None` if the text does not have it.
    #[must_use]
    pub fn parse(text: &str, export: &str) -> Option<Self> {
        let mut statements = statements(text);
        let head = statements.find(|statement| {
            let rest = statement.text.strip_prefix("hal.executable.export");
            rest.and_then(symbol).is_some_and(|(name, _)| name == export)
        })?;
        let arguments = head.text.rsplit_once(" count(")?.1.split_once(") ->")?.0;
        let mut definitions = Vec::new();
        for statement in statements {
            if let Some(rest) = statement.text.strip_prefix("hal.return ") {
                let results: Vec<String> = operands(rest).collect();
                let results = results.try_into().ok()?;
                // The first argument is the device.
                let arguments = operands(arguments).skip(1).collect();
                return Some(Self { arguments, definitions, results });
            }
            let (mut names, operation, _) = definition(&statement.text)?;
            let rest = statement.text.split_once(operation)?.1.trim().to_owned();
            let operation = operation.to_owned();
            definitions.push(Definition { name: names.pop()?, operation, rest });
        }
        None
    }

    /// The count for a workload, by ordinal. `None` if it needs a number that is not there, or does
    /// something else than arithmetic.
    #[must_use]
    pub fn of(&self, workload: &HashMap<usize, u64>) -> Option<[u32; 3]> {
        let mut values: HashMap<&str, i64> = HashMap::new();
        for (ordinal, name) in self.arguments.iter().enumerate() {
            if let Some(value) = workload.get(&ordinal).and_then(|it| i64::try_from(*it).ok()) {
                values.insert(name, value);
            }
        }
        for Definition { name, operation, rest } in &self.definitions {
            if let Some(value) = evaluate(operation, rest, &values) {
                values.insert(name, value);
            }
        }
        let mut count = [0; 3];
        for (count, name) in count.iter_mut().zip(&self.results) {
            *count = u32::try_from(*values.get(name.as_str())?).ok()?;
        }
        Some(count)
    }
}

/// The counts of workgroups of the bytecode in a module that has other variants of its dispatches,
/// too: the exports of the variants of bytecode, from the same text. `None` if there are none.
#[must_use]
pub fn bytecode_counts(text: &str) -> Option<String> {
    const EXPORT: &str = "hal.executable.export ";
    let aliases: HashMap<&str, &str> = text
        .lines()
        .filter_map(|line| line.split_once(" = "))
        .filter(|(name, value)| name.starts_with("#map") && value.starts_with("affine_map<"))
        .collect();
    let (mut counts, mut has_others) = (String::new(), false);
    let (mut is_bytecode, mut is_inside) = (false, false);
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("hal.executable.variant ") {
            is_bytecode = trimmed.contains("vmvx");
            has_others |= !is_bytecode;
        }
        is_inside |= is_bytecode && trimmed.starts_with(EXPORT);
        if is_inside {
            counts.push_str(&with_maps(trimmed, &aliases));
            counts.push('\n');
            is_inside = !trimmed.starts_with("hal.return ");
        }
    }
    (has_others && !counts.is_empty()).then_some(counts)
}

/// A line with maps in the place of their names.
fn with_maps(line: &str, aliases: &HashMap<&str, &str>) -> String {
    let Some(start) = line.find("#map") else { return line.to_owned() };
    let rest = &line[start + 1..];
    let end = rest.find(|it: char| !it.is_ascii_alphanumeric()).unwrap_or(rest.len());
    let (name, after) = (&line[start..=start + end], &rest[end..]);
    let map = aliases.get(name).copied().unwrap_or(name);
    format!("{}{map}{}", &line[..start], with_maps(after, aliases))
}

fn evaluate(operation: &str, rest: &str, values: &HashMap<&str, i64>) -> Option<i64> {
    let value = |name: &str| values.get(name).copied();
    let meaning = mlir::meaning(operation)?;
    if let Meaning::Affine(which) = meaning {
        let end = rest.find(">(")? + 1;
        let (map, applied) = rest.split_at(end);
        let (dimensions, symbols) = applied.split_once(')')?;
        let symbols = symbols.split_once('[').map_or("", |(_, rest)| rest);
        let all = |text: &str| operands(text).map(|name| value(&name)).collect::<Option<Vec<_>>>();
        let given: Vec<i64> = all(dimensions)?.into_iter().chain(all(symbols)?).collect();
        return which.of(Map::parse(map).ok()?.values(&given).ok()?);
    }
    if meaning == Meaning::Constant {
        return rest.split(' ').next()?.parse().ok();
    }
    // Workloads and counts are sizes, of the type `index`.
    let given: Option<Vec<u64>> = operands(rest).map(|it| Some(value(&it)? as u64)).collect();
    let function = mlir::table::scalar(operation, Element::Index, Element::Index, "")?;
    Some(function.apply(&given?)? as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "
      hal.executable.export public @\"f g\" ordinal(0) layout(#hal.pipeline.layout<constants = 2>) \
count(%arg0: !hal.device, %arg1: index, %arg2: index) -> (index, index, index) {
        %c1 = arith.constant 1 : index
        %0 = affine.apply affine_map<()[s0] -> (s0 ceildiv 64)>()[%arg1] loc(unknown)
        %1 = arith.muli %0, %arg2 : index
        hal.return %0, %1, %c1 : index, index, index
      } <workgroup_size = [1 : index, 1 : index, 1 : index]>
";

    #[test]
    fn counts_follow_the_workload() {
        let count = WorkgroupCount::parse(TEXT, "f g").unwrap();
        assert_eq!(count.of(&HashMap::from([(0, 65), (1, 3)])), Some([2, 6, 1]));
        assert_eq!(count.of(&HashMap::from([(0, 65)])), None);
        assert_eq!(WorkgroupCount::parse(TEXT, "f"), None);
    }

    #[test]
    fn counts_of_bytecode_are_found_beside_machine_code() {
        let variant = |target: &str, size: &str| {
            format!(
                "  hal.executable.variant public @v target(#executable_target_{target}) {{\n    \
                 hal.executable.export public @f count(%arg0: !hal.device, %arg1: index) -> \
                 (index, index, index) {{\n      %c1 = arith.constant 1 : index\n      \
                 %0 = affine.apply {size}()[%arg1]\n      \
                 hal.return %0, %c1, %c1 : index, index, index\n    }}\n  }}\n"
            )
        };
        let maps = "#map = affine_map<()[s0] -> (s0 ceildiv 64)>\n\
                    #map1 = affine_map<()[s0] -> (s0 ceildiv 16)>\n";
        let machine = variant("embedded_elf_x86_64", "#map");
        let bytecode = variant("vmvx_bytecode_fb", "#map1");
        let counts = bytecode_counts(&format!("{maps}{machine}{bytecode}")).unwrap();
        let count = WorkgroupCount::parse(&counts, "f").unwrap();
        assert_eq!(count.of(&HashMap::from([(0, 33)])), Some([3, 1, 1]));
        assert_eq!(bytecode_counts(&format!("{maps}{bytecode}")), None);
        assert_eq!(bytecode_counts(&format!("{maps}{machine}")), None);
    }
}

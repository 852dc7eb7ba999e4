//! [`Generic`]: a `linalg.generic` in pieces.

use std::collections::HashSet;

use super::program::{Scalar, name_of, result_type, typed};
use super::text::{after, group, parts, shape_of, tensor_type, values, with_value};

/// A `linalg.generic`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Generic {
    /// Whether each loop is parallel.
    pub(super) parallel: Vec<bool>,
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    pub(super) body: Vec<Scalar>,
    pub(super) yields: Vec<String>,
}

/// A tensor that it reads or writes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Port {
    pub(super) value: String,
    pub(super) written_type: String,
    /// `affine_map<…>`, or an alias of one.
    map: String,
    /// What the map gives, of dimensions: `d0`, `d1 * 2`.
    indices: Vec<String>,
    /// The number of the body that has its element.
    pub(super) element: String,
    pub(super) element_type: String,
}

impl Port {
    /// A tensor with an element for each point of the loops.
    fn of_points(value: &str, sizes: &[u64], element: &str, element_type: &str) -> Self {
        let indices: Vec<String> = (0..sizes.len()).map(|it| format!("d{it}")).collect();
        let all = indices.join(", ");
        Self {
            value: value.to_owned(),
            written_type: tensor_type(sizes, element_type),
            map: format!("affine_map<({all}) -> ({all})>"),
            indices,
            element: element.to_owned(),
            element_type: element_type.to_owned(),
        }
    }
}

impl Generic {
    /// Reads the lines of an operation; none if it is another one, or has more than is read here.
    pub(super) fn read(lines: &[String], aliases: &[String]) -> Option<Self> {
        let [head, arguments, body @ .., last, _] = lines else { return None };
        if name_of(head) != "linalg.generic" {
            return None;
        }
        let dictionary_start = head.find('{')?;
        let dictionary_end = dictionary_start + group(&head[dictionary_start..])?;
        let dictionary = &head[dictionary_start + 1..dictionary_end - 1];
        let (maps, _) = after(dictionary, "indexing_maps = [")?;
        let (iterators, _) = after(dictionary, "iterator_types = [")?;
        if parts(dictionary).len() != 2 {
            return None;
        }
        let parallel: Option<Vec<bool>> = parts(iterators)
            .into_iter()
            .map(|it| match it {
                "\"parallel\"" => Some(true),
                "\"reduction\"" => Some(false),
                _ => None,
            })
            .collect();
        let rest = &head[dictionary_end..];
        let (inputs, _) = match rest.contains(" ins(") {
            true => typed(rest, " ins(")?,
            false => (Vec::new(), 0),
        };
        let (outputs, end) = typed(rest, " outs(")?;
        if rest[end..].trim() != "{" {
            return None;
        }
        let arguments = arguments.strip_prefix("^bb0(")?.strip_suffix("):")?;
        let arguments = parts(arguments);
        let maps = parts(maps);
        let count = inputs.len() + outputs.len();
        if maps.len() != count || arguments.len() != count {
            return None;
        }
        let ports = inputs.iter().chain(&outputs).zip(maps.iter().zip(&arguments));
        let ports: Option<Vec<Port>> = ports
            .map(|((value, written_type), (map, argument))| {
                let (element, element_type) = argument.split_once(": ")?;
                Some(Port {
                    value: value.clone(),
                    written_type: written_type.clone(),
                    indices: indices(map, aliases)?,
                    map: (*map).to_owned(),
                    element: element.to_owned(),
                    element_type: element_type.to_owned(),
                })
            })
            .collect();
        let mut inputs_read = ports?;
        let outputs_read = inputs_read.split_off(inputs.len());
        let body: Option<Vec<Scalar>> = body
            .iter()
            .map(|line| {
                let (result, _) = line.split_once(" = ")?;
                let is_one = !line.ends_with('{') && !result.contains([':', ' ']);
                is_one.then(|| Scalar { result: result.to_owned(), text: line.clone() })
            })
            .collect();
        let yields = last.strip_prefix("linalg.yield ")?.split(" : ").next()?;
        Some(Self {
            parallel: parallel?,
            inputs: inputs_read,
            outputs: outputs_read,
            body: body?,
            yields: parts(yields).into_iter().map(str::to_owned).collect(),
        })
    }

    /// Its text, as an operation with a result of this name.
    pub(super) fn lines(&self, result: &str) -> Vec<String> {
        let join = |all: Vec<&str>| all.join(", ");
        let ports = || self.inputs.iter().chain(&self.outputs);
        let iterators = self.parallel.iter().map(|it| match it {
            true => "\"parallel\"",
            false => "\"reduction\"",
        });
        let listed = |ports: &[Port]| {
            let values = join(ports.iter().map(|it| it.value.as_str()).collect());
            let types = join(ports.iter().map(|it| it.written_type.as_str()).collect());
            format!("{values} : {types}")
        };
        let ins = match self.inputs.is_empty() {
            true => String::new(),
            false => format!(" ins({})", listed(&self.inputs)),
        };
        let count = match self.outputs.len() {
            1 => String::new(),
            count => format!(":{count}"),
        };
        let elements: Vec<String> =
            ports().map(|it| format!("{}: {}", it.element, it.element_type)).collect();
        let mut lines = vec![
            format!(
                "{result}{count} = linalg.generic {{indexing_maps = [{}], iterator_types = [{}]}}\
                 {ins} outs({}) {{",
                join(ports().map(|it| it.map.as_str()).collect()),
                join(iterators.collect()),
                listed(&self.outputs),
            ),
            format!("^bb0({}):", elements.join(", ")),
        ];
        lines.extend(self.body.iter().map(|it| format!("  {}", it.text)));
        let types = join(self.outputs.iter().map(|it| it.element_type.as_str()).collect());
        lines.push(format!("  linalg.yield {} : {types}", self.yields.join(", ")));
        let types = join(self.outputs.iter().map(|it| it.written_type.as_str()).collect());
        lines.push(match self.outputs.len() {
            1 => format!("}} -> {types}"),
            _ => format!("}} -> ({types})"),
        });
        lines
    }

    /// How often each loop runs, if the types of its tensors say so.
    pub(super) fn sizes(&self) -> Option<Vec<u64>> {
        let size = |dimension: usize| {
            let name = format!("d{dimension}");
            self.inputs.iter().chain(&self.outputs).find_map(|port| {
                let axis = port.indices.iter().position(|it| *it == name)?;
                shape_of(&port.written_type)?.0.get(axis).copied()
            })
        };
        (0..self.parallel.len()).map(size).collect()
    }

    /// The type of a number of its body.
    pub(super) fn type_of(&self, number: &str) -> Option<String> {
        let mut ports = self.inputs.iter().chain(&self.outputs);
        if let Some(port) = ports.find(|it| it.element == number) {
            return Some(port.element_type.clone());
        }
        result_type(&self.body.iter().find(|it| it.result == number)?.text)
    }

    /// Whether a number of its body is computed from what is in its outputs.
    fn reads_outputs(&self, number: &str) -> bool {
        let mut needed: HashSet<&str> = HashSet::from([number]);
        for scalar in self.body.iter().rev() {
            if needed.contains(scalar.result.as_str()) {
                needed.extend(values(&scalar.text).map(|(_, value)| value));
            }
        }
        self.outputs.iter().any(|it| needed.contains(it.element.as_str()))
    }

    /// Whether each point of its loops has one such number: all loops are parallel, or it is
    /// computed before anything is reduced.
    pub(super) fn has_one_per_point(&self, number: &str) -> bool {
        self.parallel.iter().all(|it| *it) || !self.reads_outputs(number)
    }

    /// The operation that leaves a number of its body, for each point of its loops, in a tensor of
    /// this value.
    pub(super) fn ended_at(&self, number: &str, into: &str) -> Option<Self> {
        let (sizes, element_type) = (self.sizes()?, self.type_of(number)?);
        let mut it = self.clone();
        it.inputs.append(&mut it.outputs);
        it.outputs = vec![Port::of_points(into, &sizes, "%left", &element_type)];
        it.parallel.fill(true);
        it.yields = vec![number.to_owned()];
        it.clean();
        Some(it)
    }

    /// Takes a number of its body, for each point of its loops, out of a tensor.
    pub(super) fn record(&mut self, number: &str, value: &str) -> Option<()> {
        let (sizes, element_type) = (self.sizes()?, self.type_of(number)?);
        let element = format!("%in_{}", value.trim_start_matches('%'));
        self.inputs.push(Port::of_points(value, &sizes, &element, &element_type));
        self.body.retain(|it| it.result != number);
        self.replace(number, &element);
        Some(())
    }

    /// Puts a number in the place of another one, wherever that is used.
    pub(super) fn replace(&mut self, number: &str, by: &str) {
        for scalar in &mut self.body {
            if scalar.result != number {
                scalar.text = with_value(&scalar.text, number, by);
            }
        }
        for it in self.yields.iter_mut().filter(|it| *it == number) {
            by.clone_into(it);
        }
    }

    /// Drops operations whose results nothing uses, and inputs that no operation reads, as long as
    /// the others tell how often each loop runs.
    pub(super) fn clean(&mut self) {
        let mut used: HashSet<String> = self.yields.iter().cloned().collect();
        for at in (0..self.body.len()).rev() {
            match used.contains(&self.body[at].result) {
                true => {
                    let text = self.body[at].text.clone();
                    used.extend(values(&text).map(|(_, value)| value.to_owned()));
                }
                false => drop(self.body.remove(at)),
            }
        }
        for at in (0..self.inputs.len()).rev() {
            if used.contains(&self.inputs[at].element) {
                continue;
            }
            let port = self.inputs.remove(at);
            if self.sizes().is_none() {
                self.inputs.insert(at, port);
            }
        }
    }

    /// Whether all of its tensors have an element for each point of the loops, in their order.
    pub(super) fn is_elementwise(&self) -> bool {
        let is_identity = |port: &Port| {
            port.indices.len() == self.parallel.len()
                && port.indices.iter().enumerate().all(|(at, it)| *it == format!("d{at}"))
        };
        self.parallel.iter().all(|it| *it)
            && self.inputs.iter().chain(&self.outputs).all(is_identity)
            && self.body.iter().all(|it| name_of(&it.text) != "linalg.index")
    }
}

/// What a map gives.
fn indices(map: &str, aliases: &[String]) -> Option<Vec<String>> {
    let of_alias = |name: &str| {
        let known =
            aliases.iter().find_map(|line| line.split_once(" = ").filter(|it| it.0 == name));
        known.map(|(_, map)| map)
    };
    let map = if map.starts_with('#') { of_alias(map)? } else { map };
    let (_, given) = map.split_once(" -> (")?;
    let given = given.trim_end().strip_suffix(")>")?;
    Some(parts(given).into_iter().map(str::to_owned).collect())
}

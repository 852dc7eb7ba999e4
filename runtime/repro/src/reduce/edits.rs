//! What can be done to a program: end it at one of its values, take a value out of a recorded
//! tensor, put one value in the place of another, take a part of all tensors.
//!
//! An edit gives a program or none; whether that one is valid, and whether it still fails, is for
//! the judge.

use abi::tensor::Tensor;
use debuginfo::{ArgumentOrigin, FunctionResult};

use super::program::{Argument, Kind, Operation, Program, name_of};
use super::text::{shape_of, tensor_type, values, with_value};
use crate::dispatch_run::Input;

/// A value of a program: a tensor, or a number in the body of the `linalg.generic` that leaves one.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Place {
    pub(super) tensor: String,
    pub(super) number: Option<String>,
}

impl Place {
    /// The value, as a reader finds it in the text.
    pub(super) fn name(&self) -> &str {
        self.number.as_ref().unwrap_or(&self.tensor)
    }
}

/// Element types that tensors of files have, of which each element has bytes of its own.
const OF_FILES: [&str; 8] = ["i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"];

/// More bytes than this are not recorded for one value.
const MOST_BYTES: u64 = 64 << 20;

/// Whether a tensor of a written type can be a file.
fn is_of_files(written_type: &str) -> bool {
    shape_of(written_type).is_some_and(|(sizes, element)| {
        let count = sizes.iter().try_fold(8, |all: u64, size| all.checked_mul(*size));
        OF_FILES.contains(&element) && count.is_some_and(|it| it <= MOST_BYTES)
    })
}

impl Program {
    /// All values that operations compute, in their order.
    pub(super) fn places(&self) -> Vec<Place> {
        let mut all = Vec::new();
        for operation in self.operations.iter().filter(|it| !it.is_leaf()) {
            let Some(tensor) = operation.result.clone() else { continue };
            if let Kind::Generic(generic) = &operation.kind {
                let numbers = generic.body.iter().map(|it| Some(it.result.clone()));
                all.extend(numbers.map(|number| Place { tensor: tensor.clone(), number }));
            }
            all.push(Place { tensor, number: None });
        }
        all
    }

    fn index_of(&self, tensor: &str) -> Option<usize> {
        self.operations.iter().position(|it| it.result.as_deref() == Some(tensor))
    }

    /// The program that returns this value only, for each point of the loops around it.
    pub(super) fn ended_at(&self, place: &Place) -> Option<Self> {
        let mut it = self.clone();
        let at = it.index_of(&place.tensor)?;
        let (mut value, mut written_type) = (place.tensor.clone(), it.operations[at].result_type());
        if let (Some(number), Kind::Generic(generic)) = (&place.number, &it.operations[at].kind) {
            if !generic.has_one_per_point(number) {
                return None;
            }
            let into = it.new_name("empty");
            let ended = generic.ended_at(number, &into)?;
            let own = ended.outputs.first()?.written_type.clone();
            value = it.new_name("left");
            let empty = Kind::Whole(vec![format!("{into} = tensor.empty() : {own}")]);
            written_type = Some(own);
            it.operations.truncate(at);
            it.operations.push(Operation { result: Some(into), kind: empty });
            let kind = Kind::Generic(ended);
            it.operations.push(Operation { result: Some(value.clone()), kind });
        }
        let written_type = written_type.filter(|it| is_of_files(it))?;
        let operand = it.results.first()?.operand;
        it.results = vec![FunctionResult { operand, value, written_type, sizes: Vec::new() }];
        it.clean();
        Some(it)
    }

    /// The program that returns one of its results only.
    pub(super) fn with_result(&self, index: usize) -> Option<Self> {
        let mut it = self.clone();
        it.results = vec![it.results.get(index)?.clone()];
        it.clean();
        Some(it)
    }

    /// Whether operations use a value.
    pub(super) fn uses(&self, place: &Place) -> bool {
        let Some(at) = self.index_of(&place.tensor) else { return false };
        match (&place.number, &self.operations[at].kind) {
            (Some(number), Kind::Generic(generic)) => {
                generic.body.iter().any(|it| it.result == *number)
            }
            (Some(_), Kind::Whole(_)) => false,
            (None, _) => true,
        }
    }

    /// The program that is given a value, and does not compute it.
    pub(super) fn recorded(&self, place: &Place, tensor: Tensor) -> Option<Self> {
        let mut it = self.clone();
        let name = it.new_name("recorded");
        let at = it.index_of(&place.tensor)?;
        let written_type = match &place.number {
            Some(number) => {
                let Kind::Generic(generic) = &mut it.operations[at].kind else { return None };
                if !generic.has_one_per_point(number) {
                    return None;
                }
                let written_type = tensor_type(&generic.sizes()?, &generic.type_of(number)?);
                generic.record(number, &name)?;
                written_type
            }
            None => {
                let written_type = it.operations.remove(at).result_type()?;
                it.rename(&place.tensor, &name);
                written_type
            }
        };
        if !is_of_files(&written_type) {
            return None;
        }
        it.arguments.push(Argument {
            name,
            written_type,
            origin: ArgumentOrigin::Inner,
            input: Input::Tensor(tensor),
        });
        it.clean();
        Some(it)
    }

    /// Puts a tensor in the place of another one.
    fn rename(&mut self, tensor: &str, by: &str) {
        for operation in &mut self.operations {
            match &mut operation.kind {
                Kind::Whole(lines) => {
                    lines.iter_mut().for_each(|line| *line = with_value(line, tensor, by));
                }
                Kind::Generic(generic) => {
                    let ports = generic.inputs.iter_mut().chain(&mut generic.outputs);
                    ports
                        .filter(|it| it.value == tensor)
                        .for_each(|it| by.clone_into(&mut it.value));
                    // Numbers may index into tensors.
                    generic.replace(tensor, by);
                }
            }
        }
        for result in self.results.iter_mut().filter(|it| it.value == tensor) {
            by.clone_into(&mut result.value);
        }
    }

    /// The program with the sizes of its call in the place of dynamic ones, if its arguments and
    /// results tell all of them by the sizes beside them.
    pub(super) fn filled(&self) -> Option<Self> {
        let mut it = self.clone();
        let mut known: Vec<(String, String)> = Vec::new();
        for operation in &self.operations {
            for line in operation.lines() {
                let Some((_, types)) = line.split_once(" = tensor.cast ") else { continue };
                let (_, types) = types.split_once(" : ")?;
                let (a, b) = types.split_once(" to ")?;
                let (dynamic, fixed) = if a.contains('?') { (a, b) } else { (b, a) };
                let (sizes, element) = shape_of(fixed)?;
                let head = |text: &str| Some(text.strip_suffix(&format!("{element}>"))?.to_owned());
                let pair = (head(dynamic)?, head(&tensor_type(&sizes, element))?);
                if known.iter().any(|it| it.0 == pair.0 && it.1 != pair.1) {
                    return None;
                }
                known.push(pair);
            }
        }
        if known.is_empty() {
            return None;
        }
        let fill = |text: &str| {
            known.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
        };
        for at in (0..it.operations.len()).rev() {
            let operation = &mut it.operations[at];
            match &mut operation.kind {
                Kind::Whole(lines) => lines.iter_mut().for_each(|line| {
                    *line = fill(line);
                    if let Some((head, rest)) = line.split_once("tensor.empty(")
                        && let Some((_, written)) = rest.split_once(" : ")
                    {
                        *line = format!("{head}tensor.empty() : {written}");
                    }
                }),
                Kind::Generic(generic) => {
                    let ports = generic.inputs.iter_mut().chain(&mut generic.outputs);
                    ports.for_each(|port| port.written_type = fill(&port.written_type));
                }
            }
            if let Kind::Whole(lines) = &operation.kind
                && let [line] = &lines[..]
                && name_of(line) == "tensor.cast"
                && let Some(result) = operation.result.clone()
            {
                let of = values(line).nth(1)?.1.to_owned();
                it.operations.remove(at);
                it.rename(&result, &of);
            }
        }
        it.clean();
        let lines = it.operations.iter().flat_map(Operation::lines);
        let is_static = lines.into_iter().all(|line| !line.contains("tensor<?"));
        is_static.then_some(it)
    }

    /// The values that could stand in the place of one: those of its type that it is computed from,
    /// and elements of inputs.
    pub(super) fn substitutes(&self, place: &Place) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        let Some(at) = self.index_of(&place.tensor) else { return all };
        let operation = &self.operations[at];
        match (&place.number, &operation.kind) {
            (Some(number), Kind::Generic(generic)) => {
                let Some(own) = generic.type_of(number) else { return all };
                let type_of = |name: &str| generic.type_of(name).or_else(|| self.type_of(name));
                let of = generic.body.iter().find(|it| it.result == *number);
                let operands = of.iter().flat_map(|it| values(&it.text)).map(|it| it.1);
                let inputs = generic.inputs.iter().map(|it| it.element.as_str());
                let fit = operands.chain(inputs).filter(|it| type_of(it).as_ref() == Some(&own));
                all.extend(fit.filter(|it| it != number).map(str::to_owned));
            }
            (None, _) => {
                let Some(own) = operation.result_type() else { return all };
                let lines = operation.lines();
                let used = lines.iter().flat_map(|line| values(line)).map(|it| it.1);
                let fit = used.filter(|it| self.type_of(it).as_ref() == Some(&own));
                all.extend(fit.filter(|it| *it != place.tensor).map(str::to_owned));
            }
            (Some(_), Kind::Whole(_)) => {}
        }
        let mut seen = std::collections::HashSet::new();
        all.retain(|it| seen.insert(it.clone()));
        all
    }

    /// The program with another value in the place of one.
    pub(super) fn replaced(&self, place: &Place, by: &str) -> Option<Self> {
        let mut it = self.clone();
        let at = it.index_of(&place.tensor)?;
        match &place.number {
            Some(number) => {
                let Kind::Generic(generic) = &mut it.operations[at].kind else { return None };
                generic.replace(number, by);
            }
            None => {
                it.operations.remove(at);
                it.rename(&place.tensor, by);
            }
        }
        it.clean();
        Some(it)
    }

    /// The shape that all tensors have, if each element of the results is computed from those at
    /// its own place.
    pub(super) fn common_shape(&self) -> Option<Vec<u64>> {
        let is_simple = |operation: &Operation| match &operation.kind {
            Kind::Generic(generic) => generic.is_elementwise(),
            Kind::Whole(lines) => match &lines[..] {
                [line] => {
                    matches!(name_of(line), "tensor.empty" | "linalg.fill") || {
                        operation.is_leaf() && !line.contains("tensor<")
                    }
                }
                _ => false,
            },
        };
        if !self.operations.iter().all(is_simple) {
            return None;
        }
        let shape = shape_of(&self.results.first()?.written_type)?.0;
        let given = self.arguments.iter().map(|it| it.written_type.clone());
        let made = self.operations.iter().filter_map(Operation::result_type);
        let mut types = given.chain(made).filter(|it| it.starts_with("tensor<"));
        types.all(|it| shape_of(&it).is_some_and(|it| it.0 == shape)).then_some(shape)
    }

    /// The program on a part of all tensors, which have this shape.
    pub(super) fn part(&self, shape: &[u64], start: &[u64], sizes: &[u64]) -> Option<Self> {
        let written = |sizes: &[u64]| {
            let sizes: String = sizes.iter().map(|it| format!("{it}x")).collect();
            format!("tensor<{sizes}")
        };
        let (from, to) = (written(shape), written(sizes));
        let mut it = self.clone();
        for argument in &mut it.arguments {
            let Input::Tensor(tensor) = &argument.input else { return None };
            argument.input = Input::Tensor(part_of(tensor, start, sizes)?);
            argument.written_type = argument.written_type.replace(&from, &to);
        }
        for operation in &mut it.operations {
            match &mut operation.kind {
                Kind::Whole(lines) => {
                    lines.iter_mut().for_each(|line| *line = line.replace(&from, &to));
                }
                Kind::Generic(generic) => {
                    for port in generic.inputs.iter_mut().chain(&mut generic.outputs) {
                        port.written_type = port.written_type.replace(&from, &to);
                    }
                }
            }
        }
        for result in &mut it.results {
            result.written_type = result.written_type.replace(&from, &to);
        }
        Some(it)
    }
}

/// A part of a tensor.
fn part_of(tensor: &Tensor, start: &[u64], sizes: &[u64]) -> Option<Tensor> {
    let width = tensor.element_type.byte_count();
    let count: u64 = sizes.iter().product();
    let mut bytes = Vec::new();
    for number in 0..count {
        let (mut rest, mut at, mut stride) = (number, 0, 1);
        for axis in (0..sizes.len()).rev() {
            at += (start[axis] + rest % sizes[axis]) * stride;
            stride *= tensor.shape[axis];
            rest /= sizes[axis];
        }
        let first = usize::try_from(at).ok()?.checked_mul(width)?;
        bytes.extend_from_slice(tensor.bytes.get(first..first + width)?);
    }
    Some(Tensor { shape: sizes.to_vec(), element_type: tensor.element_type, bytes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_tensor_has_its_elements() {
        let tensor = Tensor::parse("3x4xi8=0,1,2,3,4,5,6,7,8,9,10,11", 99).unwrap();
        let part = part_of(&tensor, &[1, 2], &[2, 2]).unwrap();
        assert_eq!(part, Tensor::parse("2x2xi8=6,7,10,11", 99).unwrap());
        assert_eq!(part_of(&tensor, &[2, 3], &[2, 2]), None);
    }

    const MAP: &str = "#map = affine_map<(d0, d1) -> (d0, d1)>";
    const ROW: &str = "#row = affine_map<(d0, d1) -> (d0)>";

    fn row_sums() -> Program {
        let body = "%e = tensor.empty() : tensor<2xi32> loc(#loc1)\n\
             %r = linalg.generic {indexing_maps = [#map, #row], \
             iterator_types = [\"parallel\", \"reduction\"]} ins(%x : tensor<2x3xf32>) \
             outs(%e : tensor<2xi32>) {\n\
             ^bb0(%a: f32, %o: i32):\n\
             %0 = arith.negf %a : f32\n\
             %1 = arith.fptosi %0 : f32 to i32\n\
             %2 = arith.addi %1, %o : i32\n\
             linalg.yield %2 : i32\n\
             } -> tensor<2xi32>";
        let function = debuginfo::DispatchFunction {
            name: "f".to_owned(),
            aliases: vec![MAP.to_owned(), ROW.to_owned()],
            arguments: vec![debuginfo::FunctionArgument {
                name: "x".to_owned(),
                written_type: "tensor<2x3xf32>".to_owned(),
                origin: ArgumentOrigin::Operand(0),
            }],
            results: vec![FunctionResult {
                operand: 1,
                value: "%r".to_owned(),
                written_type: "tensor<2xi32>".to_owned(),
                sizes: Vec::new(),
            }],
            before: Vec::new(),
            body: body.lines().map(str::to_owned).collect(),
            lost: Vec::new(),
        };
        let x = Tensor::parse("2x3xf32=1", 99).unwrap();
        Program::of(&function, &[Input::Tensor(x)]).unwrap()
    }

    fn number(name: &str) -> Place {
        Place { tensor: "%r".to_owned(), number: Some(name.to_owned()) }
    }

    #[test]
    fn a_program_ends_at_a_number_for_each_point_of_its_loops() {
        let program = row_sums();
        assert_eq!(program.count(), 5);
        let ended = program.ended_at(&number("%1")).unwrap();
        assert_eq!(ended.results[0].written_type, "tensor<2x3xi32>");
        assert_eq!(ended.names(), ["tensor.empty", "linalg.generic", "arith.negf", "arith.fptosi"]);
        let text = ended.function().text();
        assert!(text.contains("iterator_types = [\"parallel\", \"parallel\"]"), "{text}");
        // A sum has no number for each point.
        assert!(program.ended_at(&number("%2")).is_none());
    }

    #[test]
    fn a_recorded_number_is_an_argument() {
        let program = row_sums();
        let value = Tensor::parse("2x3xi32=5", 99).unwrap();
        let recorded = program.recorded(&number("%1"), value).unwrap();
        assert_eq!(recorded.names(), ["tensor.empty", "linalg.generic", "arith.addi"]);
        let [argument] = &recorded.arguments[..] else { panic!("{:?}", recorded.arguments) };
        assert_eq!(argument.written_type, "tensor<2x3xi32>");
    }

    #[test]
    fn another_value_of_the_type_stands_for_one() {
        let program = row_sums();
        assert_eq!(program.substitutes(&number("%0")), ["%a"]);
        assert_eq!(program.substitutes(&number("%2")), ["%1", "%o"]);
        let replaced = program.replaced(&number("%0"), "%a").unwrap();
        assert!(replaced.function().text().contains("arith.fptosi %a"));
        assert_eq!(replaced.count(), 4);
        assert_eq!(program.common_shape(), None, "rows are added up");
    }
}

//! Which parts of its results a dispatch stores, by its own text in the debug file.

/// What a dispatch stores.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Work {
    /// The parts of tensors that are stored, by the number of the tensor among all.
    stored: Vec<(usize, StoredPart)>,
}

/// A part of a tensor that a dispatch stores.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum StoredPart {
    /// Begin and size along each axis.
    Box(Vec<(u64, u64)>),
    /// Only the run knows which.
    Unknown,
}

impl Work {
    /// Reads the text of an executable for one of its functions.
    pub(crate) fn parse(text: &str, export: &str) -> Self {
        let mut work = Self::default();
        let mut subspans: Vec<String> = Vec::new();
        for line in function(text, export) {
            let line = line.trim_start();
            let statement = match line.rsplit_once(" loc(") {
                Some((statement, _)) => statement,
                None => line,
            };
            let (result, operation) = match statement.split_once(" = ") {
                Some(defined) if line.starts_with('%') => defined,
                _ => ("", statement),
            };
            if operation.starts_with("hal.interface.binding.subspan")
                && !operation.contains("#iree_encoding")
            {
                subspans.push(result.to_owned());
            } else if operation.contains("dispatch.tensor.store ") {
                work.stored.extend(stored(operation, &subspans));
            }
        }
        work
    }

    /// The part of a tensor that the dispatch stores; none if it stores all of it.
    pub(crate) fn stored_part(&self, operand: usize, shape: &[u64]) -> Option<&StoredPart> {
        let mut parts = self.stored.iter().filter(|(index, _)| *index == operand);
        let (_, part) = parts.next()?;
        if parts.next().is_some() {
            return Some(&StoredPart::Unknown);
        }
        let is_all = |bounds: &Vec<(u64, u64)>| {
            let whole = shape.iter().map(|size| (0, *size));
            bounds.iter().copied().eq(whole)
        };
        match part {
            StoredPart::Box(bounds) if is_all(bounds) => None,
            part => Some(part),
        }
    }
}

/// The lines of a function.
fn function<'t>(text: &'t str, export: &str) -> impl Iterator<Item = &'t str> {
    let (plain, quoted) = (format!("@{export}("), format!("@\"{export}\"("));
    let begins = move |line: &&str| {
        let rest = line.trim_start().strip_prefix("func.func ");
        rest.is_some_and(|rest| rest.contains(&plain) || rest.contains(&quoted))
    };
    let lines = text.lines().skip_while(move |line| !begins(line)).skip(1);
    lines.take_while(|line| {
        let line = line.trim_start();
        line != "return" && !line.starts_with("return ") && !line.starts_with("func.func ")
    })
}

/// `iree_tensor_ext.dispatch.tensor.store %5, %1, offsets = [0, 0], sizes = [8, 32], strides = …`
fn stored(operation: &str, subspans: &[String]) -> Option<(usize, StoredPart)> {
    let (_, rest) = operation.split_once("dispatch.tensor.store ")?;
    let target = rest.split(", ").nth(1)?.trim();
    let operand = subspans.iter().position(|name| name == target)?;
    let list = |name: &str| {
        let (_, rest) = rest.split_once(name)?;
        let (list, _) = rest.split_once(']')?;
        let numbers = list.split(", ").filter(|it| !it.is_empty());
        numbers.map(|it| it.trim().parse().ok()).collect::<Option<Vec<u64>>>()
    };
    let known = || {
        let (offsets, sizes) = (list("offsets = [")?, list("sizes = [")?);
        let strides = list("strides = [")?;
        let is_dense = strides.iter().all(|stride| *stride == 1);
        is_dense.then(|| StoredPart::Box(offsets.into_iter().zip(sizes).collect()))
    };
    // Sizes that only the run knows are those of the whole, most often; offsets of 0 say so.
    let is_whole = || {
        let offsets = list("offsets = [")?;
        let (_, types) = rest.rsplit_once(" : ")?;
        let (from, to) = types.split_once(" -> ")?;
        let same = shape_text(from)? == shape_text(to)?;
        (same && offsets.iter().all(|it| *it == 0)).then_some(())
    };
    match known() {
        Some(part) => Some((operand, part)),
        None if is_whole().is_some() => None,
        None => Some((operand, StoredPart::Unknown)),
    }
}

/// `tensor<4x8xf32>` inside a type.
fn shape_text(of: &str) -> Option<&str> {
    let (_, rest) = of.rsplit_once("tensor<")?;
    rest.split(['>', ',']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
#map = affine_map<(d0, d1) -> (d0, d1)>
#map1 = affine_map<(d0, d1) -> (d0)>
      func.func @other() {
          %9 = linalg.matmul ins(%1, %2 : tensor<4x999xf32>, tensor<999x8xf32>) outs(%3)
        return
      }
      func.func @f() {
          %0 = hal.interface.binding.subspan layout(<x>) binding(0) : !t<readonly:tensor<8x64xf32>>
          %1 = hal.interface.binding.subspan layout(<x>) binding(1) : !t<writeonly:tensor<8x80xf32>>
  iree_tensor_ext.dispatch.tensor.store %5, %1, offsets = [0, 16], sizes = [8, 64], \
            strides = [1, 1] : tensor<8x64xf32> -> !t<w:tensor<8x80xf32>>
        return loc(#loc3)
      }
";

    #[test]
    fn the_stored_part_is_known() {
        let work = Work::parse(TEXT, "f");
        let part = StoredPart::Box(vec![(0, 8), (16, 64)]);
        assert_eq!(work.stored_part(1, &[8, 80]), Some(&part));
        assert_eq!(work.stored_part(0, &[8, 64]), None);
        let whole = TEXT.replace("[0, 16], sizes = [8, 64]", "[0, 0], sizes = [8, 80]");
        assert_eq!(Work::parse(&whole, "f").stored_part(1, &[8, 80]), None);
        let unknown = TEXT.replace("offsets = [0, 16]", "offsets = [0, %7]");
        let unknown = Work::parse(&unknown, "f");
        assert_eq!(unknown.stored_part(1, &[8, 80]), Some(&StoredPart::Unknown));
    }
}

//! The words that stand in an operation or an attribute: those of the installed compiler or of
//! IREE 3.13, else those of `mlir`'s table.

use super::facts::known;

/// The words of an attribute of an operation, by its key or its name (`fastmath`, `iterator_types`,
/// `gpu.address_space`); without a key, those after the operation's name, as in `arith.cmpi eq`.
pub(crate) fn words_of(op: &str, key: Option<&str>) -> Vec<String> {
    let all = known();
    let operation = all.get(op);
    let parts = operation.map_or(&[][..], |operation| &operation.attributes);
    let of_compiler = match key {
        Some(key) => {
            let own = parts.iter().find(|part| part.name == key && !part.words.is_empty());
            let own = own.map(|part| part.words.clone());
            let last = key.rsplit('.').next().unwrap_or(key);
            let of_attribute = || all.words_of(key).or_else(|| all.words_of(last));
            own.or_else(|| of_attribute().map(<[String]>::to_vec))
        }
        None => mlir::words::leads(op)
            .then(|| parts.iter().find(|part| !part.words.is_empty()))
            .flatten()
            .map(|part| part.words.clone()),
    };
    of_compiler.unwrap_or_else(|| {
        let known = mlir::words::words(op, key);
        known.unwrap_or_default().iter().map(|word| (*word).to_owned()).collect()
    })
}

//! Files with a single parameter: `.npy` (its data), `.bin` and `.raw` (all of it). The key is the
//! file's name without the extension.

use vm::Status;

use super::index::{Index, Source};

/// Adds the whole file.
pub(super) fn parse(source: &Source, index: &mut Index) -> Result<(), Status> {
    index.add_data(&key(source), source, 0, source.bytes().len() as u64)
}

/// Adds the data of the array that the file begins with.
pub(super) fn parse_npy(source: &Source, index: &mut Index) -> Result<(), Status> {
    let header = abi::npy::Header::read_first(source.bytes().owned(), source.bytes().len())
        .map_err(|error| Status::invalid_argument(error.to_string()))?;
    index.add_data(&key(source), source, header.data.start as u64, header.data.len() as u64)?;
    let abi::tensor::TensorType { shape, element_type } = header.tensor_type;
    index.state_type(&shape, &element_type.to_string());
    Ok(())
}

fn key(source: &Source) -> String {
    source.path().file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

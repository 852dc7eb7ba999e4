//! The native module `vmvx`: its name and all its kernels.

use vm::NativeModule;

use super::{elementwise, matrix, pack};

/// The name that programs import from.
pub(crate) const NAME: &str = "vmvx";

/// The module.
#[must_use]
pub(crate) fn module() -> NativeModule {
    let builder = elementwise::declare(NativeModule::builder(NAME));
    let builder = matrix::declare(builder);
    pack::declare(builder).build()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use vm::{Buffer, Context, Invocation, Outcome, Ref, Value};

    use super::*;

    /// Calls a kernel; returns its results, or the error's text.
    fn call(name: &str, arguments: Vec<Value>) -> Result<Vec<Value>, String> {
        let mut context = Context::builder().add_native(module()).link().unwrap();
        let function = context.lookup(&format!("vmvx.{name}")).unwrap();
        let mut invocation = Invocation::new(&context, function, arguments).unwrap();
        match invocation.run(&mut context) {
            Outcome::Completed(results) => Ok(results),
            Outcome::Failed(failure) => Err(failure.to_string()),
            other => Err(format!("{other:?}")),
        }
    }

    fn buffer<const N: usize>(elements: impl IntoIterator<Item = [u8; N]>) -> Arc<Buffer> {
        let bytes: Vec<u8> = elements.into_iter().flatten().collect();
        Arc::new(Buffer::from_bytes(&bytes).unwrap())
    }

    fn floats(elements: &[f32]) -> Arc<Buffer> {
        buffer(elements.iter().map(|element| element.to_le_bytes()))
    }

    fn words(elements: &[i32]) -> Arc<Buffer> {
        buffer(elements.iter().map(|element| element.to_le_bytes()))
    }

    fn as_floats(buffer: &Buffer) -> Vec<f32> {
        let bytes = buffer.read(0, buffer.len());
        bytes.as_chunks().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect()
    }

    fn as_words(buffer: &Buffer) -> Vec<i32> {
        let bytes = buffer.read(0, buffer.len());
        bytes.as_chunks().0.iter().map(|bytes| i32::from_le_bytes(*bytes)).collect()
    }

    /// An operand: a buffer, then numbers.
    fn operand<const N: usize>(buffer: &Arc<Buffer>, numbers: [i64; N]) -> Vec<Value> {
        let numbers = numbers.into_iter().map(Value::I64);
        std::iter::once(Value::Ref(Ref::Buffer(buffer.clone()))).chain(numbers).collect()
    }

    fn numbers<const N: usize>(numbers: [i64; N]) -> Vec<Value> {
        numbers.into_iter().map(Value::I64).collect()
    }

    #[test]
    fn strides_say_what_is_broadcast_and_what_is_transposed() {
        // A 2x3 matrix, transposed, plus a row that is used for all rows.
        let matrix = floats(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let row = floats(&[10.0, 20.0]);
        let out = floats(&[0.0; 7]);
        let arguments = [
            operand(&matrix, [0, 1, 3]),
            operand(&row, [0, 0, 1]),
            operand(&out, [1, 2, 1]),
            numbers([3, 2]),
        ];
        call("add.2d.f32", arguments.concat()).unwrap();
        assert_eq!(as_floats(&out), [0.0, 11.0, 24.0, 12.0, 25.0, 13.0, 26.0]);
    }

    #[test]
    fn integers_wrap_and_divide_as_they_should() {
        let binary = |name: &str, left: i32, right: i32| {
            let out = words(&[0]);
            let arguments = [
                operand(&words(&[left]), [0, 1, 1]),
                operand(&words(&[right]), [0, 1, 1]),
                operand(&out, [0, 1, 1]),
                numbers([1, 1]),
            ];
            call(name, arguments.concat()).map(|_| as_words(&out)[0])
        };
        for (name, left, right, expected) in [
            ("add.2d.i32", i32::MAX, 1, i32::MIN),
            ("mul.2d.i32", 1 << 20, 1 << 12, 0),
            ("divs.2d.i32", -7, 2, -3),
            ("divs.2d.i32", i32::MIN, -1, i32::MIN),
            ("divu.2d.i32", -1, 2, i32::MAX),
            ("shrs.2d.i32", -8, 1, -4),
            ("shru.2d.i32", -8, 1, i32::MAX - 3),
            ("shl.2d.i32", 1, 33, 2),
            ("xor.2d.i32", 6, 3, 5),
        ] {
            assert_eq!(binary(name, left, right), Ok(expected), "{name}");
        }
        assert!(binary("divs.2d.i32", 1, 0).unwrap_err().contains("division by zero"));
        assert!(binary("divu.2d.i32", 1, 0).unwrap_err().contains("division by zero"));
    }

    /// Packs a matrix for a product, multiplies, and unpacks: `rows`x`inner` by the transpose of
    /// `columns`x`inner`, in tiles that do not divide the sizes.
    fn multiply_packed(lhs: &[f32], rhs: &[f32], [rows, columns, inner]: [usize; 3]) -> Vec<f32> {
        const M0: usize = 4;
        const N0: usize = 3;
        const K0: usize = 2;
        let [m, n, k] = [rows.div_ceil(M0), columns.div_ceil(N0), inner.div_ceil(K0)];
        let pack = |matrix: &[f32], height: usize, [outer, tile]: [usize; 2]| {
            let packed = floats(&vec![9.0; outer * k * tile * K0]);
            let stride = (k * tile * K0) as i64;
            let sizes = [height, inner, outer, k, tile, K0].map(|size| size as i64);
            let arguments = [
                operand(&floats(matrix), [0, inner as i64, 1]),
                operand(&packed, [0, stride, (tile * K0) as i64]),
                numbers(sizes),
                vec![Value::I64(0), Value::I32(1)],
            ];
            call("pack", arguments.concat()).unwrap();
            packed
        };
        let lhs = pack(lhs, rows, [m, M0]);
        let rhs = pack(rhs, columns, [n, N0]);
        let product = floats(&vec![9.0; m * n * M0 * N0]);
        let arguments = [
            operand(&lhs, [0, (k * M0 * K0) as i64]),
            operand(&rhs, [0, (k * N0 * K0) as i64]),
            operand(&product, [0, (n * M0 * N0) as i64]),
            numbers([m, n, k].map(|size| size as i64)),
            [M0, N0, K0, 1].map(|size| Value::I32(size as i32)).to_vec(),
        ];
        call("mmt4d", arguments.concat()).unwrap();
        let out = floats(&vec![0.0; rows * columns]);
        let sizes = [m, n, M0, N0, rows, columns].map(|size| size as i64);
        let arguments = [
            operand(&product, [0, (n * M0 * N0) as i64, (M0 * N0) as i64]),
            operand(&out, [0, columns as i64, 1]),
            numbers(sizes),
            vec![Value::I32(1)],
        ];
        call("unpack", arguments.concat()).unwrap();
        as_floats(&out)
    }

    #[test]
    fn a_product_of_packed_matrices_is_the_product() {
        for (rows, columns, inner) in [(4, 3, 2), (5, 7, 3), (1, 1, 1), (9, 2, 8)] {
            let lhs: Vec<f32> = (0..rows * inner).map(|index| index as f32).collect();
            let rhs: Vec<f32> = (0..columns * inner).map(|index| 1.0 - index as f32).collect();
            let expected: Vec<f32> = (0..rows * columns)
                .map(|at| {
                    let (row, column) = (at / columns, at % columns);
                    let products =
                        (0..inner).map(|l| lhs[row * inner + l] * rhs[column * inner + l]);
                    products.sum()
                })
                .collect();
            assert_eq!(multiply_packed(&lhs, &rhs, [rows, columns, inner]), expected);
        }
    }

    #[test]
    fn tiles_can_be_transposed() {
        // A 2x4 matrix in 2x2 tiles: the tiles transposed, then the elements in them.
        let matrix = words(&[0, 1, 2, 3, 4, 5, 6, 7]);
        for (flags, expected) in [
            (0x003, [0, 1, 4, 5, 2, 3, 6, 7]),
            (0x103, [0, 4, 1, 5, 2, 6, 3, 7]),
            (0x203, [0, 1, 4, 5, 2, 3, 6, 7]),
        ] {
            let is_outer = flags & 0x200 != 0;
            let (outer, stride) = if is_outer { ([2, 1], 4) } else { ([1, 2], 8) };
            let packed = words(&[-1; 8]);
            let arguments = [
                operand(&matrix, [0, 4, 1]),
                operand(&packed, [0, stride, 4]),
                numbers([2, 4, outer[0], outer[1], 2, 2, 0]),
                vec![Value::I32(flags)],
            ];
            call("pack", arguments.concat()).unwrap();
            assert_eq!(as_words(&packed), expected, "{flags:#x}");
            let unpacked = words(&[-1; 8]);
            let arguments = [
                operand(&packed, [0, stride, 4]),
                operand(&unpacked, [0, 4, 1]),
                numbers([outer[0], outer[1], 2, 2, 2, 4]),
                vec![Value::I32(flags)],
            ];
            call("unpack", arguments.concat()).unwrap();
            assert_eq!(as_words(&unpacked), [0, 1, 2, 3, 4, 5, 6, 7], "{flags:#x}");
        }
    }

    #[test]
    fn what_is_out_of_bounds_is_refused() {
        let small = words(&[0; 3]);
        let fill = |sizes| [vec![Value::I32(7)], operand(&small, [0, 2]), numbers(sizes)].concat();
        assert!(call("fill.2d.x32", fill([2, 2])).unwrap_err().contains("OUT_OF_RANGE"));
        assert_eq!(as_words(&small), [0; 3]);
        call("fill.2d.x32", fill([1, 2])).unwrap();
        assert_eq!(as_words(&small), [7, 7, 0]);
        let huge = [i64::MAX; 2];
        assert!(call("fill.2d.x32", fill(huge)).unwrap_err().contains("INVALID_ARGUMENT"));
        let arguments = [
            operand(&small, [0, 1]),
            operand(&small, [0, 1]),
            operand(&small, [0, 1]),
            numbers([0, 0, 1]),
            [i32::MAX, i32::MAX, i32::MAX, 1].map(Value::I32).to_vec(),
        ];
        // An empty product does nothing and allocates nothing, even for huge tiles.
        call("mmt4d", arguments.concat()).unwrap();
    }
}

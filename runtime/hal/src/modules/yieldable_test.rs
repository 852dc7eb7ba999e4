//! Module `yieldable_test`, which the tests of IREE's VM import: functions that yield a given
//! number of times. Other tests of imports that yield can use it too.
//!
//! | function | | result |
//! | --- | --- | --- |
//! | `yield_n` | `0ii_i` | the first argument and the number of times, the second |
//! | `yield_variadic_sum` | `0CiDi_i` | the sum of the span and the number of times |

use vm::{NativeModule, NativeReturn, Value};

pub(super) fn module() -> NativeModule {
    NativeModule::builder("yieldable_test")
        .function("yield_n", "0ii_i", |call| Ok(wait(call.i32(1)?, call.i32(0)?)))
        .function("yield_variadic_sum", "0CiDi_i", |call| {
            let mut sum = 0_i32;
            for tuple in call.span(0)? {
                sum = sum.wrapping_add(tuple.i32(0)?);
            }
            Ok(wait(call.i32(1)?, sum))
        })
        .build()
}

/// Yields `times` times, and adds 1 to `total` each time. Does not yield if `times` is negative.
fn wait(mut times: i32, mut total: i32) -> NativeReturn {
    if times <= 0 {
        return NativeReturn::Result(Value::I32(total));
    }
    NativeReturn::Pending(Box::new(move || {
        times -= 1;
        total = total.wrapping_add(1);
        Ok(wait(times, total))
    }))
}

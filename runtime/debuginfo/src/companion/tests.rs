//! Every syntax of names and locations in companions.

use super::Companion;

#[test]
fn every_syntax_of_locations() {
    let text = r##"
#loc1 = loc("a \22quoted\22 \5C.mlir":1:2)
module {
vm.module public @"m n" {
  vm.export @"f g" as("h i")
  vm.func private @"f g"(%arg0: !vm.ref<!hal.buffer> {x = "}"} loc(#loc1)) -> (i32, !vm.list<?>) attributes {a = {b = "{"}} {
    %0, %1:2 = vm.call @x() : () -> (i32, i64, !vm.ref<?>) loc(fused<#di.x<"a]">>["b.mlir":3:4, callsite(#loc2 at #loc1)])
    %2 = vm.const.i32.zero loc("label"("a.mlir":1:2 to :5))
    vm.return %0, %1#1 : i32, i64 loc("label")
  } loc(#loc3)
} loc(unknown)
}
#loc2 = loc("c.mlir":1:2 to 3:4)
#loc3 = loc(#loc2)
"##;
    let companion = Companion::parse(text.as_bytes()).expect("all of it is MLIR");
    let function = &companion.functions[0];
    assert_eq!((companion.module_name.as_str(), function.name.as_str()), ("m n", "f g"));
    assert_eq!(
        (companion.exports[0].name.as_str(), companion.exports[0].function.as_str()),
        ("h i", "f g")
    );
    let types: Vec<_> =
        function.values.iter().map(|value| (value.name.as_str(), &*value.mlir_type)).collect();
    assert_eq!(
        types,
        [("%arg0", "!vm.ref<!hal.buffer>"), ("%0", "i32"), ("%1#0", "i64"), ("%1#1", "!vm.ref<?>")],
        "without annotations only printed types count"
    );
    let files: Vec<_> = companion.locations.files().iter().map(|name| &**name).collect();
    assert_eq!(files, ["a \"quoted\" \\.mlir", "b.mlir", "a.mlir", "c.mlir"]);
}

// Operations whose places in the text are not their places in the program, as when the compiler moved them.
vm.module @moved {
  vm.export @main
  vm.func @main(%a: i32, %b: i32) -> i32 {
    %0 = vm.add.i32 %a, %b : i32
    %1 = vm.mul.i32 %0, %b : i32
    %2 = vm.sub.i32 %1, %a : i32 loc("moved.mlir":5:10)
    vm.cond_br %2, ^bb1(%2 : i32), ^bb2
  ^bb1(%3: i32):
    %4 = vm.xor.i32 %3, %b : i32 loc("moved.mlir":5:10)
    %5 = vm.add.i32 %4, %1 : i32
    %6 = vm.add.i32 %5, %4 : i32 loc("moved.mlir":5:10)
    vm.return %6 : i32
  ^bb2:
    vm.return %0 : i32
  }
}

// COMPILE-WITH: --compile-from=vm
vm.module @recursion {
  // RUN-WITH: --function=main --input=4
  vm.export @main
  vm.func @main(%n: i32) -> i32 {
    %c1 = vm.const.i32 1
    %more = vm.cmp.lt.i32.s %c1, %n : i32
    vm.cond_br %more, ^deeper, ^done
  ^deeper:
    %less = vm.sub.i32 %n, %c1 : i32
    %below = vm.call @main(%less) : (i32) -> i32 %again = vm.call @main(%less) : (i32) -> i32
    %sum = vm.add.i32 %below, %again : i32 %all = vm.add.i32 %sum, %n : i32
    vm.return %all : i32
  ^done:
    vm.return %c1 : i32
  }
}

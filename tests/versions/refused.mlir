// A program for a release whose bytecode is too old to be read here.
vm.module @refused {
  vm.export @answer
  vm.func @answer() -> i32 {
    %answer = vm.const.i32 42
    vm.return %answer : i32
  }
}

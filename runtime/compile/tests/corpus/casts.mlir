// flags: --compile-from=vm
// Operations that the compiler leaves out of the bytecode where they would do nothing.
vm.module @casts {
  vm.import private @x.take(%a : !vm.ref<?>)
  vm.export @kept
  vm.func private @kept(%b: !vm.buffer, %c: i32) -> !vm.buffer {
    %any = vm.cast.ref.any %b : !vm.buffer -> !vm.ref<?>
    vm.call @x.take(%any) : (!vm.ref<?>) -> ()
    %back = vm.cast.any.ref %any : !vm.ref<?> -> !vm.buffer
    %pick = vm.select.ref %c, %back, %b : !vm.buffer
    vm.trace "picked"(%c) : i32
    vm.yield ^bb1
  ^bb1:
    vm.return %pick : !vm.buffer
  }
  vm.export @left_out
  vm.func private @left_out(%b: !vm.buffer) -> !vm.ref<?> {
    %any = vm.cast.ref.any %b : !vm.buffer -> !vm.ref<?>
    vm.return %any : !vm.ref<?>
  }
  vm.export @discards
  vm.func private @discards(%b: !vm.buffer, %l: !vm.list<?>, %c: i32) {
    vm.cond_br %c, ^bb1(%b, %c : !vm.buffer, i32), ^bb2
  ^bb1(%moved : !vm.buffer, %n : i32):
    %any = vm.cast.ref.any %moved : !vm.buffer -> !vm.ref<?>
    vm.call @x.take(%any) : (!vm.ref<?>) -> ()
    %zero = vm.const.i32.zero
    vm.cond_br %n, ^bb1(%moved, %zero : !vm.buffer, i32), ^bb2
  ^bb2:
    vm.return
  }
}

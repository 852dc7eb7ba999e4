// What the assembler cannot write but the compiler can: vm.switch.ref.
//
// COMPILE-WITH: --compile-from=vm
// DISASSEMBLY-DIFFERS: the reference's disassembler forgets the type in vm.switch.ref and prints the bytes after the instruction.

vm.module @vm_dialect {
  // RUN-WITH: --function=switch --input=0
  // RUN-WITH: --function=switch --input=1
  // RUN-WITH: --function=switch --input=7
  vm.export @switch
  vm.func @switch(%index: i32) -> i64 {
    %c16 = vm.const.i64 16
    %c32 = vm.const.i64 32
    %c64 = vm.const.i64 64
    %alignment = vm.const.i32 16
    %a = vm.buffer.alloc %c16, %alignment : !vm.buffer
    %b = vm.buffer.alloc %c32, %alignment : !vm.buffer
    %c = vm.buffer.alloc %c64, %alignment : !vm.buffer
    %chosen = vm.switch.ref %index[%a, %b, %a] else %c : !vm.buffer
    %length = vm.buffer.length %chosen : !vm.buffer -> i64
    vm.return %length : i64
  }
}

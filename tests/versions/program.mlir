// A program in the VM dialect that every release compiles. Each RUN line is a call and what it gives, in all
// releases; the file is compiled by each of them with --compile-mode=vm.
vm.module @program {
  vm.global.i32 private mutable @count = 40 : i32
  vm.global.i64 private mutable @total : i64
  vm.global.ref private mutable @kept : !vm.buffer
  vm.rodata private @table dense<[7, 11, 13, 17]> : tensor<4xi32>

  vm.initializer {
    %two = vm.const.i32 2
    %count = vm.global.load.i32 @count : i32
    %more = vm.add.i32 %count, %two : i32
    vm.global.store.i32 %more, @count : i32
    %wide = vm.const.i64 5000000000
    vm.global.store.i64 %wide, @total : i64
    %table = vm.const.ref.rodata @table : !vm.buffer
    vm.global.store.ref %table, @kept : !vm.buffer
    vm.return
  }

  // RUN: --function=globals --input=1 => i32=43 i64=5000000043
  vm.export @globals
  vm.func @globals(%n: i32) -> (i32, i64) {
    %count = vm.global.load.i32 @count : i32
    %more = vm.add.i32 %count, %n : i32
    vm.global.store.i32 %more, @count : i32
    %again = vm.global.load.i32 @count : i32
    %wide = vm.ext.i32.i64.s %again : i32 -> i64
    %total = vm.global.load.i64 @total : i64
    %sum = vm.add.i64 %total, %wide : i64
    vm.return %again, %sum : i32, i64
  }

  // RUN: --function=loop --input=0 => i32=0
  // RUN: --function=loop --input=10 => i32=45
  vm.export @loop
  vm.func @loop(%n: i32) -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.br ^head(%zero, %zero : i32, i32)
  ^head(%i: i32, %sum: i32):
    %more = vm.cmp.lt.i32.s %i, %n : i32
    vm.cond_br %more, ^body(%i, %sum : i32, i32), ^exit(%sum : i32)
  ^body(%j: i32, %so_far: i32):
    %next_sum = vm.add.i32 %so_far, %j : i32
    %next = vm.add.i32 %j, %one : i32
    vm.br ^head(%next, %next_sum : i32, i32)
  ^exit(%result: i32):
    vm.return %result : i32
  }

  // RUN: --function=integers --input=-7 --input=3 => i32=-2 i32=-1 i32=1 i64=-21 i32=29
  vm.export @integers
  vm.func @integers(%a: i32, %b: i32) -> (i32, i32, i32, i64, i32) {
    %quotient = vm.div.i32.s %a, %b : i32
    %remainder = vm.rem.i32.s %a, %b : i32
    %less = vm.cmp.lt.i32.s %a, %b : i32
    %wide_a = vm.ext.i32.i64.s %a : i32 -> i64
    %wide_b = vm.ext.i32.i64.s %b : i32 -> i64
    %product = vm.mul.i64 %wide_a, %wide_b : i64
    %zeros = vm.ctlz.i32 %b : i32
    %one = vm.const.i32 1
    %fewer = vm.sub.i32 %zeros, %one : i32
    vm.return %quotient, %remainder, %less, %product, %fewer : i32, i32, i32, i64, i32
  }

  // RUN: --function=floats --input=2 --input=0.5 => f32=1 i32=1 f32=2.5 f32=0.707107
  vm.export @floats
  vm.func @floats(%n: i32, %x: f32) -> (f32, i32, f32, f32) {
    %f = vm.cast.si32.f32 %n : i32 -> f32
    %product = vm.mul.f32 %f, %x : f32
    %rounded = vm.cast.f32.si32 %product : f32 -> i32
    %sum = vm.add.f32 %f, %x : f32
    %less = vm.cmp.lt.f32.o %x, %f : f32
    %chosen = vm.select.f32 %less, %sum, %product : f32
    %root = vm.sqrt.f32 %x : f32
    vm.return %product, %rounded, %chosen, %root : f32, i32, f32, f32
  }

  // RUN: --function=lists --input=5 => i32=30 i32=5
  vm.export @lists
  vm.func @lists(%n: i32) -> (i32, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %list = vm.list.alloc %n : (i32) -> !vm.list<i32>
    vm.list.resize %list, %n : (!vm.list<i32>, i32)
    vm.br ^fill(%zero : i32)
  ^fill(%i: i32):
    %square = vm.mul.i32 %i, %i : i32
    vm.list.set.i32 %list, %i, %square : (!vm.list<i32>, i32, i32)
    %next = vm.add.i32 %i, %one : i32
    %more = vm.cmp.lt.i32.s %next, %n : i32
    vm.cond_br %more, ^fill(%next : i32), ^done
  ^done:
    %sum = vm.call @sum_of(%list, %n) : (!vm.list<i32>, i32) -> i32
    %size = vm.list.size %list : (!vm.list<i32>) -> i32
    vm.return %sum, %size : i32, i32
  }

  // It calls itself, so no compiler inlines it.
  vm.func private @sum_of(%list: !vm.list<i32>, %n: i32) -> i32 {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    vm.cond_br %n, ^more, ^done
  ^more:
    %index = vm.sub.i32 %n, %one : i32
    %value = vm.list.get.i32 %list, %index : (!vm.list<i32>, i32) -> i32
    %rest = vm.call @sum_of(%list, %index) : (!vm.list<i32>, i32) -> i32
    %sum = vm.add.i32 %value, %rest : i32
    vm.return %sum : i32
  ^done:
    vm.return %zero : i32
  }

  // The list holds lists, and passes one on.
  // RUN: --function=references --input=3 => i32=3 i32=1 i32=0
  vm.export @references
  vm.func @references(%n: i32) -> (i32, i32, i32) {
    %zero = vm.const.i32 0
    %one = vm.const.i32 1
    %inner = vm.list.alloc %n : (i32) -> !vm.list<i32>
    vm.list.resize %inner, %n : (!vm.list<i32>, i32)
    %outer = vm.list.alloc %one : (i32) -> !vm.list<!vm.list<i32>>
    vm.list.resize %outer, %one : (!vm.list<!vm.list<i32>>, i32)
    vm.list.set.ref %outer, %zero, %inner : (!vm.list<!vm.list<i32>>, i32, !vm.list<i32>)
    %back = vm.list.get.ref %outer, %zero : (!vm.list<!vm.list<i32>>, i32) -> !vm.list<i32>
    %null = vm.const.ref.zero : !vm.list<i32>
    %is_set = vm.cmp.nz.ref %back : !vm.list<i32>
    %same = vm.cmp.eq.ref %back, %null : !vm.list<i32>
    %chosen = vm.select.ref %is_set, %back, %null : !vm.list<i32>
    %size = vm.list.size %chosen : (!vm.list<i32>) -> i32
    vm.return %size, %is_set, %same : i32, i32, i32
  }

  // RUN: --function=buffers --input=2 => i32=13 i32=1 i64=16 i32=13
  // RUN: --function=buffers --input=4 => OUT_OF_RANGE
  vm.export @buffers
  vm.func @buffers(%n: i32) -> (i32, i32, i64, i32) {
    %offset = vm.ext.i32.i64.s %n : i32 -> i64
    %zero = vm.const.i64 0
    %alignment = vm.const.i32 16
    %table = vm.const.ref.rodata @table : !vm.buffer
    %value = vm.buffer.load.i32 %table[%offset] : !vm.buffer -> i32
    %length = vm.buffer.length %table : !vm.buffer -> i64
    %copy = vm.buffer.clone %table, %zero, %length, %alignment : !vm.buffer -> !vm.buffer
    %same = vm.buffer.compare %table, %zero, %copy, %zero, %length : !vm.buffer, !vm.buffer
    %kept = vm.global.load.ref @kept : !vm.buffer
    %again = vm.buffer.load.i32 %kept[%offset] : !vm.buffer -> i32
    vm.return %value, %same, %length, %again : i32, i32, i64, i32
  }

  // RUN: --function=fails --input=0 => i32=1
  // RUN: --function=fails --input=3 => INVALID_ARGUMENT
  vm.export @fails
  vm.func @fails(%code: i32) -> i32 {
    vm.cond_fail %code, "told to"
    %one = vm.const.i32 1
    vm.return %one : i32
  }

  // Up to 3.10 the reference hands on the lower halves of 64-bit values only, so its results are wrong. The
  // bytecode is sound: its registers are those that whole values need.
  // RUN-RIGHT: --function=wide --input=6 --input=7 => i64=30000000042
  vm.export @wide
  vm.func @wide(%a: i32, %b: i32) -> i64 {
    %small = vm.ext.i32.i64.s %b : i32 -> i64
    %total = vm.global.load.i64 @total : i64
    %wide = vm.add.i64 %total, %small : i64
    %result = vm.call @product(%a, %wide) : (i32, i64) -> i64
    vm.return %result : i64
  }

  vm.func private @product(%a: i32, %b: i64) -> i64 {
    %zero = vm.const.i64 0
    %one = vm.const.i32 1
    vm.cond_br %a, ^more, ^done
  ^more:
    %fewer = vm.sub.i32 %a, %one : i32
    %rest = vm.call @product(%fewer, %b) : (i32, i64) -> i64
    %sum = vm.add.i64 %rest, %b : i64
    vm.return %sum : i64
  ^done:
    vm.return %zero : i64
  }
}

// What each release's own runtime gives for @wide, which `--imitate-narrow-calls` gives too.
//
// RUN-NARROW: 3.1.0 --function=wide --input=6 --input=7 => i64=30064771072
// RUN-NARROW: 3.10.0 --function=wide --input=6 --input=7 => i64=4294967296

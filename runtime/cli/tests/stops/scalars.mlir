// Values that go bad, change and end: floats, a global, values in a loop whose registers are used again.
module @scalars {
  util.global private mutable @calls = 5 : i64

  util.func public @main(%x: f32, %n: i64) -> (f32, i64) {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %zero = arith.constant 0 : i64
    %ni = arith.index_cast %n : i64 to index
    %less = arith.subf %x, %x : f32
    %ratio = arith.divf %less, %less : f32
    %more = arith.addf %ratio, %x : f32
    %sum = scf.for %i = %c0 to %ni step %c1 iter_args(%acc = %zero) -> (i64) {
      %k = arith.index_cast %i : index to i64
      %square = arith.muli %k, %k : i64
      %part = arith.divsi %square, %n : i64
      %next = arith.addi %acc, %part : i64
      %again = arith.addi %next, %square : i64
      scf.yield %again : i64
    }
    %old = util.global.load @calls : i64
    %count = arith.addi %old, %sum : i64
    util.global.store %count, @calls : i64
    %twice = arith.muli %count, %n : i64
    %mixed = arith.xori %twice, %old : i64
    %last = arith.muli %mixed, %twice : i64
    util.return %more, %last : f32, i64
  }
}

// Structured and unstructured control flow.

// RUN-WITH: --function=sum --input=0
// RUN-WITH: --function=sum --input=10
func.func @sum(%n: i32) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %total = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %c0) -> (i32) : i32 {
    %next = arith.addi %acc, %i : i32
    scf.yield %next : i32
  }
  return %total : i32
}

// RUN-WITH: --function=collatz --input=27
// RUN-WITH: --function=collatz --input=1
func.func @collatz(%n: i64) -> i32 {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %one = arith.constant 1 : i64
  %two = arith.constant 2 : i64
  %three = arith.constant 3 : i64
  %last, %steps = scf.while (%value = %n, %count = %c0) : (i64, i32) -> (i64, i32) {
    %more = arith.cmpi ugt, %value, %one : i64
    scf.condition(%more) %value, %count : i64, i32
  } do {
  ^bb0(%value: i64, %count: i32):
    %bit = arith.remui %value, %two : i64
    %odd = arith.cmpi eq, %bit, %one : i64
    %next = scf.if %odd -> (i64) {
      %tripled = arith.muli %value, %three : i64
      %up = arith.addi %tripled, %one : i64
      scf.yield %up : i64
    } else {
      %down = arith.divui %value, %two : i64
      scf.yield %down : i64
    }
    %counted = arith.addi %count, %c1 : i32
    scf.yield %next, %counted : i64, i32
  }
  return %steps : i32
}

// RUN-WITH: --function=choose --input=0
// RUN-WITH: --function=choose --input=2
// RUN-WITH: --function=choose --input=9
func.func @choose(%which: i32) -> i32 {
  cf.switch %which : i32, [
    default: ^other,
    0: ^first,
    1: ^second,
    2: ^first
  ]
^first:
  %a = arith.constant 100 : i32
  return %a : i32
^second:
  %b = arith.constant 200 : i32
  return %b : i32
^other:
  %c = arith.constant 300 : i32
  return %c : i32
}

// RUN-WITH: --function=check --input=1
// RUN-WITH: --function=check --input=0
func.func @check(%ok: i1) -> i32 {
  cf.assert %ok, "the argument must be true"
  %c = arith.constant 1 : i32
  return %c : i32
}

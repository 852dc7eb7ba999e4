// Guards: each function has values that agree for almost every input, and keeps several of them in
// registers at once. `@keep_…` are calls that the compiler does not remove.

util.global private mutable @kept_float = 0.0 : f32
util.global private mutable @kept_number = 0 : i32

func.func private @keep_float(%value: f32) attributes {noinline} {
  %old = util.global.load @kept_float : f32
  %new = arith.addf %old, %value : f32
  util.global.store %new, @kept_float : f32
  return
}

func.func private @keep_number(%value: i32) attributes {noinline} {
  %old = util.global.load @kept_number : i32
  %new = arith.addi %old, %value : i32
  util.global.store %new, @kept_number : i32
  return
}

func.func @not_a_number(%given: f32, %large: f32) -> (f32, f32) {
  %none = arith.constant 0.0 : f32
  %bound = arith.constant 1.0e6 : f32
  %is_bad = arith.cmpf uno, %given, %given : f32
  %number = arith.select %is_bad, %none, %given : f32
  %bounded = arith.minimumf %large, %bound : f32
  func.call @keep_float(%given) : (f32) -> ()
  func.call @keep_float(%number) : (f32) -> ()
  func.call @keep_float(%bounded) : (f32) -> ()
  func.call @keep_float(%large) : (f32) -> ()
  %sum = arith.addf %number, %bounded : f32
  return %sum, %number : f32, f32
}

func.func @masked_row(%most: f32) -> f32 {
  %nothing = arith.constant 0xFF800000 : f32
  %none = arith.constant 0.0 : f32
  %is_masked = arith.cmpf oeq, %most, %nothing : f32
  %shift = arith.select %is_masked, %none, %most : f32
  func.call @keep_float(%most) : (f32) -> ()
  func.call @keep_float(%shift) : (f32) -> ()
  func.call @keep_float(%most) : (f32) -> ()
  return %shift : f32
}

func.func @smallest(%given: f32) -> f32 {
  %least = arith.constant 1.0e-12 : f32
  %positive = arith.maximumf %given, %least : f32
  %size = math.absf %given : f32
  %divisor = arith.maximumf %size, %least : f32
  func.call @keep_float(%given) : (f32) -> ()
  func.call @keep_float(%divisor) : (f32) -> ()
  func.call @keep_float(%size) : (f32) -> ()
  func.call @keep_float(%positive) : (f32) -> ()
  return %divisor : f32
}

func.func @half_range(%given: f32) -> f32 {
  %low = arith.constant -65504.0 : f32
  %high = arith.constant 65504.0 : f32
  %above = arith.maximumf %given, %low : f32
  %within = arith.minimumf %above, %high : f32
  func.call @keep_float(%given) : (f32) -> ()
  func.call @keep_float(%within) : (f32) -> ()
  func.call @keep_float(%above) : (f32) -> ()
  func.call @keep_float(%given) : (f32) -> ()
  return %within : f32
}

func.func @branch(%given: f32) -> f32 {
  %none = arith.constant 0.0 : f32
  %is_bad = arith.cmpf uno, %given, %given : f32
  %number = scf.if %is_bad -> f32 {
    func.call @keep_float(%none) : (f32) -> ()
    scf.yield %none : f32
  } else {
    scf.yield %given : f32
  }
  func.call @keep_float(%given) : (f32) -> ()
  func.call @keep_float(%number) : (f32) -> ()
  func.call @keep_float(%given) : (f32) -> ()
  return %number : f32
}

func.func @rare_number(%given: i32, %other: i32) -> (i32, i32) {
  %square_of_59 = arith.constant 3481 : i32
  %five = arith.constant 5 : i32
  %square = arith.muli %given, %given : i32
  %is_rare = arith.cmpi eq, %square, %square_of_59 : i32
  %replaced = arith.select %is_rare, %five, %given : i32
  func.call @keep_number(%five) : (i32) -> ()
  func.call @keep_number(%replaced) : (i32) -> ()
  func.call @keep_number(%given) : (i32) -> ()
  %sum = arith.addi %replaced, %other : i32
  %plain_sum = arith.addi %given, %other : i32
  func.call @keep_number(%plain_sum) : (i32) -> ()
  func.call @keep_number(%sum) : (i32) -> ()
  func.call @keep_number(%given) : (i32) -> ()
  return %replaced, %sum : i32, i32
}

// No sample meets either condition, so both flags have the same samples.
func.func @rare_flags(%given: i32) -> (i32, i32) {
  %fourth_power = arith.constant 1874161 : i32
  %cube = arith.constant 50653 : i32
  %one = arith.constant 1 : i32
  %square = arith.muli %given, %given : i32
  %third = arith.muli %square, %given : i32
  %fourth = arith.muli %square, %square : i32
  %is_37 = arith.cmpi eq, %third, %cube : i32
  %is_37_too = arith.cmpi eq, %fourth, %fourth_power : i32
  %flag = arith.extui %is_37 : i1 to i32
  %flag_too = arith.extui %is_37_too : i1 to i32
  func.call @keep_number(%one) : (i32) -> ()
  func.call @keep_number(%flag_too) : (i32) -> ()
  func.call @keep_number(%flag) : (i32) -> ()
  return %flag, %flag_too : i32, i32
}

// Two carried values that differ once one of them meets a rare number.
func.func @carried(%count: index, %begin: i32) -> (i32, i32) {
  %first = arith.constant 0 : index
  %step = arith.constant 1 : index
  %one = arith.constant 1 : i32
  %square_of_59 = arith.constant 3481 : i32
  %far = arith.constant 7000 : i32
  %ends:2 = scf.for %at = %first to %count step %step iter_args(%plain = %begin, %jumps = %begin) -> (i32, i32) {
    func.call @keep_number(%plain) : (i32) -> ()
    func.call @keep_number(%jumps) : (i32) -> ()
    %square = arith.muli %jumps, %jumps : i32
    %is_rare = arith.cmpi eq, %square, %square_of_59 : i32
    %next = arith.addi %plain, %one : i32
    %near = arith.addi %jumps, %one : i32
    %jumped = arith.select %is_rare, %far, %near : i32
    func.call @keep_number(%jumped) : (i32) -> ()
    func.call @keep_number(%next) : (i32) -> ()
    scf.yield %next, %jumped : i32, i32
  }
  func.call @keep_number(%ends#0) : (i32) -> ()
  func.call @keep_number(%ends#1) : (i32) -> ()
  return %ends#0, %ends#1 : i32, i32
}

// `padding` is one of many numbers that the function computes with.
func.func @tokens(%token: i32) -> i32 {
  %padding = arith.constant 50256 : i32
  %none = arith.constant 0 : i32
  %is_padding = arith.cmpi eq, %token, %padding : i32
  %kept = arith.select %is_padding, %none, %token : i32
  func.call @keep_number(%token) : (i32) -> ()
  func.call @keep_number(%kept) : (i32) -> ()
  func.call @keep_number(%token) : (i32) -> ()
  %key_1 = arith.constant 100003 : i32
  %mixed_1 = arith.xori %token, %key_1 : i32
  %key_2 = arith.constant 200006 : i32
  %mixed_2 = arith.xori %mixed_1, %key_2 : i32
  %key_3 = arith.constant 300009 : i32
  %mixed_3 = arith.muli %mixed_2, %key_3 : i32
  %key_4 = arith.constant 400012 : i32
  %mixed_4 = arith.xori %mixed_3, %key_4 : i32
  %key_5 = arith.constant 500015 : i32
  %mixed_5 = arith.muli %mixed_4, %key_5 : i32
  %key_6 = arith.constant 600018 : i32
  %mixed_6 = arith.xori %mixed_5, %key_6 : i32
  %key_7 = arith.constant 700021 : i32
  %mixed_7 = arith.muli %mixed_6, %key_7 : i32
  %key_8 = arith.constant 800024 : i32
  %mixed_8 = arith.xori %mixed_7, %key_8 : i32
  func.call @keep_number(%mixed_8) : (i32) -> ()
  return %kept : i32
}

// Of equal numbers, wrapping tells.
func.func @wrapped(%given: i32) -> (i32, i1) {
  %one = arith.constant 1 : i32
  %next = arith.addi %given, %one : i32
  %wraps = arith.cmpi slt, %next, %given : i32
  %safe = arith.select %wraps, %given, %next : i32
  func.call @keep_number(%next) : (i32) -> ()
  func.call @keep_number(%safe) : (i32) -> ()
  func.call @keep_number(%next) : (i32) -> ()
  return %safe, %wraps : i32, i1
}

func.func @zeros(%given: f32, %other: f32) -> f32 {
  %none = arith.constant 0.0 : f32
  %plus = arith.addf %given, %none : f32
  %lesser = arith.minimumf %given, %other : f32
  %differs = arith.cmpf one, %given, %other : f32
  %chosen = arith.select %differs, %lesser, %plus : f32
  func.call @keep_float(%given) : (f32) -> ()
  func.call @keep_float(%plus) : (f32) -> ()
  func.call @keep_float(%lesser) : (f32) -> ()
  func.call @keep_float(%chosen) : (f32) -> ()
  func.call @keep_float(%given) : (f32) -> ()
  return %chosen : f32
}

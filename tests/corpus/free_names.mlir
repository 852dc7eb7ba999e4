// Names are free text.

// RUN-WITH: --function=a.b
func.func @a.b() -> i32 {
  %c1 = arith.constant 1 : i32
  return %c1 : i32
}

func.func @"a name, with spaces"(%x: i32) -> i32 {
  return %x : i32
}

func.func @"Model$async"(%x: f32) -> f32 {
  return %x : f32
}

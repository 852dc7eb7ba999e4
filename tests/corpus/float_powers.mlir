// Powers with exponents that are integers, of which the VM takes the low 32 bits.

// RUN-WITH: --function=power --input=-1.5 --input=3
// RUN-WITH: --function=power --input=1.1 --input=-100
// RUN-WITH: --function=power --input=0 --input=-1
// RUN-WITH: --function=power --input=-0.0 --input=-3
// RUN-WITH: --function=power --input=nan --input=0
// RUN-WITH: --function=power --input=inf --input=-1
// RUN-WITH: --function=power --input=1e-40 --input=2
// RUN-WITH: --function=power --input=0.3 --input=127
// RUN-WITH: --function=power --input=0 --input=2147483648
// RUN-WITH: --function=power --input=3 --input=4294967297
// RUN-WITH: --function=power --input=-2 --input=-9223372036854775808
// RUN-WITH: --function=power --input=7 --input=9223372036854775807
func.func @power(%x: f32, %n: i64) -> f32 {
  %power = math.fpowi %x, %n : f32, i64
  return %power : f32
}

// A program that calls functions of Python.

module @program {
  func.func private @host.twice(i64) -> i64
  func.func private @host.scale(tensor<?xf32>) -> tensor<?xf32>

  func.func @main(%n: i64) -> i64 {
    %once = call @host.twice(%n) : (i64) -> i64
    %again = call @host.twice(%once) : (i64) -> i64
    return %again : i64
  }

  func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {
    %scaled = call @host.scale(%x) : (tensor<?xf32>) -> tensor<?xf32>
    return %scaled : tensor<?xf32>
  }
}

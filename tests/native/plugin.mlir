// A dispatch that calls a function of a plugin: plugin.c.
module @model {
  stream.executable private @executable {
    stream.executable.export public @scale workgroups(%count: index) -> (index, index, index) {
      %x = affine.apply affine_map<()[s0] -> (s0 ceildiv 4)>()[%count]
      %c1 = arith.constant 1 : index
      stream.return %x, %c1, %c1 : index, index, index
    }
    builtin.module {
      func.func private @plugin_scale(
          %in: memref<f32>, %in_offset: index, %out: memref<f32>, %out_offset: index,
          %count: index, %group: index) attributes {
        hal.import.fields = ["processor_id"],
        llvm.bareptr = true
      }
      func.func @scale(%in: !stream.binding, %out: !stream.binding, %count: index) {
        %c0 = arith.constant 0 : index
        %group = stream.dispatch.workgroup.id[0] : index
        %a = stream.binding.subspan %in[%c0] : !stream.binding -> memref<?xf32>{%count}
        %b = stream.binding.subspan %out[%c0] : !stream.binding -> memref<?xf32>{%count}
        %a0, %ao, %as, %at = iree_codegen.extract_strided_metadata %a
          : memref<?xf32> -> memref<f32>, index, index, index
        %b0, %bo, %bs, %bt = iree_codegen.extract_strided_metadata %b
          : memref<?xf32> -> memref<f32>, index, index, index
        func.call @plugin_scale(%a0, %ao, %b0, %bo, %count, %group)
          : (memref<f32>, index, memref<f32>, index, index, index) -> ()
        return
      }
    }
  }
  func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
    %c0 = arith.constant 0 : index
    %n = tensor.dim %x, %c0 : tensor<?xf32>
    %y = flow.dispatch @executable::@scale[%n](%x, %n) : (tensor<?xf32>{%n}, index) -> tensor<?xf32>{%n}
    %z = arith.addf %y, %x : tensor<?xf32>
    return %z : tensor<?xf32>
  }
}

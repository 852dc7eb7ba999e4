-- The debugger for the plugin nvim-dap: `require("iree-dbg.dap")` in init.lua.
--
-- `:lua require("dap").continue()` on a .mlir or a .vmfb then asks for the function, and stops at breakpoints.

local dap = require("dap")

dap.adapters.iree = function(callback, configuration)
  if configuration.request == "attach" then
    callback({ type = "server", host = configuration.host or "127.0.0.1", port = configuration.port })
  else
    callback({ type = "executable", command = "iree-dbg", args = { "dap" } })
  end
end

-- The arguments from one prompt, written as for `iree-dbg run --input=`.
local function inputs()
  return vim.split(vim.fn.input("Arguments, separated by spaces: "), " ", { trimempty = true })
end

local configurations = {
  {
    type = "iree",
    request = "launch",
    name = "Debug this file",
    program = "${file}",
    cwd = "${workspaceFolder}",
    ["function"] = function()
      return vim.fn.input("Function: ")
    end,
    inputs = inputs,
  },
  {
    type = "iree",
    request = "attach",
    name = "Attach to iree-dbg run --listen",
    port = function()
      return tonumber(vim.fn.input("Port: ", "4711"))
    end,
    -- The token that `run --listen` has printed; empty if it was started with --no-token.
    token = function()
      return vim.env.IREE_DBG_TOKEN or vim.fn.inputsecret("Token: ")
    end,
  },
}

dap.configurations.mlir = configurations
dap.configurations.vmfb = configurations

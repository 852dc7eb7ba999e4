-- A user's actions in Neovim with the plugin of editors/neovim, and what must be seen after each.
-- `run` starts this in a Neovim without any other configuration; the last line is `N passed, N
-- failed`.

local folder = vim.fn.getenv("SCRATCH")
local passed, failed = 0, 0

local function say(text)
  io.stdout:write(text .. "\n")
end

local function step(title, act)
  local fine, problem = xpcall(act, debug.traceback)
  if fine then
    passed = passed + 1
    say("ok: " .. title)
  else
    failed = failed + 1
    say("FAILED: " .. title .. "\n  " .. tostring(problem))
  end
end

-- Waits until a condition holds.
local function until_true(what, condition)
  local fine = vim.wait(30000, condition, 20)
  assert(fine, "never seen: " .. what)
end

local function line(number)
  return vim.api.nvim_buf_get_lines(0, number - 1, number, false)[1]
end

-- Puts the cursor on the text `needle` of a line, at its character `offset` (from 0).
local function go_to(number, needle, offset)
  local column = line(number):find(needle, 1, true)
  assert(column, needle .. " is not in " .. line(number))
  vim.api.nvim_win_set_cursor(0, { number, column - 1 + (offset or 0) })
end

local function floating_text()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local buffer = vim.api.nvim_win_get_buf(window)
      return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), "\n"), window
    end
  end
end

local function hover_shows(expected)
  vim.lsp.buf.hover()
  until_true(expected, function()
    local text = floating_text()
    return text and text:find(expected, 1, true)
  end)
  vim.api.nvim_win_close(select(2, floating_text()), true)
end

local function messages()
  return vim.tbl_map(function(found)
    return ("%d: %s"):format(found.lnum + 1, found.message)
  end, vim.diagnostic.get(0))
end

step("open a file: the server is attached", function()
  vim.cmd("edit " .. folder .. "/x.mlir")
  assert(vim.bo.filetype == "mlir", vim.bo.filetype)
  until_true("the server", function()
    local clients = vim.lsp.buf_get_clients(0)
    return next(clients) and select(2, next(clients)).initialized
  end)
end)

step("hover a call: the signature and its calling convention", function()
  go_to(8, "@", 3)
  hover_shows("0ii_i")
end)

step("hover after multi-byte characters", function()
  go_to(8, "%a, ", 1)
  hover_shows("%a: i32")
end)

step("definition of a value after multi-byte characters", function()
  go_to(8, "%b)", 1)
  vim.lsp.buf.definition()
  until_true("the parameter", function()
    return vim.deep_equal(vim.api.nvim_win_get_cursor(0), { 7, line(7):find("%b", 1, true) - 1 })
  end)
end)

step("definition of a function", function()
  go_to(8, "@", 1)
  vim.lsp.buf.definition()
  until_true("the function", function()
    return vim.deep_equal(vim.api.nvim_win_get_cursor(0), { 2, line(2):find("@", 1, true) - 1 })
  end)
end)

step("rename a value: every place of it", function()
  go_to(8, "%b)", 1)
  vim.lsp.buf.rename("height")
  until_true("the new name", function()
    return line(7):find('"größe_😀"}, %height: i32)', 1, true) and line(8):find("(%a, %height) :", 1, true)
  end)
end)

step("rename a function: its calls too", function()
  go_to(2, "@", 1)
  vim.lsp.buf.rename("euclid")
  until_true("the new name", function()
    return line(2):find("@euclid(", 1, true) and line(8):find("@euclid(", 1, true)
  end)
end)

step("no diagnostics in a right program", function()
  assert(#messages() == 0, vim.inspect(messages()))
end)

step("a mistake is reported while typing", function()
  vim.api.nvim_buf_set_lines(0, 7, 7, false, { "  %z = arith.addi %nowhere, %a : i32" })
  until_true("the diagnostic", function()
    return vim.tbl_contains(messages(), "8: `%nowhere` is not defined here")
  end)
end)

step("and goes when it is mended; the rest of the file went on working", function()
  go_to(9, "@euclid", 1)
  hover_shows("0ii_i")
  vim.api.nvim_buf_set_lines(0, 7, 8, false, {})
  until_true("no diagnostics", function()
    return #messages() == 0
  end)
end)

step("a compiled module opens as its disassembly", function()
  vim.cmd("edit! " .. folder .. "/x.vmfb")
  assert(line(1) == "vm.module @module version 0", line(1))
  assert(vim.bo.filetype == "vmasm" and not vim.bo.modifiable)
  -- A function that the debug database of this compiler describes.
  assert(vim.fn.search("^vm.func @main") > 0, "no such function")
  local number = vim.fn.search("vm.rem.i32.u")
  assert(number > 0, "no such instruction")
  go_to(number, "vm.rem", 4)
  hover_shows("Opcode")
end)

step("from an instruction to the line that it comes from", function()
  vim.lsp.buf.definition()
  until_true("the source", function()
    return vim.fn.expand("%:t") == "x.mlir" and vim.api.nvim_win_get_cursor(0)[1] == 3
  end)
end)

step("what becomes of a function: the stages, one of which opens", function()
  vim.cmd("edit! " .. folder .. "/x.mlir")
  go_to(7, "@main", 1)
  local titles
  vim.ui.select = function(stages, options, chosen)
    titles = vim.tbl_map(options.format_item, stages)
    chosen(vim.tbl_filter(function(stage)
      return stage.name == "vm"
    end, stages)[1])
  end
  vim.cmd("IreeWhatBecomes")
  assert(titles and #titles > 5, vim.inspect(titles))
  assert(line(1) and vim.fn.search("vm.func.*@main") > 0, "no VM program: " .. vim.fn.expand("%"))
  assert(not vim.bo.modifiable and vim.bo.filetype == "mlir")
end)

step("where an operation went: its lines in all stages", function()
  vim.cmd("edit! " .. folder .. "/x.mlir")
  go_to(3, "arith.remui", 2)
  vim.cmd("IreeWhereDidThisGo")
  local texts = vim.tbl_map(function(item)
    return item.text
  end, vim.fn.getqflist())
  local all = table.concat(texts, "\n")
  assert(all:find("vm: .*vm%.rem%.i32%.u"), all)
  vim.cmd("cclose")
end)

step("the debugger's terminal is at the function of the cursor", function()
  vim.cmd("edit! " .. folder .. "/x.mlir")
  go_to(7, "@main", 1)
  vim.fn.input = function()
    return "48 18"
  end
  vim.cmd("IreeDebug run")
  until_true("the result", function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n"):find("i32=12", 1, true)
  end)
end)

say(("%d passed, %d failed"):format(passed, failed))
vim.cmd(failed == 0 and "qall!" or "cquit!")

-- Starts `iree-dbg lsp` for MLIR (.mlir) and VM assembly (.vmasm), and opens a compiled module (.vmfb) as its disassembly.
-- For Neovim 0.7 and later. This file is all that is needed.
--
--   vim.g.iree_dbg_command   the command that starts the server; { "iree-dbg", "lsp" } if unset
--   vim.g.iree_dbg_settings  its settings, such as { checkOnSave = true }; the table is in the project's README
--
--   :IreeWhatBecomes    the function at the cursor at each stage of its compilation; the chosen stage opens
--   :IreeWhereDidThisGo the lines of all stages that the operation at the cursor became, in the quickfix list
--   :IreeDebug [run]    the function at the cursor in the debugger's terminal; with `run`, to its end
--
-- This file maps no keys: see `:help lsp-defaults`, or `:help vim.lsp.buf` for functions to map.
-- The compiler in the .venv of a folder runs after `iree-dbg trust FOLDER` in a shell; one on the PATH always does.

if vim.g.loaded_iree_dbg then
  return
end
vim.g.loaded_iree_dbg = true

local client_id

-- The debugger in a terminal, at a function of a source or module. With `run`, it runs to the end.
local function debugger(arguments, run)
  local path, name = vim.uri_to_fname(arguments[1]), arguments[2]
  local program = (vim.g.iree_dbg_command or { "iree-dbg" })[1]
  local command = { program, "debug", path, "--function=" .. name }
  local inputs = vim.fn.input("Arguments of @" .. name .. ", separated by spaces: ")
  for _, input in ipairs(vim.split(inputs, " ", { trimempty = true })) do
    table.insert(command, "--input=" .. input)
  end
  if run then
    table.insert(command, "--eval-command=run")
  end
  vim.cmd("botright new")
  vim.fn.termopen(command)
end

-- The commands of lenses; the server itself does "Show ABI".
local commands = {
  ["iree-dbg.runFunction"] = function(command)
    debugger(command.arguments, true)
  end,
  ["iree-dbg.debugFunction"] = function(command)
    debugger(command.arguments, false)
  end,
}
for name, run in pairs(commands) do
  vim.lsp.commands[name] = run
end

-- The only server of this editor. It starts at its first use.
local function client()
  local running = client_id and vim.lsp.get_client_by_id(client_id)
  if not running then
    client_id = vim.lsp.start_client({
      name = "iree-dbg",
      cmd = vim.g.iree_dbg_command or { "iree-dbg", "lsp" },
      root_dir = vim.fn.getcwd(),
      -- Lenses are offered for the commands that this editor has.
      init_options = vim.tbl_extend("force", { commands = vim.tbl_keys(commands) }, vim.g.iree_dbg_settings or {}),
      on_exit = function()
        client_id = nil
      end,
    })
    running = client_id and vim.lsp.get_client_by_id(client_id)
  end
  return running
end

-- The disassembly of a module, for its buffer. The server reads the file itself.
local function read_module(buffer, path)
  local server = client()
  local ready = server and vim.wait(10000, function()
    return server.initialized
  end, 10)
  if not ready then
    return nil, "iree-dbg does not run; vim.g.iree_dbg_command is the command that starts it"
  end
  local uri = vim.uri_from_fname(path):gsub("^file://", "iree-vmfb:") .. ".vmasm"
  local answer, problem = server.request_sync("iree-dbg/textDocumentContent", { uri = uri }, 60000, buffer)
  if not answer or answer.err then
    return nil, answer and answer.err.message or problem
  end
  return vim.split((answer.result.text:gsub("\n$", "")), "\n", { plain = true })
end

-- A request of the server's own. The answer, or nothing after a message.
local function ask(method, parameters, patience)
  local server = client()
  local answer, problem = nil, "iree-dbg does not run; vim.g.iree_dbg_command is the command that starts it"
  if server then
    answer, problem = server.request_sync(method, parameters, patience, 0)
  end
  if answer and not answer.err then
    return answer.result
  end
  vim.notify(answer and answer.err.message or problem or "the server did not answer", vim.log.levels.ERROR)
end

-- The export around the cursor, or the only one.
local function export_here()
  local answer = ask("iree-dbg/exports", { uri = vim.uri_from_bufnr(0) }, 10000)
  local line = vim.api.nvim_win_get_cursor(0)[1] - 1
  local exports = answer and answer.exports or {}
  for _, export in ipairs(exports) do
    for _, range in ipairs(export.lines) do
      if range[1] <= line and line <= range[2] then
        return export.name
      end
    end
  end
  if #exports == 1 then
    return exports[1].name
  end
  vim.notify("put the cursor into a function that is exported", vim.log.levels.ERROR)
end

vim.api.nvim_create_user_command("IreeWhatBecomes", function()
  local name = export_here()
  local uri = vim.uri_from_bufnr(0)
  -- This compiles the file, which may take minutes.
  local answer = name and ask("iree-dbg/stages", { textDocument = { uri = uri }, ["function"] = name }, 600000)
  if not answer then
    return
  end
  vim.ui.select(answer.stages, {
    prompt = "What becomes of @" .. name,
    format_item = function(stage)
      return stage.title
    end,
  }, function(stage)
    if stage then
      vim.cmd("edit " .. vim.fn.fnameescape(stage.uri))
      vim.api.nvim_win_set_cursor(0, { (stage.line or 0) + 1, 0 })
    end
  end)
end, {})

vim.api.nvim_create_user_command("IreeWhereDidThisGo", function()
  local here = vim.lsp.util.make_position_params(0, "utf-16")
  local answer = ask("iree-dbg/becomes", here, 600000)
  if not answer then
    return
  end
  local items = {}
  for _, stage in ipairs(answer.stages) do
    for _, line in ipairs(stage.lines) do
      local start = line.range.start
      table.insert(items, {
        filename = line.uri,
        lnum = start.line + 1,
        col = start.character + 1,
        text = ("%s: %s"):format(stage.name, vim.trim(line.text)),
      })
    end
  end
  vim.fn.setqflist({}, " ", { title = "Where this went", items = items })
  vim.cmd("botright copen")
end, {})

vim.api.nvim_create_user_command("IreeDebug", function(command)
  local name = export_here()
  if name then
    debugger({ vim.uri_from_bufnr(0), name }, command.args == "run")
  end
end, { nargs = "?" })

local group = vim.api.nvim_create_augroup("iree-dbg", {})

-- A stage of a compilation, which only the server has.
vim.api.nvim_create_autocmd("BufReadCmd", {
  group = group,
  pattern = "*iree-ir:/*",
  callback = function(event)
    local answer = ask("iree-dbg/textDocumentContent", { uri = event.match:match("iree%-ir:.*") }, 60000)
    if not answer then
      return
    end
    vim.api.nvim_buf_set_lines(event.buf, 0, -1, false, vim.split(answer.text, "\n", { plain = true }))
    vim.bo[event.buf].buftype = "nowrite"
    vim.bo[event.buf].modified = false
    vim.bo[event.buf].modifiable = false
    vim.bo[event.buf].filetype = "mlir"
  end,
})

vim.api.nvim_create_autocmd({ "BufNewFile", "BufRead" }, {
  group = group,
  pattern = { "*.mlir", "*.vmasm" },
  callback = function(event)
    vim.bo[event.buf].filetype = event.match:match("%.(%w+)$")
    vim.bo[event.buf].commentstring = "// %s"
  end,
})

vim.api.nvim_create_autocmd("BufReadCmd", {
  group = group,
  pattern = "*.vmfb",
  callback = function(event)
    local path = vim.fn.fnamemodify(event.match, ":p")
    local lines, problem = read_module(event.buf, path)
    if not lines then
      vim.notify(problem, vim.log.levels.ERROR)
      return
    end
    vim.api.nvim_buf_set_lines(event.buf, 0, -1, false, lines)
    -- Saving would write the text over the module.
    vim.bo[event.buf].buftype = "nowrite"
    vim.bo[event.buf].modified = false
    vim.bo[event.buf].modifiable = false
    vim.bo[event.buf].filetype = "vmasm"
  end,
})

vim.api.nvim_create_autocmd("FileType", {
  group = group,
  pattern = { "mlir", "vmasm" },
  callback = function(event)
    local server = client()
    if server then
      vim.lsp.buf_attach_client(event.buf, server.id)
    end
  end,
})

#!/usr/bin/env bash
# Installs what the test in the real VS Code needs: code-server (VS Code's workbench and extension
# host, served to a browser), playwright-core (which drives the browser) and Chromium. The last line
# of its output is the directory.
#
#   usage: tests/vscode/install.sh
#
# The directory is tests/.tools/vscode, or $IREE_DBG_VSCODE if one installation serves several
# checkouts. Present parts are not installed again. Needs Node 20 or newer, npm, and apt with root
# or sudo.
set -euo pipefail

# The newest code-server that runs on Node 20; it is VS Code 1.100.3.
code_server=4.100.3
playwright=1.65.1

here=$(cd "$(dirname "$0")" && pwd)
directory=${IREE_DBG_VSCODE:-$here/../.tools/vscode}
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
server=$directory/node_modules/code-server
workbench=$server/lib/vscode

is_complete() {
  command -v chromium >/dev/null &&
    [ -f "$directory/node_modules/playwright-core/package.json" ] &&
    [ -f "$workbench/node_modules/node-pty/build/Release/pty.node" ] &&
    [ -f "$workbench/node_modules/@vscode/spdlog/build/Release/spdlog.node" ] &&
    [ -e "$workbench/node_modules/@vscode/ripgrep/bin/rg" ] &&
    grep -q "\"version\": \"$code_server\"" "$server/package.json"
}

install_packages() {
  local as_root=()
  [ "$(id -u)" = 0 ] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  # The headers are for VS Code's native modules, which are built below; ripgrep is its search.
  "${as_root[@]}" apt-get install -y -qq \
    chromium ripgrep build-essential python3 libkrb5-dev libsecret-1-dev libx11-dev libxkbfile-dev
}

install_workbench() {
  export npm_config_yes=true npm_config_audit=false npm_config_fund=false
  cd "$directory"
  [ -f package.json ] || npm init -y >/dev/null
  # code-server's own install script downloads a ripgrep and compiles everything. Here scripts are
  # disabled, the few native modules that the workbench loads are built, and the system's ripgrep is
  # linked in.
  npm install --ignore-scripts "code-server@$code_server" "playwright-core@$playwright"
  npm rebuild argon2
  cd "$workbench"
  npm install --omit=dev --ignore-scripts
  npm rebuild @vscode/spdlog node-pty native-watchdog
  mkdir -p node_modules/@vscode/ripgrep/bin
  ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
  cd extensions
  npm install --omit=dev --ignore-scripts
}

if ! is_complete; then
  command -v node >/dev/null || { echo "install.sh: Node 20 or newer is needed (apt-get install nodejs npm)" >&2; exit 1; }
  install_packages >&2
  install_workbench >&2
  is_complete || { echo "install.sh: something is still missing in $directory" >&2; exit 1; }
fi
echo "$directory"

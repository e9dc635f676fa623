#!/usr/bin/env node
// Runs the command of the package @krmkit/cli: the one that is installed beside this package or in its project, otherwise one that npx
// installs for the call.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Where packages are links, this file is in a store, and the path of the call is in the project.
const command = installedFrom(import.meta.url) ?? installedFrom(pathToFileURL(process.argv[1]).href)
if (command === undefined) runByNpx()
else await import(pathToFileURL(command).href)

/** The program of @krmkit/cli that a module at `url` would import. */
function installedFrom(url) {
  try {
    const manifest = createRequire(url).resolve('@krmkit/cli/package.json')
    return join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.krmkit)
  } catch (error) {
    if (error.code !== 'MODULE_NOT_FOUND') throw error
    return undefined
  }
}

function runByNpx() {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  console.error(`krmkit: the command is the package @krmkit/cli: \`npm install -D @krmkit/cli\`, or \`npx @krmkit/cli\` without installation
krmkit: it is not installed here; starting it by npx`)
  const isWindows = process.platform === 'win32'
  const args = ['--yes', `@krmkit/cli@${version}`, ...process.argv.slice(2)]
  // npx is a script of the shell on Windows.
  const words = isWindows ? args.map((arg) => `"${arg.replaceAll('"', '\\"')}"`) : args
  // Before the start of the child, which may be quick. A terminal sends its interrupt to both processes, and a second one would end a
  // server at once.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'])
    process.on(signal, () => (signal === 'SIGINT' && process.stdin.isTTY) || child.kill(signal))
  const child = spawn('npx', words, { stdio: 'inherit', shell: isWindows })
  child.on('error', (error) => {
    console.error(`krmkit: npx cannot be started: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code, signal) => {
    process.exitCode = code ?? 128 + constants.signals[signal]
  })
}

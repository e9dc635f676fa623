#!/usr/bin/env node
// Runs the command of the package @krmkit/cli in this process: the one that is installed beside this package or in its project, otherwise
// the same version, which npx installs in its cache.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

// Where packages are links, this file is in a store, and the path of the call is in the project.
const command = installedFrom(import.meta.url) ?? installedFrom(pathToFileURL(process.argv[1]).href) ?? installedByNpx()
if (command !== undefined) await import(pathToFileURL(command).href)

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

/** Lets npx install the command, and finds it on the path of commands that npx runs. The shell between npx and a command keeps signals. */
function installedByNpx() {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  console.error(`krmkit: the command is the package @krmkit/cli: \`npm install -D @krmkit/cli\`, or \`npx @krmkit/cli\` without installation
krmkit: it is not installed here; starting it by npx`)
  const isWindows = process.platform === 'win32'
  const args = ['--yes', `--package=@krmkit/cli@${version}`, '-c', 'node -p process.env.PATH']
  const { stdout, status, error } = spawnSync('npx', isWindows ? args.map((arg) => `"${arg}"`) : args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    // npx is a script of the shell on Windows.
    shell: isWindows,
  })
  const folders = status === 0 ? stdout.trim().split(delimiter) : []
  const found = folders
    .map((folder) => installedFrom(pathToFileURL(join(folder, 'krmkit')).href))
    .find((each) => each !== undefined)
  if (found !== undefined) return found
  console.error(`krmkit: npx has not installed the command${error === undefined ? '' : `: ${error.message}`}`)
  process.exitCode = status || 1
  return undefined
}

#!/usr/bin/env node
// `npm test -- [--long] ARGUMENTS`: installs dependencies and runs tests once.
//
//   no argument        all suites but the long ones, which are named at the end
//   --long             the long suites, which tests/long-suites.json lists, by project
//   PATH...            the files whose path contains one of the texts, of any suite
//
// Other arguments go to vitest.
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { root, setup } from './setup.mjs'

setup()
const vitest = dirname(createRequire(join(root, 'package.json')).resolve('vitest/package.json'))
const { parseCLI } = await import('vitest/node')
const isLong = process.argv.includes('--long')
const args = process.argv.slice(2).filter((arg) => arg !== '--long')
const { filter, options } = parseCLI(['vitest', 'run', ...args])
const isQuick = !isLong && filter.length === 0 && options.project === undefined
const projects = isLong ? ['--project=long*'] : isQuick ? ['--project=!long*'] : []

const child = spawn(process.execPath, [join(vitest, 'vitest.mjs'), 'run', ...projects, ...args], { cwd: root, stdio: 'inherit' })
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => {
  process.exitCode = code ?? (signal === null ? 1 : 130)
  if (isQuick && signal === null) sayWhatIsLeft()
})

function sayWhatIsLeft() {
  const suites = JSON.parse(readFileSync(join(root, 'tests/long-suites.json'), 'utf8'))
  const lines = Object.entries(suites).map(
    ([name, { files, holds }]) =>
      `  ${name.padEnd(14)} ${holds}\n${' '.repeat(17)}${files.map((file) => file.split(/[*!]/)[0]).join(' ')}`,
  )
  console.error(
    `\nNot run: the long suites. \`npm test -- --long\` runs all of them, \`npm test -- PATH\` one.\n${lines.join('\n')}`,
  )
}

#!/usr/bin/env node
// `node bench/authorization.mjs [--quick] [--time 400]`: decisions by 10 000 bindings, and what they cost requests.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, time: { type: 'string', default: '400' } },
})

const out = join(root, 'bench/dist')
mkdirSync(out, { recursive: true })
const bundle = await rolldown({
  input: join(root, 'bench/src/authorization-main.ts'),
  platform: 'node',
  external: ['lmdb', 'tinybench'],
  resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
  logLevel: 'warn',
})
await bundle.write({ dir: out, format: 'esm', entryFileNames: 'authorization.mjs', chunkFileNames: 'authorization-[name].mjs' })
await bundle.close()

const args = [join(out, 'authorization.mjs'), '--time', flags.quick ? '20' : flags.time]
const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
const { decisions, requests } = JSON.parse(stdout.trim().split('\n').at(-1))
const tables = [
  markdownTable(
    ['decision', 'µs'],
    decisions.map(({ name, microseconds }) => [name, figure(microseconds)]),
  ),
  markdownTable(
    ['request, without a socket', 'µs, everything allowed', 'µs, by roles', 'more'],
    requests.map(({ name, open, guarded }) => [name, figure(open), figure(guarded), `${figure((guarded / open - 1) * 100)} %`]),
  ),
]
process.stdout.write(`${tables.join('\n')}\n`)
if (!flags.quick) saveResults('authorization', { decisions, requests })

#!/usr/bin/env node
// `node bench/expressions.mjs [--quick]`: what rules and policies in CEL cost, alone and in requests without a socket.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })

const out = join(root, 'bench/dist')
mkdirSync(out, { recursive: true })
const bundle = await rolldown({
  input: join(root, 'bench/src/expressions-main.ts'),
  platform: 'node',
  external: ['lmdb', 'tinybench'],
  resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
  logLevel: 'warn',
})
await bundle.write({ dir: out, format: 'esm', entryFileNames: 'expressions.mjs', chunkFileNames: 'expressions-[name].mjs' })
await bundle.close()

const args = [join(out, 'expressions.mjs'), '--requests', flags.quick ? '100' : '2000']
const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
const { alone, server } = JSON.parse(stdout.trim().split('\n').at(-1))
const tables = [
  markdownTable(
    ['an expression alone', 'µs'],
    alone.map(({ name, microseconds }) => [name, figure(microseconds)]),
  ),
  markdownTable(
    ['request, without a socket', 'µs', 'more than without expressions'],
    server.map(({ name, microseconds, added }) => [name, figure(microseconds), figure(added)]),
  ),
]
process.stdout.write(`${tables.join('\n')}\n`)
if (!flags.quick) saveResults('expressions', { alone, server })

#!/usr/bin/env node
// `node bench/webhooks.mjs [--quick] [--time 400]`: what admission webhooks and the audit trail cost a request without a socket.
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
  input: join(root, 'bench/src/webhooks-main.ts'),
  platform: 'node',
  external: ['lmdb', 'tinybench'],
  resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
  logLevel: 'warn',
})
await bundle.write({ dir: out, format: 'esm', entryFileNames: 'webhooks.mjs', chunkFileNames: 'webhooks-[name].mjs' })
await bundle.close()

const args = [join(out, 'webhooks.mjs'), '--time', flags.quick ? '20' : flags.time]
const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
const rows = JSON.parse(stdout.trim().split('\n').at(-1))
const [base] = rows
const table = markdownTable(
  ['create of a ConfigMap in a dry run', 'µs', 'more, in µs'],
  rows.map(({ name, microseconds }) => [name, figure(microseconds), figure(microseconds - base.microseconds)]),
)
process.stdout.write(`${table}\n`)
if (!flags.quick) saveResults('webhooks', { rows })

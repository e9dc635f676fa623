#!/usr/bin/env node
// `node bench/kinds.mjs [--quick] [--time 400] [--prof]`: decoding, completing and checking objects, and their protobuf form
// beside that of the library alone, in a process of its own.
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
  options: {
    quick: { type: 'boolean', default: false },
    time: { type: 'string', default: '400' },
    prof: { type: 'boolean', default: false },
  },
})

const out = join(root, 'bench/dist')
mkdirSync(out, { recursive: true })
const bundle = await rolldown({
  input: join(root, 'bench/src/kinds-main.ts'),
  platform: 'node',
  external: ['lmdb', 'tinybench'],
  resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
  logLevel: 'warn',
})
await bundle.write({ dir: out, format: 'esm', entryFileNames: 'kinds.mjs', chunkFileNames: 'kinds-[name].mjs' })
await bundle.close()

const nodeFlags = flags.prof ? ['--cpu-prof', '--cpu-prof-dir', join(out, 'profiles')] : []
const args = [...nodeFlags, join(out, 'kinds.mjs'), '--time', flags.quick ? '20' : flags.time]
const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
const rows = JSON.parse(stdout.trim().split('\n').at(-1))
process.stdout.write(
  markdownTable(
    ['object', 'step', 'µs'],
    rows.map(({ object, step, microseconds }) => [object, step, figure(microseconds)]),
  ),
)
if (!flags.quick) saveResults('kinds', { rows })

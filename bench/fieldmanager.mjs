#!/usr/bin/env node
// `node bench/fieldmanager.mjs [--quick] [--time 400] [--prof]`: field management alone, in a process of its own.
import { spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { rolldown } from 'rolldown'
import { fieldManagerTables } from './lib/fieldmanager-tables.mjs'
import { saveResults } from './lib/results.mjs'

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
  input: join(root, 'bench/src/fieldmanager-main.ts'),
  platform: 'node',
  external: ['lmdb', 'tinybench'],
  resolve: { conditionNames: ['source', 'node', 'import', 'default'] },
  logLevel: 'warn',
})
await bundle.write({ dir: out, format: 'esm', entryFileNames: 'fieldmanager.mjs', chunkFileNames: 'fieldmanager-[name].mjs' })
await bundle.close()

const nodeFlags = flags.prof ? ['--cpu-prof', '--cpu-prof-dir', join(out, 'profiles')] : []
const args = [...nodeFlags, join(out, 'fieldmanager.mjs'), '--time', flags.quick ? '20' : flags.time]
const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 26 })
if (status !== 0) throw new Error(`the measurements failed:\n${stderr}`)
const rows = JSON.parse(stdout.trim().split('\n').at(-1))
process.stdout.write(`${fieldManagerTables(rows)}\n`)
if (!flags.quick) saveResults('fieldmanager', { rows })

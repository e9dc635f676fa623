#!/usr/bin/env node
// `node bench/fieldmanager.mjs [--quick] [--time 400] [--prof]`: field management alone, in a separate process.
import { parseArgs } from 'node:util'
import { fieldManagerTables } from './lib/fieldmanager-tables.mjs'
import { bundleInside, profiling, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    time: { type: 'string', default: '400' },
    prof: { type: 'boolean', default: false },
  },
})

const rows = runInside(await bundleInside('fieldmanager-main'), {
  args: ['--time', flags.quick ? '20' : flags.time],
  nodeFlags: flags.prof ? profiling : [],
})
process.stdout.write(`${fieldManagerTables(rows)}\n`)
if (!flags.quick) saveResults('fieldmanager', { rows })

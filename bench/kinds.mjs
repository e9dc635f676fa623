#!/usr/bin/env node
// `node bench/kinds.mjs [--quick] [--time 400] [--prof]`: decoding, defaulting and validating objects, and protobuf
// compared with the library alone, in a separate process.
import { parseArgs } from 'node:util'
import { bundleInside, profiling, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    time: { type: 'string', default: '400' },
    prof: { type: 'boolean', default: false },
  },
})

const rows = runInside(await bundleInside('kinds-main'), {
  args: ['--time', flags.quick ? '20' : flags.time],
  nodeFlags: flags.prof ? profiling : [],
})
process.stdout.write(
  markdownTable(
    ['object', 'step', 'µs'],
    rows.map(({ object, step, microseconds }) => [object, step, figure(microseconds)]),
  ),
)
if (!flags.quick) saveResults('kinds', { rows })

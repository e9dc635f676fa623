#!/usr/bin/env node
// `node bench/manifests.mjs [--quick] [--prof]`: deprecations and conversion of a thousand manifests, in a separate process.
import { parseArgs } from 'node:util'
import { bundleInside, profiling, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, prof: { type: 'boolean', default: false } },
})
const size = flags.quick ? 50 : 1000

const rows = runInside(await bundleInside('manifests-main'), {
  args: [String(size)],
  nodeFlags: flags.prof ? profiling : [],
})
process.stdout.write(
  markdownTable(
    ['step', `ms for ${size} manifests`],
    rows.map(({ step, ms }) => [step, figure(ms)]),
  ),
)
if (!flags.quick) saveResults('manifests', { rows })

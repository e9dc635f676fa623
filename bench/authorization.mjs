#!/usr/bin/env node
// `node bench/authorization.mjs [--quick] [--time 400]`: decisions with 10 000 bindings, and their cost in requests.
import { parseArgs } from 'node:util'
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, time: { type: 'string', default: '400' } },
})

const { decisions, requests } = runInside(await bundleInside('authorization-main'), {
  args: ['--time', flags.quick ? '20' : flags.time],
})
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

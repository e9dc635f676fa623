#!/usr/bin/env node
// `node bench/webhooks.mjs [--quick] [--time 400]`: the cost of admission webhooks and the audit log in a request without a socket.
import { parseArgs } from 'node:util'
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, time: { type: 'string', default: '400' } },
})

const rows = runInside(await bundleInside('webhooks-main'), { args: ['--time', flags.quick ? '20' : flags.time] })
const [base] = rows
const table = markdownTable(
  ['create of a ConfigMap in a dry run', 'µs', 'more, in µs'],
  rows.map(({ name, microseconds }) => [name, figure(microseconds), figure(microseconds - base.microseconds)]),
)
process.stdout.write(`${table}\n`)
if (!flags.quick) saveResults('webhooks', { rows })

#!/usr/bin/env node
// `node bench/expressions.mjs [--quick]`: the cost of CEL rules and policies, alone and in requests without a socket.
import { parseArgs } from 'node:util'
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })

const { alone, server } = runInside(await bundleInside('expressions-main'), {
  args: ['--requests', flags.quick ? '100' : '2000'],
})
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

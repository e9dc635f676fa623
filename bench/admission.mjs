#!/usr/bin/env node
// `node bench/admission.mjs [--quick]`: the cost of admission plugins, alone and in requests without a socket.
import { parseArgs } from 'node:util'
import { bundleInside, runInside } from './lib/inside.mjs'
import { saveResults } from './lib/results.mjs'
import { figure, markdownTable } from './lib/table.mjs'

const { values: flags } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })

const { chain, server } = runInside(await bundleInside('admission-main'), { args: ['--requests', flags.quick ? '100' : '2000'] })
const tables = [
  markdownTable(
    ['the chain alone', 'µs'],
    chain.map(({ name, microseconds }) => [name, figure(microseconds)]),
  ),
  markdownTable(
    ['request, without a socket', 'µs', 'more than without plugins'],
    server.map(({ name, microseconds, added }) => [name, figure(microseconds), figure(added)]),
  ),
]
process.stdout.write(`${tables.join('\n')}\n`)
if (!flags.quick) saveResults('admission', { chain, server })

/** Benchmarks kinds alone and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { kindsRows } from './micro/kinds.ts'

const { values } = parseArgs({ options: { time: { type: 'string', default: '400' } } })
process.stdout.write(`${JSON.stringify(await kindsRows(Number(values.time)))}\n`)

/** Benchmarks field management alone and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { fieldManagerRows } from './micro/fieldmanager.ts'

const { values } = parseArgs({ options: { time: { type: 'string', default: '400' } } })
process.stdout.write(`${JSON.stringify(fieldManagerRows(Number(values.time)))}\n`)

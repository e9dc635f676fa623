/** Benchmarks components and the server without sockets in one process, and prints the results as JSON. */
import { parseArgs } from 'node:util'
import { inProcess } from './e2e/in-process.ts'
import { fieldManagerRows } from './micro/fieldmanager.ts'
import { micro } from './micro/micro.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })

const parts = await micro(values.quick ? 40 : 400)
const fields = fieldManagerRows(values.quick ? 20 : 400)
const server = await inProcess(values.quick ? { objects: 400, rounds: 1 } : { objects: 4000, rounds: 2 })
process.stdout.write(`${JSON.stringify({ parts, fields, server })}\n`)

import { parseArgs } from 'node:util'
import type { Transport } from '../attacks/families/header-rules.ts'
import { issueBounds } from '../attacks/harness/report.ts'
import { bundleCommand } from '../attacks/harness/server-process.ts'
import { describe, judge } from './judge.ts'
import { fuzzKeptAlive, isAdapter, type KeptRun, type KeptTransport, keptTransports, printKeptRun } from './kept-alive/run.ts'
import { type Draft, requestAt } from './requests.ts'
import { type FuzzedServer, startFuzzed } from './transports.ts'

/**
 * `npm run fuzz -- [--requests N] [--seed N] [--transport http1|http2|in-process|all] [--only INDEX]`: random requests; exits with 1
 * for an improper response, a blocked event loop or a memory leak.
 *
 * `npm run fuzz -- --kept-alive [--requests N] [--seed N] [--transport NAME|all]`: requests of all sizes up to 3 MiB over kept connections;
 * exits with 1 when one is not answered, or with the response to another.
 */

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '1000000' },
    seed: { type: 'string' },
    transport: { type: 'string', default: 'all' },
    only: { type: 'string' },
    'kept-alive': { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    /** Number of printed findings per transport. */
    show: { type: 'string', default: '10' },
  },
})

const transports: readonly Transport[] = ['in-process', 'http1', 'http2']
const seed = Number(values.seed ?? Math.floor(Math.random() * 2 ** 31))
if (values['kept-alive']) {
  await keepAlive(chosenOf(keptTransports))
  process.exit()
}
const chosen = chosenOf(transports)
const total = Math.ceil(Number(values.requests) / chosen.length)
/** Number of requests between two measurements of the probe. */
const batch = 2000
/** Concurrent requests: few, because a turn of the event loop serves every ready socket and a stall would measure their sum. */
const beside: Readonly<Record<Transport, number>> = { 'in-process': 16, http1: 8, http2: 8 }
/** Allowed heap growth from a tenth of the run to its end. */
const allowedGrowth = { factor: 1.25, bytes: 32 * 2 ** 20 }

interface Run {
  readonly transport: Transport
  readonly perSecond: number
  readonly statuses: Readonly<Record<string, number>>
  /** Longest turn of the event loop, which may serve several requests. */
  readonly longestTurnMs: number
  /** Batches with a turn over the bound, whose requests were repeated one after another. */
  readonly repeatedBatches: number
  /** Longest turn while they were repeated: the work of one request. */
  readonly longestStallMs: number
  readonly heapMiB: readonly [tenth: number, end: number]
  readonly peakMiB: number
  readonly findings: readonly string[]
}

if (chosen.some((each) => each !== 'in-process')) bundleCommand()
console.error(`seed ${seed}, ${total} requests over each of ${chosen.join(', ')}`)
const runs: Run[] = []
for (const transport of chosen) {
  runs.push(values.only === undefined ? await fuzz(transport) : await fuzzOnly(transport, Number(values.only)))
}
if (values.json) console.log(JSON.stringify({ seed, total, runs }, null, 2))
else for (const run of runs) print(run)
process.exitCode = runs.some(({ findings }) => findings.length > 0) ? 1 : 0

function chosenOf<T extends string>(available: readonly T[]): readonly T[] {
  const named = values.transport === 'all' ? available : available.filter((each) => each === values.transport)
  if (named.length > 0) return named
  console.error(`unknown transport ${values.transport}; available: all, ${available.join(', ')}`)
  process.exit(2)
}

/** Complete servers get fewer requests than the adapter. */
async function keepAlive(named: readonly KeptTransport[]): Promise<void> {
  if (!named.every(isAdapter)) bundleCommand()
  const weights = named.map((transport) => (isAdapter(transport) ? 1 : 0.1))
  const sum = weights.reduce((one, other) => one + other, 0)
  const kept: KeptRun[] = []
  console.error(`seed ${seed}, ${values.requests} requests over ${named.join(', ')}`)
  for (const [i, transport] of named.entries()) {
    const share = Math.ceil((Number(values.requests) * (weights[i] ?? 0)) / sum)
    kept.push(await fuzzKeptAlive(transport, { seed, total: share }))
  }
  if (values.json) console.log(JSON.stringify({ seed, runs: kept }, null, 2))
  else for (const run of kept) printKeptRun(run, Number(values.show))
  process.exitCode = kept.some(({ findings }) => findings.length > 0) ? 1 : 0
}

async function fuzz(transport: Transport): Promise<Run> {
  await using server = await startFuzzed(transport)
  const findings: string[] = []
  const statuses: Record<string, number> = {}
  const suspects: number[] = []
  let longestTurnMs = 0
  let peakBytes = 0
  let tenth = 0
  const fromMs = performance.now()
  for (let from = 0; from < total; from += batch) {
    const to = Math.min(total, from + batch)
    await server.probe('begin')
    await sendAll(server, { transport, from, to, findings, statuses })
    const read = await server.probe('read')
    longestTurnMs = Math.max(longestTurnMs, read.longestMs)
    peakBytes = Math.max(peakBytes, read.peakBytes)
    if (read.longestMs > issueBounds.stallMs) suspects.push(from)
    if (from <= total / 10) tenth = (await server.probe('collect')).heapBytes
    progress(transport, to, fromMs, findings.length)
  }
  const perSecond = total / ((performance.now() - fromMs) / 1000)
  let longestStallMs = suspects.length === 0 ? longestTurnMs : 0
  for (const from of suspects) {
    const repeated = await repeatedSequentially(server, transport, from)
    longestStallMs = Math.max(longestStallMs, repeated.longestMs)
    findings.push(...repeated.findings)
  }
  const end = (await server.probe('collect')).heapBytes
  if (end > tenth * allowedGrowth.factor && end - tenth > allowedGrowth.bytes)
    findings.push(`the heap grows from ${toMiB(tenth)} MiB after a tenth of the run to ${toMiB(end)} MiB`)
  for (const fault of server.faults())
    findings.push(`a fault of the server: ${fault instanceof Error ? fault.stack : String(fault)}`)
  return {
    transport,
    perSecond,
    statuses,
    longestTurnMs,
    repeatedBatches: suspects.length,
    longestStallMs,
    heapMiB: [toMiB(tenth), toMiB(end)],
    peakMiB: toMiB(peakBytes),
    findings,
  }
}

interface Batch {
  readonly transport: Transport
  readonly from: number
  readonly to: number
  readonly findings: string[]
  readonly statuses: Record<string, number>
}

async function sendAll(server: FuzzedServer, { transport, from, to, findings, statuses }: Batch): Promise<void> {
  let next = from
  const work = async () => {
    for (let index = next++; index < to; index = next++) {
      const draft = requestAt(seed, index, transport)
      const answer = await server.send(draft)
      statuses[answer.status] = (statuses[answer.status] ?? 0) + 1
      const wrong = judge(draft, answer)
      if (wrong !== undefined) findings.push(`${wrong}\n${describe(draft, answer)}`)
      // In-process responses need no turn of the event loop; each request gets its own, so that a stall is the work of one.
      if (transport === 'in-process') await new Promise((resolve) => setImmediate(resolve))
    }
  }
  await Promise.all(Array.from({ length: beside[transport] }, work))
}

/** Repeats the requests of a batch one after another, by hundreds, and finds those that block the event loop. */
async function repeatedSequentially(
  server: FuzzedServer,
  transport: Transport,
  from: number,
): Promise<{ readonly longestMs: number; readonly findings: readonly string[] }> {
  const findings: string[] = []
  let longestMs = 0
  const hundred = 100
  const drafts = (at: number, count: number) => Array.from({ length: count }, (_, i) => requestAt(seed, at + i, transport))
  for (let at = from; at < Math.min(total, from + batch); at += hundred) {
    const ofHundred = await stallOf(server, drafts(at, hundred))
    if (ofHundred <= issueBounds.stallMs) {
      longestMs = Math.max(longestMs, ofHundred)
      continue
    }
    for (const draft of drafts(at, hundred)) {
      // Another process may have held the processor: the shorter of two turns is the work of the request.
      const alone = Math.min(await stallOf(server, [draft]), await stallOf(server, [draft]))
      longestMs = Math.max(longestMs, alone)
      if (alone > issueBounds.stallMs)
        findings.push(
          `request ${draft.index} holds the event loop for ${Math.round(alone)} ms: ${draft.method} ${draft.path.slice(0, 200)}`,
        )
    }
  }
  return { longestMs, findings }
}

/** The longest stall while requests run sequentially. */
async function stallOf(server: FuzzedServer, drafts: readonly Draft[]): Promise<number> {
  await server.probe('begin')
  for (const draft of drafts) {
    await server.send(draft)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return (await server.probe('read')).longestMs
}

async function fuzzOnly(transport: Transport, index: number): Promise<Run> {
  await using server = await startFuzzed(transport)
  const draft = requestAt(seed, index, transport)
  await server.probe('begin')
  const answer = await server.send(draft)
  const { longestMs, peakBytes } = await server.probe('read')
  console.error(describe(draft, answer))
  const wrong = judge(draft, answer)
  const findings = wrong === undefined ? [] : [wrong]
  return {
    transport,
    perSecond: 0,
    statuses: { [answer.status]: 1 },
    longestTurnMs: longestMs,
    repeatedBatches: 0,
    longestStallMs: longestMs,
    heapMiB: [0, 0],
    peakMiB: toMiB(peakBytes),
    findings,
  }
}

function toMiB(bytes: number): number {
  return Math.round(bytes / 2 ** 20)
}

function progress(transport: Transport, done: number, fromMs: number, wrong: number): void {
  if (!process.stderr.isTTY) return
  const perSecond = Math.round(done / ((performance.now() - fromMs) / 1000))
  process.stderr.write(`\r${transport}: ${done} of ${total}, ${perSecond}/s, ${wrong} wrong\u001b[K${done === total ? '\n' : ''}`)
}

function print(run: Run): void {
  const { transport, perSecond, statuses, longestTurnMs, repeatedBatches, longestStallMs, heapMiB, peakMiB, findings } = run
  const shown = Object.entries(statuses).map(([status, count]) => `${status}: ${count}`)
  console.log(`${transport}: ${Math.round(perSecond)} requests/s; ${shown.join(', ')}`)
  console.log(
    `  longest turn of ${beside[transport]} concurrent requests ${Math.round(longestTurnMs)} ms; ${repeatedBatches} batches repeated one by one: longest stall ${Math.round(longestStallMs)} ms`,
  )
  console.log(`  heap ${heapMiB.join(' to ')} MiB; peak ${peakMiB} MiB; ${findings.length} wrong`)
  for (const finding of findings.slice(0, Number(values.show))) console.log(`  ${finding.replaceAll('\n', '\n    ')}`)
}

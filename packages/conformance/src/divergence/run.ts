import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { RandomChoices } from '@krmkit/base/random-choices'
import { type Divergence, signature } from './compare.ts'
import type { FoundScenario } from './found.ts'
import { Gate } from './gate.ts'
import { type Generator, generators } from './generators/index.ts'
import { divergenceReport } from './report.ts'
import type { Scenario, Step } from './scenario.ts'
import { startKrmkit, startStock } from './servers.ts'
import { type Shrunk, shrink } from './shrink.ts'
import { SideBySide } from './side-by-side.ts'
import { Totals } from './totals.ts'
import { startWebhooks } from './webhooks.ts'

/** `npm run divergence`: compares krmkit with kube-apiserver on random scenarios. `packages/tools/src/suite.ts` finds the servers. */

const { values: flags } = parseArgs({
  options: {
    steps: { type: 'string', default: '2000' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    area: { type: 'string', multiple: true },
    only: { type: 'string' },
    scenario: { type: 'string', multiple: true },
    jobs: { type: 'string', default: '4' },
    shrink: { type: 'string', default: '60' },
    keep: { type: 'string' },
    report: { type: 'string' },
    state: { type: 'string' },
    peer: { type: 'string', default: '' },
    krmkit: { type: 'string', default: '' },
    // Read by `served.ts`.
    everything: { type: 'boolean', default: false },
    release: { type: 'string' },
  },
})

/** Texts of this length are shown whole; of longer ones, the part around their first difference. */
const shownLength = 600

/** How many scenarios of areas that wait may run beside the others. */
const mostWaiting = 20

/** Divergences of one signature. */
interface Group {
  count: number
  readonly index: number
  readonly area: string
  readonly first: Shrunk
}

// Without an exit the servers would go on running.
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(130))

process.exitCode = await main()

async function main(): Promise<number> {
  const [stock, krmkit] = await Promise.all([startStock(flags.peer), startKrmkit(flags.krmkit)])
  const webhooks = await startWebhooks()
  const sideBySide = new SideBySide(stock, krmkit, webhooks)
  try {
    await sideBySide.prepare()
    return flags.scenario === undefined ? await compare(sideBySide) : await compareWritten(sideBySide, flags.scenario)
  } finally {
    sideBySide.close()
    await Promise.all([stock.stop(), krmkit.stop(), webhooks.stop()])
  }
}

async function compare(sideBySide: SideBySide): Promise<number> {
  const wanted = Number(flags.steps)
  const seed = Number(flags.seed)
  const chosen = generators.filter(({ area }) => flags.area === undefined || flags.area.includes(area))
  const groups = new Map<string, Group>()
  const totals = storedTotals()
  const gate = new Gate()
  let steps = 0
  let shown = Date.now()
  const generatorOf = (index: number, random = new RandomChoices(seed, index)): Generator => random.pick<Generator>(chosen)
  const runOne = async (index: number): Promise<void> => {
    const random = new RandomChoices(seed, index)
    const { area, generate } = generatorOf(index, random)
    const scenario = generate(random)
    const result = await gate.run(scenario.exclusive === true, () => sideBySide.run(scenario))
    steps += result.steps
    const cause = result.divergence && signature(result.divergence)
    totals.add({ seed, index, area }, result, cause)
    if (result.settled !== undefined) totals.addSettled({ seed, index, area }, signature(result.settled))
    if (cause === undefined) return
    const group = groups.get(cause)
    if (group === undefined) groups.set(cause, { count: 1, index, area, first: { scenario, result } })
    else group.count++
  }
  await repeatOpen(sideBySide, totals)
  const waiting = new Set<Promise<void>>()
  const work = async () => {
    while (steps < wanted) {
      const index = totals.start(seed)
      const done = runOne(index)
      if (generatorOf(index).waits && waiting.size < mostWaiting) {
        waiting.add(done)
        void done.finally(() => waiting.delete(done))
      } else await done
      if (Date.now() - shown < 10_000) continue
      shown = Date.now()
      process.stderr.write(`${steps} of ${wanted} steps, ${groups.size} divergences\n`)
      storeTotals(totals)
    }
  }
  if (flags.only === undefined) {
    await Promise.all(Array.from({ length: Number(flags.jobs) }, work))
    await Promise.all(waiting)
    storeTotals(totals)
  } else for (const index of flags.only.split(',')) await runOne(Number(index))
  await printGroups(sideBySide, groups)
  if (flags.report !== undefined) writeFileSync(flags.report, divergenceReport(generators, totals))
  return summarize(totals, `seed ${seed}: ${steps} steps`)
}

/** Compares scenarios that are written by hand. With `--keep`, they are kept with the stock answers even when nothing differs. */
async function compareWritten(sideBySide: SideBySide, files: readonly string[]): Promise<number> {
  let open = 0
  for (const file of files) {
    const written = JSON.parse(readFileSync(file, 'utf8')) as Scenario & { readonly title: string }
    const { divergence, stockAnswers } = await sideBySide.run(written)
    if (divergence !== undefined) open++
    console.log(`\n${basename(file)}: ${divergence === undefined ? 'no divergence' : signature(divergence)}`)
    printDivergence(divergence)
    if (flags.keep !== undefined) keep(flags.keep, basename(file), { ...written, answers: Object.fromEntries(stockAnswers) })
  }
  return open === 0 ? 0 : 1
}

function keep(folder: string, name: string, found: FoundScenario): void {
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), `${JSON.stringify(found, null, 1)}\n`)
}

/** Repeats the scenarios of the divergences that earlier runs left open. */
async function repeatOpen(sideBySide: SideBySide, totals: Totals): Promise<void> {
  for (const { area, cause, seed, index } of totals.openDivergences()) {
    const random = new RandomChoices(seed, index)
    // The choice of the area.
    random.below(generators.length)
    const scenario = generators.find((generator) => generator.area === area)?.generate(random)
    if (scenario === undefined) continue
    const { divergence } = await sideBySide.run(scenario)
    if (divergence === undefined) totals.settle(cause)
  }
}

/** Totals of earlier runs with the same state file, or empty ones. */
function storedTotals(): Totals {
  const build = createHash('sha256').update(readFileSync(flags.krmkit)).digest('hex')
  if (flags.state === undefined || !existsSync(flags.state)) return new Totals(build)
  return Totals.ofState(readFileSync(flags.state, 'utf8'), build)
}

function storeTotals(totals: Totals): void {
  if (flags.state === undefined) return
  // A run that is killed leaves a whole file.
  writeFileSync(`${flags.state}.new`, totals.state())
  renameSync(`${flags.state}.new`, flags.state)
}

function summarize(totals: Totals, run: string): number {
  const { wording, open } = totals
  const all = flags.state === undefined ? run : `${run}; with earlier runs: ${totals.steps} steps`
  console.log(
    `\n${all}, ${open.size} unexplained divergences, wording equal in ${wording.equal} of ${wording.all} answers with texts`,
  )
  return open.size === 0 ? 0 : 1
}

async function printGroups(sideBySide: SideBySide, groups: ReadonlyMap<string, Group>): Promise<void> {
  const attempts = Number(flags.shrink)
  for (const [cause, { count, first, index, area }] of [...groups].sort(([, a], [, b]) => b.count - a.count)) {
    const { scenario, result } = attempts === 0 ? first : await shrink(sideBySide, first, attempts)
    console.log(`\n${count}× ${cause}  (--area ${area} --only ${index})`)
    // Steps of a scenario that is not shortened mostly have nothing to do with its divergence.
    const shownSteps = attempts === 0 ? [result.divergence?.step ?? []].flat() : scenario.steps
    for (const step of shownSteps) console.log(`   ${stepLine(step)}`)
    printDivergence(result.divergence)
    if (flags.keep === undefined) continue
    const found: FoundScenario = { title: cause, ...scenario, answers: Object.fromEntries(result.stockAnswers) }
    const name = `${area}-${cause.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}`.slice(0, 90)
    keep(flags.keep, `${name}.json`, found)
  }
}

function printDivergence(divergence: Divergence | undefined): void {
  for (const { at, stock, krmkit } of divergence?.differences.slice(0, 6) ?? []) {
    const from = commonStart(stock, krmkit)
    console.log(
      `   ${divergence?.step.id}: ${at}\n      stock  ${shortened(stock, from)}\n      krmkit ${shortened(krmkit, from)}`,
    )
  }
}

function stepLine({ id, method, path, query, headers, as, body, watch }: Step): string {
  const parts = [`${id}: ${method} ${path}`, query === undefined || query.length === 0 ? '' : `?${JSON.stringify(query)}`]
  if (as !== undefined) parts.push(`as ${as}`)
  if (headers !== undefined) parts.push(JSON.stringify(headers))
  if (watch) parts.push('(watch)')
  if (body !== undefined) parts.push(shortened(body))
  return parts.filter((part) => part !== '').join(' ')
}

function shortened(value: unknown, from = 0): string {
  const text = JSON.stringify(value) ?? 'undefined'
  const start = text.length > shownLength ? Math.max(0, from - shownLength / 3) : 0
  const shown = text.slice(start, start + shownLength)
  return `${start > 0 ? '…' : ''}${shown}${text.length > start + shownLength ? '…' : ''}`
}

/** Length of the common beginning of two values' texts. */
function commonStart(a: unknown, b: unknown): number {
  const [x, y] = [JSON.stringify(a) ?? '', JSON.stringify(b) ?? '']
  let length = 0
  while (length < x.length && x[length] === y[length]) length++
  return length
}

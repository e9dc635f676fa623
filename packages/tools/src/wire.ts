/**
 * `npm run wire -- OPTIONS`: replays the recordings of ../shared/wire against the server and prints a table.
 *
 *     --release 1.37    the recordings of this release, against a server that emulates it; default: those of 1.33, without emulation
 *     --folder NAME     only this folder; may be repeated
 *     --scenario TEXT   only scenarios whose file name contains the text; may be repeated
 *     --list-failures   print every failing step with its differences
 *     --wording         also compare texts
 *     --allow FILE      steps that may fail: one `folder/scenario/step` per line, `*` matches any part, # starts a comment
 *     --json FILE       write the complete result
 *     --jobs N          number of parallel servers for scenarios of the same flags; default 6
 *     --storage KIND    memory, durable or etcd; default memory. For etcd the program is named by KRMKIT_ETCD or on the path.
 *     --threads N       workers that follow the storage over a socket and serve the requests; default 0: the server itself
 *
 * Scenarios with server flags run against a server with these flags. Scenarios that need the webhook server or a compacted history run when
 * WIRE_HAVE names it or this program can provide it.
 */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { bundle } from './bundle.ts'
import * as processes from './wire/processes.ts'
import { readScenario, shared } from './wire/recording.ts'
import { replayOptions, scenarioFile } from './wire/replay.ts'
import * as reports from './wire/report.ts'
import { chosenScenarios, groupScenarios, type Scenario, type ScenarioGroup } from './wire/scenarios.ts'

/**
 * Scenarios that depend on the clock: one of their steps is a no-op only within the second of the step before it, as the server stamps
 * conditions with whole seconds, or their webhooks answer shortly before a limit. They are replayed again at the end when they fail, as are
 * those that wait.
 */
const boundToTheClock = new Set(['admission/webhook-timeouts', 'auth/csr-approval'])

/** How the scenarios are replayed. */
interface ReplaySettings {
  readonly jobs: number
  readonly storage: string
  readonly threads: string
  /** The release to emulate; undefined: none. */
  readonly release: string | undefined
  /** Whether a step, `folder/scenario/step`, may fail. */
  readonly allowed: (name: string) => boolean
}

export async function main(args: readonly string[]): Promise<void> {
  const options = optionsOf(args)
  if (!['memory', 'durable', 'etcd'].includes(options.storage)) {
    console.error(`wire: unknown storage ${options.storage}: memory, durable or etcd`)
    process.exitCode = 2
    return
  }
  if (!existsSync(join(shared, 'wire.mjs'))) {
    console.log('wire: no recordings in ../shared/wire; nothing was checked')
    return
  }
  const { storage, threads, release, folder: folders, scenario: scenarios } = options
  const allowed = options.allow === undefined ? () => false : reports.allowList(options.allow)
  const settings = { jobs: Number(options.jobs), storage, threads, release, allowed }
  processes.cleanUpAtExit()
  bundle()
  const groups = groupScenarios(chosenScenarios({ release, folders, scenarios }))
  const results = await Promise.all(groups.map((group) => checkGroup(group, settings)))
  process.exitCode = report(results.flat(), { ...options, allowed })
}

function optionsOf(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      release: { type: 'string' },
      folder: { type: 'string', multiple: true },
      scenario: { type: 'string', multiple: true },
      'list-failures': { type: 'boolean', default: false },
      wording: { type: 'boolean', default: false },
      allow: { type: 'string' },
      json: { type: 'string' },
      jobs: { type: 'string', default: '6' },
      storage: { type: 'string', default: 'memory' },
      threads: { type: 'string', default: '0' },
    },
  })
  return values
}

/** Prints what failed and the table. @returns the exit code */
function report(
  results: readonly reports.ScenarioResult[],
  options: ReturnType<typeof optionsOf> & Pick<ReplaySettings, 'allowed'>,
): number {
  const rows = new Map<string, reports.Row>()
  const steps: (reports.StepReport & { readonly name: string })[] = []
  for (const { folder, report } of results) {
    const row = rows.get(folder) ?? reports.emptyRow()
    rows.set(folder, row)
    row.skipped += report.skipped
    row.wordingSame += report.wordingSame
    row.wordingAll += report.wordingAll
    for (const step of report.report) {
      const name = `${step.scenario}/${step.step}`
      const outcome = step.ok ? 'passed' : options.allowed(name) ? 'allowed' : 'failed'
      steps.push({ name, ...step })
      row[outcome]++
      if (options['list-failures'] && !step.ok)
        reports.printDifferences(`${outcome === 'allowed' ? 'allowed' : 'FAIL'} ${name}`, step.diffs)
      if (options.wording && step.wording.length > 0) reports.printDifferences(`wording ${name}`, step.wording)
    }
  }
  if (options.json !== undefined) writeFileSync(options.json, JSON.stringify(steps, null, 1))
  return reports.printTable(new Map([...rows].sort(([a], [b]) => (a < b ? -1 : 1))))
}

/** Distributes the scenarios over several servers, which mostly wait; those that wait longest come first. */
async function checkGroup(group: ScenarioGroup, settings: ReplaySettings): Promise<reports.ScenarioResult[]> {
  const { needs, scenarios } = group
  const needsWebhook = needs.includes('webhook-server')
  const webhook = needsWebhook ? await processes.startWebhook() : undefined
  if (needsWebhook && webhook === undefined) return scenarios.map(reports.skipped)
  const queue = scenarios.toSorted((a, b) => b.waitMs - a.waitMs)
  const servers = Math.min(settings.jobs, Math.ceil(scenarios.length / 2))
  const results = await Promise.all(Array.from({ length: servers }, () => checkQueue(queue, group, settings)))
  await webhook?.stop()
  return results.flat()
}

/** Replays scenarios of the queue against one server until it is empty. */
async function checkQueue(queue: Scenario[], group: ScenarioGroup, settings: ReplaySettings): Promise<reports.ScenarioResult[]> {
  const { flags, needs, controllers } = group
  const { storage, threads, release, allowed } = settings
  const results: reports.ScenarioResult[] = []
  const directory = processes.createFolder()
  const compaction = needs.includes('compaction') ? '--etcd-compaction-interval=5s' : ''
  const emulation = release === undefined ? '' : `--emulated-version=${release}`
  const allFlags = [flags, compaction, controllers, emulation].join(' ').trim()
  const server = await processes.startServer({ directory, flags: allFlags, storage, threads })
  const isAble = server !== undefined && (!needs.includes('compaction') || (await processes.compacted(server.url)))
  for (let scenario = queue.shift(); scenario !== undefined; scenario = queue.shift()) {
    if (!isAble) {
      results.push(reports.skipped(scenario))
      continue
    }
    const report = await replay(scenario, { url: server.url, directory })
    if (isTimedFailure(scenario, report, allowed)) {
      console.log(`wire: ${scenario.name} failed and is replayed again at the end: it depends on when its steps arrive`)
      queue.push({ ...scenario, attempt: (scenario.attempt ?? 1) + 1 })
    } else results.push({ folder: scenario.folder, report })
  }
  await server?.stop()
  processes.removeFolder(directory)
  return results
}

/** Whether a scenario is to be replayed again: it depends on when its steps arrive, and failed for less than the third time. */
function isTimedFailure(
  { name, waitMs, attempt = 1 }: Scenario,
  { report }: reports.ReplayReport,
  allowed: ReplaySettings['allowed'],
): boolean {
  const isTimed = boundToTheClock.has(name) || waitMs > 0
  return isTimed && attempt < 3 && report.some(({ ok, step }) => !ok && !allowed(`${name}/${step}`))
}

async function replay(
  { name, file, flags, needs }: Scenario,
  { url, directory }: { readonly url: string; readonly directory: string },
): Promise<reports.ReplayReport> {
  const scenario = readScenario(file)
  const replayed = scenarioFile(name, { file, scenario, directory })
  const how = [
    ...['check', '--server', url, '--json'],
    ...(flags === '' ? [] : ['--flags', flags]),
    ...(needs === '' ? [] : ['--have', needs]),
  ]
  const args = [join(shared, 'wire.mjs'), ...how, replayed]
  return JSON.parse(await processes.runScript(replayOptions(name, scenario), args))
}

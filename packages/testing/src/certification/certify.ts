import { TestingError } from '../testing-error.ts'
import { ClientRun } from './client-run.ts'
import { InformerRun } from './informer-run.ts'
import type {
  CertificationOptions,
  CertificationReport,
  CertificationResult,
  CertificationScenario,
  CertificationSubject,
} from './interfaces.ts'
import type { ClientScenario, InformerScenario } from './scenario.ts'
import { clientScenarios } from './scenarios/clients.ts'
import { failureScenarios } from './scenarios/failures.ts'
import { listScenarios } from './scenarios/lists.ts'
import { streamScenarios } from './scenarios/streams.ts'
import { watchScenarios } from './scenarios/watches.ts'
import { type SharedFolder, Stage, sharedFolder } from './stage.ts'
import { NotApplicable, Violation, within } from './violation.ts'

type Scenario = (InformerScenario & { readonly part: 'informer' }) | (ClientScenario & { readonly part: 'client' })

const informerScenarios = [...listScenarios, ...watchScenarios, ...streamScenarios, ...failureScenarios]
const all: readonly Scenario[] = [
  ...informerScenarios.map((each) => ({ ...each, part: 'informer' as const })),
  ...clientScenarios.map((each) => ({ ...each, part: 'client' as const })),
]

/** All scenarios, in the order of reports. */
export const certificationScenarios: readonly CertificationScenario[] = all.map(({ id, part, title, why }) => ({
  id,
  part,
  title,
  why,
}))

interface RunContext {
  readonly subject: CertificationSubject
  readonly folder: SharedFolder
  readonly patienceMs: number
}

/**
 * Runs a client through the scenarios, each against a test server on a port, with faults. Takes no test runner: the result is data.
 *
 * @returns the outcome of each scenario. Violations are outcomes, not errors.
 * @throws TestingError `InvalidOption` for an unknown scenario
 * @example
 * import { createInformer, createRemoteClient, loadKubeconfig } from '@krmkit/client'
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { certify, formatCertification } from '@krmkit/testing/certification'
 * const report = await certify({
 *   name: 'my informer',
 *   informer: {
 *     async start({ server, namespace }) {
 *       const client = createRemoteClient(await loadKubeconfig({ path: server.kubeconfig }))
 *       const informer = createInformer(client, ConfigMap, { namespace })
 *       return { hasSynced: () => informer.hasSynced, objects: () => informer.list(), stop: () => client.close() }
 *     },
 *   },
 * })
 * console.log(formatCertification(report))
 */
export async function certify(subject: CertificationSubject, options: CertificationOptions = {}): Promise<CertificationReport> {
  const { patienceMs = 20_000, concurrency = 4 } = options
  const chosen = choose(options.scenarios)
  await using folder = await sharedFolder()
  const context = { subject, folder, patienceMs }
  const results: CertificationResult[] = new Array(chosen.length)
  let next = 0
  const work = async () => {
    for (let index = next++; index < chosen.length; index = next++) results[index] = await runScenario(chosen[index]!, context)
  }
  // The first stage writes the certificates that all stages use.
  if (chosen.length > 0) results[next++] = await runScenario(chosen[0]!, context)
  await Promise.all(Array.from({ length: Math.max(1, concurrency) }, work))
  return { subject: subject.name, results, failed: results.filter(({ outcome }) => outcome === 'failed') }
}

function choose(ids: readonly string[] | undefined): readonly Scenario[] {
  if (ids === undefined) return all
  const unknown = ids.find((id) => !all.some((scenario) => scenario.id === id))
  if (unknown !== undefined) {
    const known = all.map(({ id }) => id).join(', ')
    throw new TestingError({ code: 'InvalidOption', message: `unknown scenario ${JSON.stringify(unknown)}; known: ${known}` })
  }
  return all.filter(({ id }) => ids.includes(id))
}

async function runScenario(scenario: Scenario, context: RunContext): Promise<CertificationResult> {
  const { id, part, title, why } = scenario
  const result = (outcome: CertificationResult['outcome'], observed: string) => ({ id, part, title, why, outcome, observed })
  const reason = notApplicable(scenario, context.subject)
  if (reason !== undefined) return result('notApplicable', reason)
  const aheadMs = scenario.part === 'informer' ? (scenario.aheadMs ?? 0) : 0
  await using stage = await Stage.open({ folder: context.folder, id, aheadMs })
  try {
    const running = scenario.part === 'informer' ? runInformer(scenario, stage, context) : runClient(scenario, stage, context)
    await within(context.patienceMs * 10, running, 'the scenario')
    return result('passed', requestsOf(stage))
  } catch (error) {
    if (error instanceof NotApplicable) return result('notApplicable', error.message)
    // Errors of adapters are results, too. Only their message is reported, because the stack belongs to the suite.
    const what = error instanceof Violation ? error.message : `the adapter failed: ${describe(error)}`
    return result('failed', `${what} (${requestsOf(stage)})`)
  }
}

function notApplicable(scenario: Scenario, { informer, client }: CertificationSubject): string | undefined {
  if (scenario.part === 'client') return client === undefined ? 'no client is given' : undefined
  if (informer === undefined) return 'no informer is given'
  const { needs } = scenario
  return needs === undefined || informer.features?.[needs] === true ? undefined : `the adapter does not have the feature ${needs}`
}

async function runInformer(scenario: InformerScenario, stage: Stage, { subject, patienceMs }: RunContext): Promise<void> {
  const run = new InformerRun({ adapter: subject.informer!, stage, patienceMs })
  try {
    await scenario.run(run)
    await run.finish()
  } finally {
    await run.stop()
  }
}

async function runClient(scenario: ClientScenario, stage: Stage, { subject }: RunContext): Promise<void> {
  const run = await ClientRun.connect(subject.client!, stage)
  try {
    await scenario.run(run)
  } finally {
    await run.close()
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error)
}

/** Counts the requests of the client: `2 list, 3 watch`. */
function requestsOf({ front }: Stage): string {
  const counts = new Map<string, number>()
  for (const { verb } of front.requests) counts.set(verb, (counts.get(verb) ?? 0) + 1)
  return [...counts].map(([verb, count]) => `${count} ${verb}`).join(', ') || 'no requests'
}

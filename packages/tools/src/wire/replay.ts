/** How scenarios are replayed whose recorded answers depend on the second of the clock, or on what controllers have written. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { RecordedResponse, ScenarioFile, Step } from './recording.ts'

type Controllers = readonly (readonly [prefix: string, controllers: string])[]

/**
 * Values of `--controllers`, by the beginning of a scenario's name, for scenarios whose answers show nothing that kube-controller-manager
 * wrote beside the recorded server: it is slower than the steps.
 */
const withoutEffects: Controllers = [
  // kube-controller-manager waits five seconds before it empties a namespace.
  ['reports/namespace-ends-', '*,-namespace-controller'],
  ['reports/strategic-merge-', '*,-deployment-controller'],
  ['reports/generation-', '*,-garbage-collector-controller'],
]

/** The same for scenarios whose answers show what a controller wrote that `*` does not enable. */
const withEffects: Controllers = [['reports/job-policies-', '*,job-controller']]

/**
 * Scenarios whose steps are too close to each other for a controller: the recorded one had written the status after a step that reads the
 * object. The replay writes the recorded conditions in its place.
 */
const written: ReadonlySet<string> = new Set(['apply/apply-two-versions'])

/** Beginning of the names of scenarios in which the garbage collector deletes objects before the steps that do not find them. */
const collected = 'reports/owner-references-'

/** @returns the flag of the server for a scenario, `folder/name`; empty for the default controllers. */
export function controllersOf(name: string, scenario: ScenarioFile): string {
  const table = showsControllers(name, scenario) ? withEffects : withoutEffects
  const found = table.find(([prefix]) => name.startsWith(prefix))
  return found === undefined ? '' : `--controllers=${found[1]}`
}

function showsControllers(name: string, { expected = {} }: ScenarioFile): boolean {
  return (
    (name.startsWith('reports/') || written.has(name)) && JSON.stringify(expected).includes('"manager":"kube-controller-manager"')
  )
}

/**
 * Options of node for the replay of a scenario. The recorded steps of `reports` arrived within a second; those of a replay may not, which
 * changes the order of managedFields. Where recordings differ in the order, managers are left open and stay in place.
 */
export function replayOptions(name: string, { expected = {} }: ScenarioFile): string[] {
  const isOrdered = name.startsWith('reports/') && !JSON.stringify(expected).includes('"manager":"<any>"')
  return isOrdered ? ['--import', new URL('order-managers.mjs', import.meta.url).href] : []
}

/**
 * The file to replay: that of the scenario, or a copy in `directory` in which a step waits until the object has the status that its recorded
 * answer shows, or is gone, or in which the replay writes that status.
 */
export function scenarioFile(
  name: string,
  { file, scenario, directory }: { readonly file: string; readonly scenario: ScenarioFile; readonly directory: string },
): string {
  const { expected = {} } = scenario
  const before = stepsBefore(name, scenario)
  if (before === undefined) return file
  const steps = scenario.steps.flatMap((step) => [...before(step, expected[step.id] ?? {}), step])
  const copy = join(directory, 'scenario.json')
  writeFileSync(copy, JSON.stringify({ ...scenario, steps }))
  return copy
}

type StepsBefore = (step: Step, recorded: RecordedResponse) => Step[]

function stepsBefore(name: string, scenario: ScenarioFile): StepsBefore | undefined {
  if (showsControllers(name, scenario)) return written.has(name) ? writesConditions() : waitsForStatus
  return name.startsWith(collected) ? waitsForDeletion : undefined
}

/** Waits ask for YAML, which the replay does not read, so that they number no resourceVersion that the recording has not seen. */
const accept = 'application/yaml'

/** Waits for a status by dry runs of a JSON patch that only tests. */
function waitsForStatus({ id, method = 'GET', path }: Step, { body: recorded }: RecordedResponse): Step[] {
  const status = memberOf(recorded, 'status')
  if (method === 'POST') return []
  const conditions = memberOf(status, 'conditions')
  const types = Array.isArray(conditions) ? conditions.map((condition) => memberOf(condition, 'type')) : []
  const body = types.map((value, index) => ({ op: 'test', path: `/status/conditions/${index}/type`, value }))
  const generation = memberOf(status, 'observedGeneration')
  if (Number.isInteger(generation)) body.push({ op: 'test', path: '/status/observedGeneration', value: generation })
  if (body.length === 0) return []
  const headers = { 'content-type': 'application/json-patch+json', accept }
  const query = { dryRun: 'All' }
  return [{ id: `before-${id}`, method: 'PATCH', path: pathOnly(path), query, headers, body, until: until(200) }]
}

/** Writes the conditions of the first recorded answer that shows some, as kube-controller-manager does. */
function writesConditions(): StepsBefore {
  let isWritten = false
  return ({ id, path }, { body: recorded }) => {
    const conditions = memberOf(memberOf(recorded, 'status'), 'conditions')
    if (isWritten || !Array.isArray(conditions)) return []
    isWritten = true
    const lastTransitionTime = new Date().toISOString().replace(/\.\d+/, '')
    const status = { conditions: conditions.map((condition: object) => ({ ...condition, lastTransitionTime })) }
    const headers = { 'content-type': 'application/merge-patch+json', accept }
    const query = { fieldManager: 'kube-controller-manager' }
    return [{ id: `before-${id}`, method: 'PATCH', path: `${pathOnly(path)}/status`, query, headers, body: { status } }]
  }
}

function waitsForDeletion({ id, method = 'GET', path }: Step, { status }: RecordedResponse): Step[] {
  if (status !== 404 || method === 'POST') return []
  return [{ id: `before-${id}`, path: pathOnly(path), headers: { accept }, until: until(404) }]
}

function pathOnly(path: string): string {
  return path.replace(/\?.*/, '')
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}

function until(status: number): object {
  return { status, timeoutMs: 3000 }
}

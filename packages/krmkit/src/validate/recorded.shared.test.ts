import { existsSync, readdirSync, readFileSync } from 'node:fs'
import type { JsonObject } from '@krmkit/meta'
import { expect, it } from 'vitest'
import { checkObject } from './check-object.ts'
import { OfflineKinds } from './offline-kinds.ts'

/** Responses of kube-apiserver to create requests, as recorded in ../shared/wire. */

const folder = new URL('../../../../../shared/wire/scenarios/', import.meta.url)

interface Step {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly body?: { apiVersion?: string; kind?: string }
}

interface Scenario {
  readonly steps: readonly Step[]
  readonly expected: Readonly<Record<string, Expected>>
}

interface Expected {
  readonly status: number
  readonly body?: { reason?: string; details?: { causes?: { field: string; reason: string; message: string }[] } }
}

const scenarios = !existsSync(folder)
  ? []
  : ['storage', 'protocol'].flatMap((name) => readdirSync(new URL(`${name}/`, folder)).map((file) => `${name}/${file}`))
const kinds = new OfflineKinds({ release: '1.33', runtimeConfig: 'api/all=true' })
const named = (text: string) => text.replaceAll('{ns}', 'ns-{id}').replaceAll('{id}', 'x')
const collection = /^\/(?:api|apis\/[^/]+)\/[^/]+\/(?:namespaces\/[^/]+\/)?[a-z]+$/

/** Matches errors that depend on the server: request, network, generated names, memory addresses. */
const notOurs =
  /^(?:dryRun|fieldManager|fieldValidation|\[\]|spec\.clusterIPs|spec\.ipFamil.*|spec\.ports\[0\]\.nodePort|metadata\.generateName|metadata\.name): /
/** Scenarios in which the object is valid, or whose messages contain memory addresses. */
const leftOut = new Set([
  'protocol/create-mismatch.json no-kind',
  'protocol/protobuf-answers.json custom',
  'protocol/request-size.json annotations',
  'storage/pvc-data-source.json both-different',
])
/** Known differences between the strategies of kinds and the recordings; see ../shared/wire/differences.md. */
const knownDifferences = new Set([
  'storage/pod-spec-validation.json dns-config',
  'storage/pod-volume-network-sources.json iscsi-missing',
  'storage/resourcequota.json fraction',
])

it.skipIf(scenarios.length === 0)('reports the same errors as kube-apiserver for every recorded object', async () => {
  const differences: string[] = []
  let compared = 0
  for (const file of scenarios) {
    const { steps, expected } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Scenario
    for (const { id, method, path, body } of steps) {
      const answer = expected[id]
      if (method !== 'POST' || !collection.test(path) || body?.apiVersion === undefined || answer === undefined) continue
      const recorded = causesOf(answer)
      if (recorded === undefined || leftOut.has(`${file} ${id}`) || knownDifferences.has(`${file} ${id}`)) continue
      compared++
      const found = await errorsOf(body, path)
      if (found.join('\n') !== recorded.join('\n'))
        differences.push([`${file} ${id}`, ...found, 'but recorded', ...recorded].join('\n  '))
    }
  }
  expect(differences).toEqual([])
  expect(compared).toBeGreaterThan(900)
})

/** Returns the errors of a response; empty for an accepted object, undefined for other responses. */
function causesOf({ status, body }: Expected): string[] | undefined {
  if (status === 201) return []
  const causes = body?.details?.causes
  if (status !== 422 || body?.reason !== 'Invalid' || !Array.isArray(causes)) return undefined
  return sorted(causes.map(({ field, message }) => `${field}: ${message}`))
}

async function errorsOf(body: object, path: string): Promise<string[]> {
  const value = JSON.parse(named(JSON.stringify(body))) as JsonObject
  const namespace = /\/namespaces\/([^/]+)\//.exec(named(path))?.[1]
  const metadata = { ...(namespace === undefined ? {} : { namespace }), ...(value.metadata as JsonObject | undefined) }
  const { problems } = await checkObject({ value: { ...value, metadata }, at: '' }, kinds)
  const refused = problems.filter(
    ({ severity, rule }) => severity === 'error' && rule !== 'unknown-field' && rule !== 'duplicate-field',
  )
  return sorted(refused.map(({ path: field, message }) => `${field}: ${message}`))
}

function sorted(texts: readonly string[]): string[] {
  return texts
    .map(named)
    .filter((text) => !notOurs.test(text))
    .sort()
}

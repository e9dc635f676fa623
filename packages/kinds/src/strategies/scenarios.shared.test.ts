import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { isJsonObject } from '@krmkit/meta'
import { loadCel } from '@krmkit/schema'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCatalog } from '../catalog/catalog.ts'
import { strategies } from './index.ts'
import { loadStructDiff } from './shared/struct-diff.ts'
import { type Json, substitute } from './testing/recorded.ts'
import { type RecordedResponse, remember, replay, type Step, type Target } from './testing/replay.ts'

/**
 * Replays the recorded writes of kube-apiserver against the strategies alone: compares the causes of rejections, and
 * accepted objects apart from metadata. Storage is a map; what admission and controllers add is taken from the recorded
 * responses.
 */

const scenarios = new URL('../../../../../shared/wire/scenarios/', import.meta.url)
const present = existsSync(scenarios)
const catalog = createCatalog()
const folders = ['apply', 'auth', 'crd', 'protocol', 'storage']

interface Scenario {
  steps: Step[]
  expected: Record<string, RecordedResponse>
}

/** Steps whose response comes from a layer other than the strategies. */
const elsewhere = new Set([
  // Depends on the users of the recording.
  'auth/token-review/sa-plain-user',
  'auth/service-account-identity/my-parts',
  'auth/service-account-identity/secret-parts',
  // Admission plugins.
  'storage/limitrange/pod-defaulted',
  'storage/pod-defaults/token-volume-added',
  'storage/storageclass-default/none-named',
  'storage/storageclass-default/old-annotation-works',
  // A binding, a scale or a change of versions came before.
  'protocol/watch-field-selector/fail',
  'apply/patch-subresources/deployment-status-spec-ignored',
  'crd/definition-stored-versions/status-empty',
  // Field ownership, tested in another package.
  ...['merge-one-empty', 'put-one-empty', 'with-another-change'].map((step) => `apply/managed-fields-clear/${step}`),
  ...['bad-operation', 'no-operation', 'bad-fields-type'].map((step) => `apply/managed-fields-write/${step}`),
  // The rejected value is masked.
  'crd/cel-refused-placement-and-cost/too-many-faults',
])

describe.skipIf(!present)('recorded writes (skipped when ../shared is absent)', () => {
  beforeAll(async () => {
    await loadCel()
    await loadStructDiff()
    const definition = { apiVersion: '', kind: '', metadata: {}, spec: {} }
    for (const key of ['apiextensions.k8s.io/CustomResourceDefinition', 'certificates.k8s.io/CertificateSigningRequest'])
      await strategies[key]?.ready?.(definition, undefined)
  })

  let refused = 0
  let accepted = 0
  for (const [name, scenario] of present ? readScenarios() : []) {
    it(name, () => {
      const stored = new Map<string, Json>()
      const differences: string[] = []
      const saved = new Map<string, unknown>()
      for (const recorded of scenario.steps) {
        const step = { ...recorded, body: substitute(recorded.body, saved) }
        const answer = scenario.expected[step.id]
        const target = targetOf(step.path)
        if (answer === undefined || typeof answer !== 'object' || target === undefined) continue
        const made: { object?: Json } = {}
        const outcome = replay(step, target, { answer, stored, made })
        if (elsewhere.has(`${name}/${step.id}`)) continue
        if (outcome === 'refused') refused++
        else if (outcome === 'accepted') accepted++
        else if (outcome !== undefined) differences.push(`${step.id}: ${outcome}`)
        remember(step, target, { answer, stored, made })
        for (const [variable, path] of Object.entries(step.save ?? {})) {
          const whole = answer.body
          const value = path.split('.').reduce<unknown>((at, member) => (isJsonObject(at) ? at[member] : undefined), whole)
          const own = path.split('.').reduce<unknown>((at, member) => (isJsonObject(at) ? at[member] : undefined), made.object)
          saved.set(
            variable,
            isJsonObject(whole) && typeof value === 'string' && !value.startsWith('<') ? value : (own ?? savedMeta(path)),
          )
        }
      }
      expect(differences).toEqual([])
    })
  }

  it('compares more than the minimum of responses', () => {
    expect(refused).toBeGreaterThan(300)
    expect(accepted).toBeGreaterThan(300)
  })
})

function readScenarios(): [string, Scenario][] {
  return folders.flatMap((folder) =>
    readdirSync(new URL(`${folder}/`, scenarios)).map((file): [string, Scenario] => {
      const text = readFileSync(new URL(`${folder}/${file}`, scenarios), 'utf8')
      return [`${folder}/${file.replace('.json', '')}`, JSON.parse(text.replaceAll('{ns}', 'ns-{id}').replaceAll('{id}', 'x1'))]
    }),
  )
}

function targetOf(path: string | undefined): Target | undefined {
  const parts = (path ?? '').split('/').slice(1)
  const group = parts[0] === 'api' ? '' : (parts[1] ?? '')
  const version = (parts[0] === 'api' ? parts[1] : parts[2]) ?? ''
  let rest = parts.slice(parts[0] === 'api' ? 2 : 3)
  let namespace: string | undefined
  if (rest[0] === 'namespaces' && rest.length > 2 && rest[2] !== 'finalize' && rest[2] !== 'status') {
    namespace = rest[1]
    rest = rest.slice(2)
  }
  const definition = catalog.resource({ group, version, resource: rest[0] ?? '' })
  if (definition === undefined || definition.strategy.validate === undefined) return undefined
  return { definition, namespace, name: rest[1], subresource: rest[2] ?? '' }
}

function savedMeta(path: string): string {
  return path.endsWith('resourceVersion') ? '1' : 'u'
}

import {
  createCatalog,
  printerOf,
  type ResourceDefinition,
  runPreparation,
  runValidation,
  type StrategyContext,
} from '@krmkit/kinds'
import { type ApiObject, createFeatures, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { applyDefaults, DecodeError, decode, normalize, type StructType } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { typedObjects } from '../../clients/support/typed-objects.ts'
import { type Growable, grow, growables, sortsOf } from './grown-objects.ts'

/**
 * Defaulting, validation and warnings of every built-in kind, on objects with one long list or map: twice the length may take
 * twice the time, not four times. Measured in CPU time above a minimum duration. Most lists take three measurements; only stages that seem
 * to grow too fast are measured again, best of several runs.
 */

const length = 500
/** Shorter durations are not checked: quadratic code takes longer at these lengths. */
const noticeableMs = 4
/** Between 2, for linear growth, and 4. */
const maxGrowth = 3.2
/** Runs of which the best counts: before a stage is suspected, and before it is a problem. */
const runs = { suspicion: 2, proof: 6 }
/** Times that a suspicion has to be proved, each with new measurements. */
const proofs = 2

const catalog = createCatalog()
const context: StrategyContext = {
  clock: fakeClock(0),
  random: seededRandom(1),
  profile: stockProfile,
  features: createFeatures(),
}
const bases = new Map(typedObjects.map((object) => [object.kind, JSON.parse(JSON.stringify(object)) as Record<string, unknown>]))

type Times = Readonly<Record<string, number>>

function processorMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function baseOf({ group, version, kind }: ResourceDefinition): Record<string, unknown> {
  const apiVersion = group === '' ? version : `${group}/${version}`
  const metadata = { name: 'a', ...(kind.namespaced ? { namespace: 'default' } : {}) }
  return { ...(bases.get(kind.kind) ?? { metadata }), apiVersion, kind: kind.kind }
}

/** The duration of each stage of a write; undefined when the object does not decode. */
async function timesOf(definition: ResourceDefinition, raw: object): Promise<Times | undefined> {
  const { kind, strategy: policy, version } = definition
  const object = decoded(kind.type(), raw)
  if (object === undefined) return undefined
  const times: Record<string, number> = {}
  const time = (stage: string, work: () => unknown) => {
    times[stage] = processorMs(work)
  }
  time('defaults', () => runPreparation(policy.defaults?.(object, version, stockProfile)))
  object.metadata.resourceVersion = '1'
  await policy.ready?.(object, undefined)
  time('prepareForCreate', () => runPreparation(policy.prepareForCreate?.(object, context)))
  time('validate', () => runValidation(policy.validate?.(object, context)))
  const old = structuredClone(object)
  time('prepareForUpdate', () => runPreparation(policy.prepareForUpdate?.(object, old, context)))
  time('validateUpdate', () => runValidation(policy.validateUpdate?.(object, old, context)))
  time('warnings', () => policy.warnings?.(object, old, context))
  const printer = await printerOf(definition)
  time('columns', () => printer.cells(object, { now: 0 }))
  for (const [name, rules] of Object.entries(policy.subresources ?? {})) {
    time(`prepare ${name}`, () => runPreparation(rules.prepareForUpdate(object, old, context)))
    time(`validate ${name}`, () => rules.validateUpdate(object, old, context))
  }
  return times
}

function decoded(type: StructType, raw: object): ApiObject | undefined {
  try {
    return structuredClone(applyDefaults(type, normalize(type, decode<ApiObject>(type, raw).object)))
  } catch (error) {
    if (error instanceof DecodeError) return undefined
    throw error
  }
}

/** The stages that take more than twice as long for twice the length. */
async function fastGrowing(times: (count: number) => Promise<Times | undefined>): Promise<string[]> {
  const first = await times(2 * length)
  if (first === undefined || Object.values(first).every((ms) => ms < noticeableMs)) return []
  const short = await best(() => times(length), runs.suspicion)
  let suspects = Object.keys(first).filter((stage) => growsFast(short[stage], first[stage]))
  // The first measurement includes compilation.
  const long = suspects.length === 0 ? {} : await best(() => times(2 * length), runs.suspicion)
  suspects = suspects.filter((stage) => growsFast(short[stage], long[stage]))
  let figures: readonly Times[] = []
  for (let i = 0; i < proofs && suspects.length > 0; i++) {
    figures = await ladder(times)
    suspects = suspects.filter((stage) => figures.every((each, k) => k === 0 || growsFast(figures[k - 1]?.[stage], each[stage])))
  }
  return suspects.map((stage) => `${stage}: ${figures.map((each) => each[stage]?.toFixed(1)).join(', then ')} ms`)
}

/** Times at three lengths, each twice the one before: garbage collection and compilation distort two. */
async function ladder(times: (count: number) => Promise<Times | undefined>): Promise<Times[]> {
  const found: Times[] = []
  for (const factor of [1, 2, 4]) found.push(await best(() => times(factor * length), runs.proof))
  return found
}

function growsFast(short = 0, long = 0): boolean {
  return long >= noticeableMs && long > maxGrowth * short
}

async function best(times: () => Promise<Times | undefined>, count: number): Promise<Times> {
  let found: Times = {}
  for (let i = 0; i < count; i++) {
    const next = (await times()) ?? {}
    found = Object.fromEntries(Object.entries(next).map(([stage, ms]) => [stage, Math.min(ms, found[stage] ?? ms)]))
  }
  return found
}

/** By the member that they are part of: noise lengthens each measurement, and a pod has hundreds of lists. */
function byPart(all: readonly Growable[]): ReadonlyMap<string, Growable[]> {
  const parts = new Map<string, Growable[]>()
  for (const growable of all) {
    const part = growable.path.slice(0, 2).join('.')
    parts.set(part, [...(parts.get(part) ?? []), growable])
  }
  return parts
}

/** Every list and map once, even if several kinds contain it: pod templates are checked as pods. */
const seen = new Set<string>()
const kinds = catalog.definitions.filter(({ resource, toStorage, version, storage }) => {
  return resource.virtual !== true && toStorage === undefined && version === storage.version
})
const order = (definition: ResourceDefinition) => (definition.kind.kind === 'Pod' ? 0 : 1)
const cases = kinds
  .toSorted((a, b) => order(a) - order(b))
  .flatMap((definition) => {
    const own = growables(definition.kind.type()).filter(({ owner }) => !seen.has(owner))
    for (const { owner } of own) seen.add(owner)
    const name = `${definition.group}/${definition.kind.kind}`
    return [...byPart(own)].map(([part, growing]) => ({ name: `${name} ${part}`, definition, own: growing }))
  })

describe('time is linear in the length of a list', () => {
  it.each(cases)('$name', async ({ definition, own }) => {
    const problems: string[] = []
    const [type, base] = [definition.kind.type(), baseOf(definition)]
    for (const growable of own) {
      for (const sort of sortsOf(growable)) {
        const found = await fastGrowing((count) => timesOf(definition, grow(type, base, growable, { count, sort })))
        problems.push(...found.map((each) => `${growable.path.join('.')}, ${sort}: ${each}`))
      }
    }
    expect(problems).toEqual([])
  })
})

describe('time is linear in the sum of two lists', () => {
  const pod = kinds.find(({ kind }) => kind.kind === 'Pod') as ResourceDefinition
  const paths = (...all: string[]) => all.map((path) => path.split('.'))
  it.each([
    paths('spec.volumes', 'spec.containers.*.volumeMounts'),
    paths('spec.containers.*.volumeDevices', 'spec.containers.*.volumeMounts'),
    paths('spec.containers.*.ports', 'spec.initContainers.*.ports'),
    paths('spec.containers', 'spec.ephemeralContainers', 'metadata.annotations'),
    paths('spec.resourceClaims', 'spec.containers.*.resources.claims', 'status.resourceClaimStatuses'),
    paths('spec.readinessGates', 'status.conditions'),
    paths('spec.containers', 'status.containerStatuses'),
    paths('spec.topologySpreadConstraints.*.matchLabelKeys', 'spec.topologySpreadConstraints.*.labelSelector.matchExpressions'),
    paths(
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.*.matchLabelKeys',
      'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution.*.mismatchLabelKeys',
    ),
  ])('%j and %j of a pod', async (...grown) => {
    const type = pod.kind.type()
    const all = growables(type)
    const chosen = grown.map((path) => all.find((each) => each.path.join('.') === path.join('.')) as Growable)
    const make = (count: number) => {
      const object = chosen.reduce((base, growable) => grow(type, base, growable, { count, sort: 'distinct' }), baseOf(pod))
      return timesOf(pod, object)
    }
    expect(await fastGrowing(make)).toEqual([])
  })
})

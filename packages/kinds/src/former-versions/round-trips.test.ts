import type { ApiObject, GroupVersionKind } from '@krmkit/meta'
import { decode, normalize, type StructType } from '@krmkit/schema'
import { describe, expect, it } from 'vitest'
import { builtInTypes } from '../catalog/catalog.ts'
import { readLifecycle } from '../catalog/lifecycle.ts'
import { typesAt } from '../releases/index.ts'
import { generateObject } from '../round-trips/generate-object.ts'
import { formerConversion, formerKinds } from './index.ts'

/** Generated objects survive the way to the hub and back. `ROUND_TRIPS` and `ROUND_TRIPS_SEED` as in `round-trips.test.ts`. */

const count = Number(process.env['ROUND_TRIPS'] ?? 40)
const firstSeed = Number(process.env['ROUND_TRIPS_SEED'] ?? 1)
const seeds = Array.from({ length: count }, (_, i) => firstSeed + i * 7919)

/** Types of the release that is served by default, then of the last one, which has the hubs of later versions. */
const sources = [builtInTypes(), typesAt('1.37')]

function typeOf({ group, version, kind }: GroupVersionKind): StructType | undefined {
  const name = `${group.replace(/\..*/, '')}/${version}.${kind}`
  return sources.find((types) => types.has(name))?.struct(name)
}

const pairs = formerKinds.flatMap(({ group, kind, hub, versions }) =>
  Object.keys(versions).flatMap((name) => {
    const [inGroup, version] = name.includes('/') ? (name.split('/') as [string, string]) : [group, name]
    const former = { group: inGroup, version, kind }
    return [[`${name} ${kind}`, former, { group, version: hub, kind }] as const]
  }),
)
const typed = pairs.filter(([, former]) => typeOf(former) !== undefined)

function generated(gvk: GroupVersionKind, seed: number): ApiObject {
  return withoutZeros(decode<ApiObject>(typeOf(gvk)!, generateObject(typeOf(gvk)!, { seed, breadth: 12 })).object) as ApiObject
}

const bigintText = (_: string, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)

/** Drops empty values, which mean the same as absent ones in the former versions. */
function withoutZeros(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutZeros)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).map(([name, member]) => [name, withoutZeros(member)] as const)
  return Object.fromEntries(members.filter(([, member]) => !isEmpty(member)))
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === 0 || value === false || value === null) return true
  return typeof value === 'object' && (Array.isArray(value) ? value.length === 0 : Object.keys(value).length === 0)
}

/** Decodes as a type: canonical order, and a failure for members that the type does not have. */
function canonical(gvk: GroupVersionKind, object: ApiObject): unknown {
  const { object: read, problems } = decode<ApiObject>(typeOf(gvk)!, structuredClone(object))
  expect(problems).toEqual([])
  return JSON.parse(JSON.stringify(withoutZeros(normalize(typeOf(gvk)!, read)), bigintText))
}

/** Members of the spec that the hub does not have. */
const dropped: Readonly<Record<string, readonly string[]>> = {
  'v1beta1 PodCertificateRequest': ['pkixPublicKey', 'proofOfPossession'],
}

function withoutMembers(object: ApiObject, members: readonly string[]): ApiObject {
  const spec = Object.entries(object['spec'] ?? {}).filter(([name]) => !members.includes(name))
  return members.length === 0 ? object : { ...object, spec: Object.fromEntries(spec) }
}

describe('former versions', () => {
  it.each(typed)('%s: the hub restores the object, defaults written out [P331]', (name, former, hub) => {
    const [there, back] = [formerConversion(former, hub)!, formerConversion(hub, former)!]
    const lost: string[] = []
    for (const seed of seeds) {
      const object = generated(former, seed)
      const before = JSON.stringify(object, bigintText)
      const inHub = there(object, (path) => void lost.push(path))
      const returned = back(inHub, (path) => void lost.push(path))
      expect(JSON.stringify(object, bigintText)).toBe(before)
      expect(returned.apiVersion).toBe(object.apiVersion)
      const after = canonical(former, returned)
      const kept = canonical(former, withoutMembers(object, dropped[name] ?? [])) as object
      if (former.kind !== 'CustomResourceDefinition') expect(after, `seed ${seed}`).toMatchObject(kept)
      expect(canonical(hub, there(returned)), `seed ${seed}`).toEqual(canonical(hub, inHub))
    }
    expect([...new Set(lost)].sort()).toEqual((dropped[name] ?? []).map((member) => `spec.${member}`))
  })

  it.each(typed)('%s: restores every member of the hub that it does not report as lost [P331]', (_, former, hub) => {
    const [there, back] = [formerConversion(former, hub)!, formerConversion(hub, former)!]
    for (const seed of seeds) {
      const object = generated(hub, seed)
      const lost: string[] = []
      const returned = there(back(object, (path) => void lost.push(path)))
      if (lost.length > 0) continue
      expect(canonical(hub, returned), `seed ${seed}`).toMatchObject(canonical(hub, object) as object)
    }
  })

  it('covers every version in the lifecycle that has a replacement in another shape', () => {
    const known = new Set(pairs.map(([, { group, version, kind }]) => `${group}/${version} ${kind}`))
    const gone = readLifecycle().filter(
      ({ list, removed, replacement, kind }) =>
        list !== null && removed !== null && replacement !== null && kind !== 'PodSecurityPolicy',
    )
    const resource = ({ group }: { group: string }) => group === 'resource.k8s.io'
    const missing = gone.filter((each) => !resource(each)).map(({ group, version, kind }) => `${group}/${version} ${kind}`)
    expect(missing.filter((name) => !known.has(name))).toEqual([])
  })
})

import { type ApiObject, stockProfile } from '@krmkit/meta'
import {
  applyDefaults,
  decode,
  decodeProtobuf,
  encodeJson,
  encodeProtobuf,
  normalize,
  parseJson,
  parseYaml,
  readEnvelope,
  type StructType,
} from '@krmkit/schema'
import { encodeYaml } from '@krmkit/schema/yaml'
import { describe, expect, it } from 'vitest'
import { builtInTypes, createCatalog } from '../catalog/catalog.ts'
import { readStockFacts } from '../catalog/facts.ts'
import { printerOf } from '../catalog/load-printer.ts'
import { conversionBetween } from '../conversions/index.ts'
import type { ResourceDefinition } from '../interfaces.ts'
import { runPreparation } from '../preparation.ts'
import { testContext } from '../strategies/testing/context.ts'
import { runValidation } from '../validation.ts'
import { generateObject } from './generate-object.ts'

/**
 * Generated objects of every kind survive every encoding and conversion. `ROUND_TRIPS=1000` sets the number of objects per
 * kind, `ROUND_TRIPS_SEED` the seed; a failure prints the seed of its object.
 */

const count = Number(process.env['ROUND_TRIPS'] ?? 25)
const firstSeed = Number(process.env['ROUND_TRIPS_SEED'] ?? 1)
const seeds = Array.from({ length: count }, (_, i) => firstSeed + i * 7919)
const timeout = 10_000 + count * 400

const types = builtInTypes()
const catalog = createCatalog({ runtimeConfig: 'api/all=true' })

/** Every kind with object metadata, in every known version, served or not. */
const kinds = Object.entries(readStockFacts()).flatMap(([folder, { versions }]) =>
  Object.entries(versions).flatMap(([version, facts]) =>
    Object.entries(facts.kinds)
      .filter(([, kind]) => kind.object === true && kind.registeredAs === undefined)
      .map(([kind]) => `${folder}/${version}.${kind}`),
  ),
)

/** The canonical form of a generated object, and its JSON. */
function made(type: StructType, seed: number): { readonly object: ApiObject; readonly text: string } {
  const { object, problems } = decode<ApiObject>(type, generateObject(type, { seed }))
  expect(problems, `seed ${seed}`).toEqual([])
  return { object, text: textOf(object) }
}

/** Fails with the position of the first difference. */
function same(got: string, wanted: string, what: string): void {
  if (got === wanted) return
  let at = 0
  while (got[at] === wanted[at]) at++
  const part = (text: string) => text.slice(Math.max(0, at - 80), at + 80)
  throw new Error(`${what}: got ...${part(got)}..., wanted ...${part(wanted)}...`)
}

const utf8 = new TextDecoder()
const textOf = (object: object) => utf8.decode(encodeJson(object))

describe('forms', () => {
  it.each(kinds)('%s: JSON, protobuf and YAML restore the object [P34 P35 P190]', { timeout }, (name) => {
    const type = types.struct(name)
    for (const seed of seeds) {
      const { object, text } = made(type, seed)
      const { value } = parseJson(text, { literals: true })
      same(textOf(decode(type, value).object), text, `JSON, seed ${seed}`)
      if (normalize(type, object) !== object) same(textOf(normalize(type, object)), text, `normal form, seed ${seed}`)
      if (type.proto !== undefined) {
        same(textOf(decodeProtobuf(type, readEnvelope(encodeProtobuf(type, object))).object), text, `protobuf, seed ${seed}`)
      }
      same(textOf(decode(type, parseYaml(encodeYaml(object)).value).object), text, `YAML, seed ${seed}`)
    }
  })
})

const stored = catalog.definitions.filter(({ resource }) => resource.virtual !== true)
const label = ({ group, version, kind }: ResourceDefinition) => `${group === '' ? 'core' : group}/${version} ${kind.kind}`

describe('strategies', () => {
  it.each(stored.map((one) => [label(one), one] as const))(
    '%s: defaulting is idempotent and validation never throws',
    { timeout },
    async (_, one) => {
      const type = one.kind.type()
      const complete = (object: ApiObject): ApiObject => {
        const filled = structuredClone(applyDefaults(type, object as never)) as unknown as ApiObject
        runPreparation(one.strategy.defaults?.(filled, one.version, stockProfile))
        return normalize(type, filled) as ApiObject
      }
      const context = testContext()
      for (const seed of seeds) {
        try {
          const once = complete(made(type, seed).object)
          same(textOf(complete(once)), textOf(once), 'defaults')
          const draft = structuredClone(one.toStorage?.(once) ?? once)
          runPreparation(one.strategy.prepareForCreate?.(draft, context))
          await one.strategy.ready?.(draft, undefined)
          runValidation(one.strategy.validate?.(draft, context))
          const next = structuredClone(draft)
          runPreparation(one.strategy.prepareForUpdate?.(next, draft, context))
          runValidation(one.strategy.validateUpdate?.(next, draft, context))
          one.strategy.warnings?.(draft, undefined, context)
          const { columns, cells } = await printerOf(one)
          expect(cells(draft, { now: 0 })).toHaveLength(columns.length)
        } catch (error) {
          throw new Error(`seed ${seed}: ${error instanceof Error ? error.stack : String(error)}`)
        }
      }
    },
  )
})

/** Kinds served in several versions: all pairs, both directions. */
const pairs = stored.flatMap((from) =>
  stored
    .filter((to) => to !== from && to.kind.kind === from.kind.kind && to.storage.group === from.storage.group)
    .map((to) => [`${label(from)} by way of ${label(to)}`, from, to] as const),
)

/**
 * Removes what another version cannot express and therefore does not restore: `v1` keeps the rest of autoscalers in
 * annotations, only `v1beta2` tells an unset value of a device from an absent one, and an empty request has no alternatives.
 */
function sayable(object: ApiObject): ApiObject {
  const isDevice = object.apiVersion.startsWith('resource.k8s.io/')
  const drops = (name: string, value: unknown): boolean => {
    if (name.startsWith('autoscaling.alpha.') || (name === 'annotations' && isEmpty(value))) return true
    // The percentage that v1 implies without a target.
    if (name === 'targetCPUUtilizationPercentage' && value === 80) return true
    const isUnset = (name === 'allNodes' && value === false) || (name === 'nodeName' && value === '')
    return isDevice && (isUnset || ((name === 'exactly' || name === 'basic') && isEmpty(value)))
  }
  const copy = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(copy)
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value).flatMap(([name, member]) => (drops(name, member) ? [] : [[name, copy(member)]])),
    )
  }
  return copy(object) as ApiObject
}

/** Whether the value consists of zero values only. */
function isEmpty(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return value === '' || value === 0 || value === false || value === null
  return Object.entries(value).every(
    ([name, member]) => name.startsWith('autoscaling.alpha.') || (!Array.isArray(member) && isEmpty(member)),
  )
}

describe('conversions', () => {
  // Generated v2 autoscalers lack complete metrics: see autoscaling.test.ts.
  const generated = pairs.filter(([, { group, version }]) => group !== 'autoscaling' || version !== 'v2')
  it.each(generated)('%s [P331]', { timeout }, (_, from, to) => {
    const there = conversionBetween(from.kind, to.kind)
    const back = conversionBetween(to.kind, from.kind)
    const type = from.kind.type()
    for (const seed of seeds) {
      const { object, text } = made(type, seed)
      const { object: read, problems } = decode<ApiObject>(to.kind.type(), there(object))
      expect(problems, `seed ${seed}`).toEqual([])
      const returned = decode<ApiObject>(type, back(read)).object
      same(textOf(sayable(returned)), textOf(sayable(object)), `seed ${seed}`)
      expect(textOf(object)).toBe(text)
    }
  })
})

it('covers all kinds with several versions', () => {
  const several = new Set(pairs.map(([, { kind }]) => kind.kind))
  expect([...several].sort()).toMatchInlineSnapshot(`
    [
      "ClusterTrustBundle",
      "DeviceClass",
      "Event",
      "HorizontalPodAutoscaler",
      "IPAddress",
      "LeaseCandidate",
      "ResourceClaim",
      "ResourceClaimTemplate",
      "ResourceSlice",
      "ServiceCIDR",
      "ValidatingAdmissionPolicy",
      "ValidatingAdmissionPolicyBinding",
      "VolumeAttributesClass",
    ]
  `)
})

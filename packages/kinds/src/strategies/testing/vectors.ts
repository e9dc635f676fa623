/** Runs vectors: decodes, defaults, prepares and validates objects as for a request. */

import { runAtOnce } from '@krmkit/base/work'
import { type ApiObject, createFeatures, type FieldError, fakeClock, seededRandom, stockProfile } from '@krmkit/meta'
import { applyDefaults, decode, normalize } from '@krmkit/schema'
import type { Catalog } from '../../catalog/catalog.ts'
import type { StrategyContext } from '../../interfaces.ts'
import { done, runPreparation } from '../../preparation.ts'
import { runValidation } from '../../validation.ts'
import { loadStructDiff } from '../shared/struct-diff.ts'
import type { Json } from './recorded.ts'

export interface Vector {
  /** The behaviour that the vector shows. */
  readonly name: string
  /** Document and section. */
  readonly source: string
  readonly object: Json
  /** The stored object, for updates. */
  readonly old?: Json
  readonly subresource?: string
  readonly expect: {
    readonly errors: readonly FieldError[]
    readonly warnings?: readonly string[]
    /** Members of the accepted object, compared exactly. */
    readonly object?: Json
  }
}

export interface VectorResult {
  readonly errors: readonly FieldError[]
  readonly warnings: readonly string[]
  readonly object: Json
}

/** Runs a vector. Namespaced objects without a namespace get `ns`. */
export async function runVector(vector: Vector, catalog: Catalog): Promise<VectorResult> {
  const { apiVersion, kind } = vector.object as { apiVersion: string; kind: string }
  const [group, version] = apiVersion.includes('/') ? (apiVersion.split('/') as [string, string]) : ['', apiVersion]
  const definition = catalog.serving({ group, version, kind })
  if (definition === undefined) throw new RangeError(`not served: ${apiVersion} ${kind}`)
  const { strategy } = definition
  const type = definition.kind.type()
  const context: StrategyContext = {
    clock: fakeClock(Date.parse('2024-05-06T07:08:09Z')),
    random: seededRandom(1),
    profile: stockProfile,
    features: createFeatures('1.33'),
  }
  const read = (body: Json): ApiObject => {
    const object = structuredClone(
      applyDefaults(type, decode<Json>(type, body, { keepEmpties: strategy.distinctEmpties }).object),
    ) as unknown as ApiObject
    runPreparation(strategy.defaults?.(object, version, stockProfile))
    if (definition.resource.namespaced) object.metadata.namespace ??= 'ns'
    object.metadata.resourceVersion ??= vector.old === undefined ? '' : '1'
    if (object.metadata.resourceVersion === '') delete object.metadata.resourceVersion
    return object
  }
  const object = read(vector.object)
  const old = vector.old === undefined ? undefined : freeze(read(vector.old))
  await strategy.ready?.(object, old)
  await loadStructDiff()
  const sub = vector.subresource === undefined ? undefined : strategy.subresources?.[vector.subresource]
  if (vector.subresource !== undefined && sub === undefined) throw new RangeError(`no sub-resource ${vector.subresource}`)
  let errors: readonly FieldError[]
  if (old === undefined) {
    runPreparation(strategy.prepareForCreate?.(object, context))
    errors = runValidation(strategy.validate?.(freeze(structuredClone(object)), context))
  } else {
    if (sub === undefined) runPreparation(strategy.prepareForUpdate?.(object, old, context))
    else runPreparation(sub.prepareForUpdate(object, old, context))
    const frozen = freeze(structuredClone(object))
    errors = runValidation((sub ?? strategy).validateUpdate?.(frozen, old, context))
  }
  if (errors.length === 0) runAtOnce(strategy.canonicalize?.(object, context) ?? done)
  const final = freeze(structuredClone(object))
  const warnings =
    (sub === undefined || old === undefined ? strategy.warnings?.(final, old, context) : sub.warnings?.(final, old, context)) ??
    []
  return { errors, warnings, object: normalize(type, object as unknown as Json) as Json }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const member of Object.values(value)) freeze(member)
  }
  return value
}

import type { Work } from '@krmkit/base/work'
import { createCatalog, runPreparation } from '@krmkit/kinds'
import {
  type ApiObject,
  type Features,
  type FieldError,
  fakeClock,
  type JsonObject,
  seededRandom,
  stockProfile,
} from '@krmkit/meta'
import { createFeatureGates } from '@krmkit/versioning'

/** What tests of gates share: writes of objects, and their errors, with some gates. */

export const settled = { profile: stockProfile, random: seededRandom(1) }

export function write(
  kind: string,
  group: string,
  spec: JsonObject,
  options: { set: string; subresource?: string; old?: JsonObject },
) {
  const features = createFeatureGates({ set: options.set })
  const catalog = createCatalog({ features, runtimeConfig: 'api/all=true' })
  const definition = catalog.definitions.find((each) => each.kind.kind === kind && each.group === group)
  if (definition === undefined) throw new Error(`no ${kind}`)
  const { strategy } = definition
  const context = { ...settled, clock: fakeClock(0), features }
  const metadata = { name: 'a', namespace: 'default' }
  const object = structuredClone({ metadata, ...spec }) as unknown as ApiObject
  const old = options.old && (structuredClone({ metadata, ...options.old }) as unknown as ApiObject)
  if (options.subresource !== undefined)
    runPreparation(strategy.subresources?.[options.subresource]?.prepareForUpdate(object, (old ?? object) as never, context))
  else if (old === undefined) runPreparation(strategy.prepareForCreate?.(object, context))
  else runPreparation(strategy.prepareForUpdate?.(object, old as never, context))
  return object as unknown as JsonObject
}

const container = { name: 'c', image: 'i' }
export const pod = (more: JsonObject, inContainer: JsonObject = {}): JsonObject => ({
  spec: { containers: [{ ...container, ...inContainer }], ...more },
})

/** The result of a validation, without its interruptions. */
function stepsToEnd(validation: FieldError[] | Work<FieldError[]>): FieldError[] {
  if (Array.isArray(validation)) return validation
  let step = validation.next()
  while (step.done !== true) step = validation.next()
  return step.value
}

/** The errors of an object, or of a change of `old`. */
export function errorsOf(
  kind: string,
  spec: JsonObject,
  options: { features: Features; subresource?: string; old?: JsonObject },
) {
  const { features, subresource } = options
  const definition = createCatalog({ features }).definitions.find((each) => each.kind.kind === kind)
  if (definition === undefined) throw new Error(`no ${kind}`)
  const context = { ...settled, clock: fakeClock(0), features }
  const metadata = { name: 'a', namespace: 'default', resourceVersion: '1' }
  const object = { metadata, ...spec } as unknown as ApiObject
  const old = options.old && ({ metadata, ...options.old } as unknown as ApiObject)
  const { strategy } = definition
  const found =
    subresource !== undefined
      ? strategy.subresources?.[subresource]?.validateUpdate(object, (old ?? object) as never, context)
      : old === undefined
        ? strategy.validate?.(object, context)
        : strategy.validateUpdate?.(object, old as never, context)
  return stepsToEnd(found ?? []).map(
    ({ field, message }) => `${field}: ${message.replace(/^(?:Required value|Forbidden|Invalid value: "[^"]*"): /, '')}`,
  )
}

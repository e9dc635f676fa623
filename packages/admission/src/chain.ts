import { whenDone } from '@krmkit/base/work'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { withDraft } from './draft.ts'
import type {
  AdmissionAttributes,
  AdmissionContext,
  AdmissionPlugin,
  ReinvocationContext,
  Reservation,
  ValidationResult,
} from './interfaces.ts'
import { PhaseTimer } from './phase-timer.ts'
import { PluginTable } from './plugin-table.ts'
import { traced } from './trace.ts'

/** The plugins of a server, run in the order of the array: the mutating phase first, then the validating phase. */
export interface AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[]
  /** Runs mutating admission. @returns the admitted object; the argument is not changed. */
  admit<T extends ApiObject | undefined>(object: T, attributes: AdmissionAttributes, context: AdmissionContext): Promise<T>
  /** Runs validating admission. @returns the reservations of all plugins as one; the caller rolls it back for a dry run. */
  validate(
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<Reservation | undefined>
}

/**
 * Composes plugins, first to last. The first ApiError that a plugin throws refuses the request. The plugins that handle a target are
 * looked up once and cached; the others cost nothing.
 *
 * @see API protocol specification, 5.10
 * @example
 * ```ts
 * import { createAdmissionChain, ObjectSet } from '@krmkit/admission'
 * import { alwaysPullImages, namespaceLifecycle } from '@krmkit/admission/plugins'
 * import { stockProfile } from '@krmkit/meta'
 *
 * const chain = createAdmissionChain([namespaceLifecycle(stockProfile), alwaysPullImages()])
 * const pods = { kind: { group: '', version: 'v1', kind: 'Pod' }, resource: { group: '', version: 'v1', resource: 'pods' } }
 * const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'shop' }, spec: { containers: [] } }
 * const user = { username: 'jane', groups: [] }
 * const names = { name: 'web', namespace: 'shop', subresource: '' }
 * const attributes = { ...pods, ...names, operation: 'CREATE', user, dryRun: false } as const
 * await chain.admit(object, attributes, { reader: new ObjectSet(), warn: console.warn }) // throws ApiError 404
 * ```
 */
export function createAdmissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const table = new PluginTable(plugins)
  return {
    plugins,
    admit(object, attributes, context) {
      const chosen = table.of(attributes).mutating
      return chosen.length === 0 ? Promise.resolve(object) : admitByAll(chosen, object, attributes, context)
    },
    validate(object, attributes, context) {
      const chosen = table.of(attributes).validating
      return chosen.length === 0 ? nothingReserved : validateByAll(chosen, object, attributes, context)
    },
  }
}

const nothingReserved: Promise<undefined> = Promise.resolve(undefined)

class RequestReinvocation implements ReinvocationContext {
  round = 0
  requested = false
  #values: Map<string, unknown> | undefined

  requestReinvocation(): void {
    this.requested = true
  }

  get values(): Map<string, unknown> {
    this.#values ??= new Map()
    return this.#values
  }
}

async function admitByAll<T extends ApiObject | undefined>(
  plugins: readonly AdmissionPlugin[],
  object: T,
  attributes: AdmissionAttributes,
  outer: AdmissionContext,
): Promise<T> {
  const reinvocation = new RequestReinvocation()
  const context: AdmissionContext = { ...outer, reinvocation }
  const timer = new PhaseTimer(outer.metrics, { type: 'admit', operation: attributes.operation })
  let admitted: ApiObject | undefined = object
  let running = ''
  try {
    for (; reinvocation.round < 2; reinvocation.round++) {
      for (const plugin of plugins) {
        running = plugin.name
        admitted = await admitByOne(plugin, admitted, attributes, context)
        timer.pluginEnded(running, false)
      }
      if (!reinvocation.requested) break
    }
  } catch (error) {
    timer.pluginEnded(running, true)
    timer.phaseEnded(true)
    throw error
  }
  timer.phaseEnded(false)
  return admitted as T
}

type MaybePromise<T> = T | Promise<T>

function admitByOne(
  plugin: AdmissionPlugin,
  object: ApiObject | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): MaybePromise<ApiObject | undefined> {
  if (context.trace !== undefined) {
    return traced(plugin, 'mutating', { object, context, sink: context.trace }, (recording) =>
      checkAndAdmit(plugin, object, attributes, recording),
    )
  }
  return checkAndAdmit(plugin, object, attributes, context)
}

function checkAndAdmit(
  plugin: AdmissionPlugin,
  object: ApiObject | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): MaybePromise<ApiObject | undefined> {
  return whenDone(plugin.check?.(attributes, context, object), () => mutate(plugin, object, attributes, context))
}

function mutate(
  plugin: AdmissionPlugin,
  object: ApiObject | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): MaybePromise<ApiObject | undefined> {
  if (plugin.admit === undefined || object === undefined) return object
  if (plugin.changes === 'whole') return whenDone(plugin.admit(object, attributes, context), (other) => other ?? object)
  if (plugin.changes !== 'members') return withDraft(object, (draft) => plugin.admit?.(draft, attributes, context))
  const copy = { ...object, metadata: { ...object.metadata } }
  return whenDone(plugin.admit(copy, attributes, context), (other) => other ?? originalIfEqual(copy, object))
}

/** Returns the original when the copy has the same members, so that callers detect changes by identity. */
function originalIfEqual(copy: ApiObject, object: ApiObject): ApiObject {
  return sameMembers(copy, object, 'metadata') && sameMembers(copy.metadata, object.metadata ?? {}) ? object : copy
}

function sameMembers(a: object, b: object, except = ''): boolean {
  let count = 0
  for (const name in a) {
    if (name !== except && (a as Record<string, unknown>)[name] !== (b as Record<string, unknown>)[name]) return false
    count++
  }
  for (const _ in b) count--
  return count === 0
}

async function validateByAll(
  plugins: readonly AdmissionPlugin[],
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): Promise<Reservation | undefined> {
  const timer = new PhaseTimer(context.metrics, { type: 'validate', operation: attributes.operation })
  const reservations: Reservation[] = []
  let running = ''
  try {
    for (const plugin of plugins) {
      running = plugin.name
      const reservation = await (context.trace === undefined
        ? plugin.validate?.(object, attributes, context)
        : tracedValidation(plugin, object, attributes, context))
      if (reservation !== undefined) reservations.push(reservation)
      timer.pluginEnded(running, false)
    }
  } catch (error) {
    timer.pluginEnded(running, true)
    timer.phaseEnded(true)
    await finishAll(reservations, 'rollback')
    throw error
  }
  timer.phaseEnded(false)
  if (reservations.length === 0) return undefined
  return { commit: () => finishAll(reservations, 'commit'), rollback: () => finishAll(reservations, 'rollback') }
}

async function tracedValidation(
  plugin: AdmissionPlugin,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): Promise<ValidationResult> {
  let reservation: ValidationResult | undefined
  const step = { object: undefined, context, sink: context.trace ?? (() => undefined) }
  await traced(plugin, 'validating', step, async (recording) => {
    reservation = await plugin.validate?.(object, attributes, recording)
    return undefined
  })
  return reservation as ValidationResult
}

/** Last reserved, first finished. */
async function finishAll(reservations: readonly Reservation[], method: keyof Reservation): Promise<void> {
  for (const reservation of reservations.toReversed()) await reservation[method]()
}

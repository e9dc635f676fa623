import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import { drafted } from './draft.ts'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, Judged, ReinvocationContext, Settle } from './interfaces.ts'
import { PluginTable } from './plugin-table.ts'
import { traced } from './trace.ts'

/** The plugins of a server in execution order: all that mutate, then all that validate. */
export interface AdmissionChain {
  readonly plugins: readonly AdmissionPlugin[]
  /** @returns the object as the plugins want it; the argument is not changed. */
  admit<T extends ApiObject | undefined>(object: T, attributes: AdmissionAttributes, context: AdmissionContext): Promise<T>
  /** @returns what to call when the object was written, or was not; mostly nothing. Dry runs are not written. */
  validate(
    object: DeepReadonly<ApiObject> | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<Settle | undefined>
}

/**
 * Composes plugins, first to last. A refusal is an ApiError thrown by the plugin and ends the request. Which plugins look at a
 * kind of request is worked out once; the others cost nothing.
 *
 * @see API protocol specification, 5.10
 */
export function admissionChain(plugins: readonly AdmissionPlugin[]): AdmissionChain {
  const table = new PluginTable(plugins)
  return {
    plugins,
    async admit(object, attributes, context) {
      const chosen = table.of(attributes).mutating
      return chosen.length === 0 ? object : admitByAll(chosen, object, attributes, context)
    },
    async validate(object, attributes, context) {
      const chosen = table.of(attributes).validating
      return chosen.length === 0 ? undefined : validateByAll(chosen, object, attributes, context)
    },
  }
}

class OneRequest implements ReinvocationContext {
  round = 0
  asked = false
  #memory: Map<string, unknown> | undefined

  again(): void {
    this.asked = true
  }

  get memory(): Map<string, unknown> {
    this.#memory ??= new Map()
    return this.#memory
  }
}

async function admitByAll<T extends ApiObject | undefined>(
  plugins: readonly AdmissionPlugin[],
  object: T,
  attributes: AdmissionAttributes,
  outer: AdmissionContext,
): Promise<T> {
  const rounds = new OneRequest()
  const context: AdmissionContext = { ...outer, reinvocation: rounds }
  let admitted: ApiObject | undefined = object
  for (; rounds.round < 2; rounds.round++) {
    for (const plugin of plugins) {
      const step = admitByOne(plugin, admitted, attributes, context)
      admitted = step instanceof Promise ? await step : step
    }
    if (!rounds.asked) break
  }
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
    return traced(plugin, 'mutating', { object, context, sink: context.trace }, (heard) =>
      changed(plugin, object, attributes, heard),
    )
  }
  return changed(plugin, object, attributes, context)
}

function changed(
  plugin: AdmissionPlugin,
  object: ApiObject | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): MaybePromise<ApiObject | undefined> {
  const checking = plugin.check?.(attributes, context, object)
  if (checking instanceof Promise) return checking.then(() => admittedBy(plugin, object, attributes, context))
  return admittedBy(plugin, object, attributes, context)
}

function admittedBy(
  plugin: AdmissionPlugin,
  object: ApiObject | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): MaybePromise<ApiObject | undefined> {
  if (plugin.admit === undefined || object === undefined) return object
  if (plugin.changes === 'whole') {
    const answer = plugin.admit(object, attributes, context)
    return answer instanceof Promise ? answer.then((other) => other ?? object) : (answer ?? object)
  }
  if (plugin.changes !== 'members') return drafted(object, (draft) => plugin.admit?.(draft, attributes, context))
  const own = { ...object, metadata: { ...object.metadata } }
  const answer = plugin.admit(own, attributes, context)
  if (answer instanceof Promise) return answer.then((other) => other ?? unlessSame(own, object))
  return answer ?? unlessSame(own, object)
}

/** Who changed nothing gives back what it was given: callers see by that whether there is anything to do. */
function unlessSame(own: ApiObject, object: ApiObject): ApiObject {
  return sameMembers(own, object, 'metadata') && sameMembers(own.metadata, object.metadata ?? {}) ? object : own
}

function sameMembers(a: object, b: object, butFor = ''): boolean {
  let count = 0
  for (const name in a) {
    if (name !== butFor && (a as Record<string, unknown>)[name] !== (b as Record<string, unknown>)[name]) return false
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
): Promise<Settle | undefined> {
  const pending: Settle[] = []
  try {
    for (const plugin of plugins) {
      const judging =
        context.trace === undefined
          ? plugin.validate?.(object, attributes, context)
          : tracedJudgement(plugin, object, attributes, context)
      const judged = judging instanceof Promise ? await judging : judging
      if (typeof judged === 'function') pending.push(judged)
    }
  } catch (error) {
    await settleAll(pending, false)
    throw error
  }
  return pending.length === 0 ? undefined : (written) => settleAll(pending, written)
}

async function tracedJudgement(
  plugin: AdmissionPlugin,
  object: DeepReadonly<ApiObject> | undefined,
  attributes: AdmissionAttributes,
  context: AdmissionContext,
): Promise<Judged> {
  let judged: Judged | undefined
  await traced(plugin, 'validating', { object: undefined, context, sink: context.trace ?? (() => undefined) }, async (heard) => {
    judged = await plugin.validate?.(object, attributes, heard)
    return undefined
  })
  return judged as Judged
}

/** Last set aside, first settled. */
async function settleAll(pending: readonly Settle[], written: boolean): Promise<void> {
  for (const settle of pending.toReversed()) await settle(written)
}

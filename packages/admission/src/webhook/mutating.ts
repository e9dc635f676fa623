import { equalValues, jsonPatch, PatchError } from '@krmkit/fieldmanager'
import { ApiError, type ApiObject, type DeepReadonly, type JsonValue } from '@krmkit/meta'
import { DecodeError, parseJson } from '@krmkit/schema'
import type { AdmissionAttributes, AdmissionContext, AdmissionPlugin, ObjectVersion, ReadObject } from '../interfaces.ts'
import type { Verdict } from './answer.ts'
import { type Call, WebhookCaller } from './caller.ts'
import { HookConditions } from './conditions.ts'
import { HookSource } from './hook-source.ts'
import type { Candidate, HookTable } from './hook-table.ts'
import type { WebhookLabels } from './interfaces.ts'
import { mutationNotes } from './notes.ts'
import type { WebhookOptions } from './options.ts'
import { outcomeOf } from './outcome.ts'
import { Selection } from './selection.ts'
import { WebhookError } from './webhook-error.ts'

const pluginName = 'MutatingAdmissionWebhook'

/** What is remembered between the two rounds of a request. */
interface Memory {
  /** What the object looked like when all webhooks had been asked. */
  output: DeepReadonly<ApiObject> | undefined
  /** Webhooks that want to see later changes, asked since the last change. */
  readonly asked: Set<string>
  /** Those that have to be asked again. */
  readonly again: Set<string>
}

/**
 * Asks mutating webhooks one after the other, in the order of the names of their configurations. When one changes the object, all
 * mutating plugins run a second time, and so do webhooks whose policy is `IfNeeded` that were asked before a later change.
 *
 * @see API protocol specification, 2.8, 2.9 and 5.10
 */
export function mutatingWebhooks(options: WebhookOptions): AdmissionPlugin {
  const source = new HookSource('mutatingwebhookconfigurations', options.profile)
  const caller = new WebhookCaller('admit', options)
  const conditions = new HookConditions(options)
  const domain = options.profile.apiDomain

  /** Most requests concern no webhook: then nobody waits for anything. */
  const ask = (
    object: ApiObject | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): ApiObject | undefined | Promise<ApiObject | undefined> => {
    const chosen = (table: HookTable) => {
      const candidates = table.candidates(attributes, context.convertor)
      if (candidates.length === 0) return object
      const selection = new Selection(attributes, context)
      return candidates.some(({ hook }) => selection.picks(hook, object))
        ? askAll(candidates, object, attributes, context)
        : object
    }
    const table = source.table(context)
    return table instanceof Promise ? table.then(chosen) : chosen(table)
  }

  const askAll = async (
    candidates: readonly Candidate[],
    object: ApiObject | undefined,
    attributes: AdmissionAttributes,
    context: AdmissionContext,
  ): Promise<ApiObject | undefined> => {
    const memory = memoryOf(context)
    const round = context.reinvocation?.round ?? 0
    if (round > 0 && !equalValues(memory.output as unknown as JsonValue, object as unknown as JsonValue)) askAgain(memory)
    const selection = new Selection(attributes, context)
    let current = object
    for (const candidate of candidates) {
      const { hook } = candidate
      if (!selection.picks(hook, current)) continue
      const shown = {
        object: current === undefined ? null : await show(current, candidate.form, context),
        oldObject: attributes.oldObject === undefined ? null : await show(attributes.oldObject, candidate.form, context),
      }
      const call = { candidate, shown, attributes, context }
      const labels: WebhookLabels = { name: hook.name, type: 'admit', operation: attributes.operation }
      if (!(await conditions.hold(call, labels))) continue
      // The second round is for webhooks that were asked in the first.
      if (round > 0 && !memory.again.has(hook.uid)) continue
      const notes = mutationNotes(context, { domain, round, candidate })
      const next = await outcomeOf(call, labels, options.clock, {
        failedOpen: notes.failedOpen,
        ask: async () => {
          let changed: ApiObject | undefined
          try {
            const outcome = await caller.call(call)
            if (outcome.kind === 'refused') return outcome
            changed = await patchedObject(call, outcome.verdict, notes.patched)
          } finally {
            notes.called(changed !== undefined)
          }
          return { kind: 'allowed', value: changed }
        },
      })
      if (next !== undefined) {
        current = next
        askAgain(memory)
        context.reinvocation?.again()
      }
      if (hook.reinvocable) memory.asked.add(hook.uid)
    }
    memory.output = current
    return current
  }

  return {
    name: pluginName,
    changes: 'whole',
    handles: (target) => !source.exempts(target),
    // Deletions and connections have no object to be changed, but they are asked about.
    check(attributes, context, object) {
      const asking = object === undefined ? ask(undefined, attributes, context) : undefined
      return asking instanceof Promise ? asking.then(() => undefined) : undefined
    },
    admit(object, attributes, context) {
      return ask(object, attributes, context)
    },
  }
}

function memoryOf({ reinvocation: rounds }: AdmissionContext): Memory {
  const known = rounds?.memory.get(pluginName) as Memory | undefined
  if (known !== undefined) return known
  const memory: Memory = { output: undefined, asked: new Set(), again: new Set() }
  rounds?.memory.set(pluginName, memory)
  return memory
}

function askAgain({ asked, again }: Memory): void {
  for (const uid of asked) again.add(uid)
  asked.clear()
}

export function show(
  object: DeepReadonly<ApiObject>,
  form: ObjectVersion,
  { convertor: forms }: AdmissionContext,
): DeepReadonly<ApiObject> | Promise<DeepReadonly<ApiObject>> {
  return forms === undefined ? object : forms.show(object, form)
}

/**
 * The object as a webhook wants it; undefined when it leaves it as it was.
 *
 * @throws ApiError 500 for a patch that cannot be used; WebhookError for one of a type that we do not know.
 */
async function patchedObject(
  { candidate, shown: { object: shown }, attributes, context }: Call,
  { patch, patchType }: Verdict,
  note: (operations: JsonValue) => void,
): Promise<ApiObject | undefined> {
  const { hook, form } = candidate
  if (patch === undefined) return undefined
  const operations = operationsOf(patch)
  if (operations.length === 0) return undefined
  if (shown === null) {
    throw ApiError.internalError(
      `admission webhook ${JSON.stringify(hook.name)} attempted to modify the object, which is not supported for this operation`,
    )
  }
  if (patchType !== 'JSONPatch') throw new WebhookError('Invalid', `unsupported patch type ${JSON.stringify(patchType)}`, 400)
  const before = shown as unknown as JsonValue
  const { resource, kind } = attributes
  const next = await read(apply(before, operations), { form, request: { resource, kind } }, context)
  note(operations)
  return equalValues(before, next.shown as unknown as JsonValue) ? undefined : next.object
}

function operationsOf(patch: JsonValue | Uint8Array): JsonValue[] {
  let value: JsonValue
  try {
    value = patch instanceof Uint8Array ? (parseJson(patch).value as JsonValue) : patch
  } catch (error) {
    if (error instanceof DecodeError) throw ApiError.internalError(error.message)
    throw error
  }
  if (value === null) return []
  if (Array.isArray(value)) return value
  const kind = typeof value === 'boolean' ? 'bool' : typeof value
  throw ApiError.internalError(`json: cannot unmarshal ${kind} into Go value of type jsonpatch.Patch`)
}

function apply(before: JsonValue, operations: JsonValue[]): JsonValue {
  try {
    return jsonPatch(before, operations)
  } catch (error) {
    if (error instanceof PatchError) throw ApiError.internalError(error.message.replace(/^error decoding patch: /, ''))
    throw error
  }
}

async function read(
  value: JsonValue,
  { form, request }: { readonly form: ObjectVersion; readonly request: ObjectVersion },
  { convertor: forms }: AdmissionContext,
): Promise<ReadObject> {
  checkKind(value, form)
  if (forms === undefined) return { object: value as unknown as ApiObject, shown: value as unknown as ApiObject }
  try {
    return await forms.read(value, form, request)
  } catch (error) {
    if (error instanceof DecodeError) throw ApiError.internalError(error.message)
    throw error
  }
}

/** An object stays of its kind. @throws ApiError 500, without a reason, as the stock server answers */
function checkKind(value: JsonValue, { kind: { group, version, kind } }: ObjectVersion): void {
  const given = (typeof value === 'object' && value !== null ? value : {}) as { kind?: unknown; apiVersion?: unknown }
  const apiVersion = group === '' ? version : `${group}/${version}`
  if ((given.kind ?? kind) === kind && (given.apiVersion ?? apiVersion) === apiVersion) return
  const other = `${String(given.apiVersion ?? apiVersion).replace(/^.*\//, '')}.${String(given.kind ?? kind)}`
  const own = `${group === '' ? 'core' : group.split('.', 1)[0]}.${kind}`
  const message = `converting (${other}) to (${own}): unknown conversion`
  throw new ApiError({ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, code: 500 })
}

/**
 * The sequential model of a store: keys with a value and the revision that stored it, and one revision counter.
 *
 * - A write succeeds exactly when the key has the expected revision, and gets a revision above all revisions written or listed before.
 * - A read returns the last written value of the key. A list returns the values of all keys at a revision that includes every earlier
 * write.
 */
import type { Revision } from '../../interfaces.ts'
import type { OperationInput, StorageOperation } from './operation.ts'

/** The revision of a value whose write was not answered. */
const unknownRevision = -1

export interface ModelValue {
  readonly value: string
  readonly revision: Revision
}

export interface ModelState {
  /** The newest revision known from a write or list. */
  readonly revision: Revision
  readonly values: ReadonlyMap<string, ModelValue>
}

export const initialState: ModelState = { revision: 0, values: new Map() }

/** The state after the operation; undefined when the operation cannot have had its output in this state. */
export function step(state: ModelState, { input, output }: StorageOperation): ModelState | undefined {
  switch (input.type) {
    case 'get': {
      if (output.outcome !== 'read') return undefined
      const current = state.values.get(input.key)
      return current?.value === output.found?.value && hasRevision(current, output.found?.revision) ? state : undefined
    }
    case 'list': {
      if (output.outcome !== 'listed' || output.revision < state.revision) return undefined
      if (output.entries.length !== state.values.size) return undefined
      const isSame = output.entries.every(({ key, value, revision }) => {
        const current = state.values.get(key)
        return current?.value === value && hasRevision(current, revision)
      })
      return isSame ? { revision: output.revision, values: state.values } : undefined
    }
    default:
      return write(state, { input, output })
  }
}

/** Equal for equal states. */
export function keyOf({ revision, values }: ModelState): string {
  const parts = [...values].map(([key, each]) => `${key}=${each.value}@${each.revision}`)
  return `${revision} ${parts.sort().join(' ')}`
}

function write(
  state: ModelState,
  { input, output }: { input: OperationInput & { readonly type: 'put' | 'delete' }; output: StorageOperation['output'] },
): ModelState | undefined {
  const current = state.values.get(input.key)
  const isExpected = input.expect === undefined || input.expect === (current?.revision ?? 0)
  const fits = isExpected && (input.type === 'put' || current !== undefined)
  if (output.outcome === 'conflict') return fits ? undefined : state
  if (output.outcome === 'unknown') return fits ? after(state, input, undefined) : state
  if (output.outcome !== 'written' || !fits || output.revision <= state.revision) return undefined
  return after(state, input, output.revision)
}

function after(
  state: ModelState,
  input: OperationInput & { readonly type: 'put' | 'delete' },
  revision: Revision | undefined,
): ModelState {
  const values = new Map(state.values)
  if (input.type === 'delete') values.delete(input.key)
  else values.set(input.key, { value: input.value, revision: revision ?? unknownRevision })
  return { revision: revision ?? state.revision, values }
}

function hasRevision(current: ModelValue | undefined, revision: Revision | undefined): boolean {
  return current?.revision === unknownRevision || current?.revision === revision
}

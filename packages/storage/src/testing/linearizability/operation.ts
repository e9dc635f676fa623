/** A recorded history: the operations of concurrent clients, with the moments at which each was called and returned. */
import type { Revision } from '../../interfaces.ts'

/** A value and the revision that stored it. Values are unique within a history. */
export interface SeenValue {
  readonly value: string
  readonly revision: Revision
}

export type OperationInput =
  | { readonly type: 'put'; readonly key: string; readonly value: string; readonly expect?: Revision | undefined }
  | { readonly type: 'delete'; readonly key: string; readonly expect?: Revision | undefined }
  | { readonly type: 'get'; readonly key: string }
  | { readonly type: 'list' }

export type OperationOutput =
  | { readonly outcome: 'written'; readonly revision: Revision }
  | { readonly outcome: 'conflict' }
  /** No response: the write took effect at any time after the call, or never. */
  | { readonly outcome: 'unknown' }
  | { readonly outcome: 'read'; readonly found: SeenValue | undefined }
  | {
      readonly outcome: 'listed'
      readonly revision: Revision
      readonly entries: readonly (SeenValue & { readonly key: string })[]
    }

export interface StorageOperation {
  readonly client: number
  /** Position of the call among all calls and returns of the history. */
  readonly called: number
  /** Position of the return; `Infinity` without an answer. */
  readonly returned: number
  readonly input: OperationInput
  readonly output: OperationOutput
}

/** All keys of a history are in this collection, which `list` reads. */
export const historyPrefix = '/history/'

/**
 * The history without unanswered writes whose values were never read. The other unanswered writes get the revision at which their value was
 * read. If the result is linearizable, so is the history, because an unseen write may have taken effect after all other operations.
 */
export function withoutUnseenWrites(history: readonly StorageOperation[]): StorageOperation[] {
  const revisions = revisionsOf(history)
  return withSeenRevisions(history).filter(
    ({ input, output }) => output.outcome !== 'unknown' || input.type !== 'put' || revisions.has(input.value),
  )
}

/** The history in which unanswered writes have the revision at which their value was read, if it was. */
export function withSeenRevisions(history: readonly StorageOperation[]): StorageOperation[] {
  const revisions = revisionsOf(history)
  return history.map((operation) => {
    const { input, output } = operation
    if (output.outcome !== 'unknown' || input.type !== 'put') return operation
    const revision = revisions.get(input.value)
    return revision === undefined ? operation : { ...operation, output: { outcome: 'written', revision } }
  })
}

function revisionsOf(history: readonly StorageOperation[]): Map<string, Revision> {
  const revisions = new Map<string, Revision>()
  for (const { output } of history) {
    const seen = output.outcome === 'read' ? [output.found] : output.outcome === 'listed' ? output.entries : []
    for (const each of seen) if (each !== undefined) revisions.set(each.value, each.revision)
  }
  return revisions
}

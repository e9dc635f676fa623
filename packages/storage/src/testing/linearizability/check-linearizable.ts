/**
 * Decides whether a history is linearizable: whether its operations can be put into an order that the model of a store allows and in which
 * each operation takes effect between its call and its return.
 *
 * The algorithm is that of Wing and Gong ("Testing and Verifying Concurrent Objects", 1993) with the cache of Lowe ("Testing for
 * linearizability", 2017): a depth-first search through the orders that does not visit the same set of operations with the same state
 * twice.
 */
import { type StorageOperation, withoutUnseenWrites, withSeenRevisions } from './operation.ts'
import { initialState, keyOf, type ModelState, step } from './store-model.ts'

export type Linearizability =
  | { readonly isLinearizable: true; readonly order: readonly StorageOperation[] }
  /** `order`: the longest order found. `stuck`: the operations after it, one of which must come next although none can. */
  | { readonly isLinearizable: false; readonly order: readonly StorageOperation[]; readonly stuck: readonly StorageOperation[] }

/**
 * Checks a history of one store.
 *
 * @example
 * import { checkLinearizable } from '@krmkit/storage/testing'
 * const written = { called: 0, returned: 1, client: 0, input: { type: 'put', key: '/history/a', value: '1' } } as const
 * checkLinearizable([{ ...written, output: { outcome: 'written', revision: 2 } }]).isLinearizable // true
 */
export function checkLinearizable(history: readonly StorageOperation[]): Linearizability {
  const likely = search(withoutUnseenWrites(history))
  return likely.isLinearizable ? likely : search(withSeenRevisions(history))
}

/** A call or return in the list of operations that are not ordered yet. */
interface Moment {
  readonly at: number
  readonly operation: StorageOperation
  readonly index: number
  /** The return of a call; undefined for a return. */
  readonly end: Moment | undefined
  previous: Moment | undefined
  next: Moment | undefined
}

interface Choice {
  readonly call: Moment
  readonly before: ModelState
}

function search(history: readonly StorageOperation[]): Linearizability {
  const head = momentsOf(history)
  const chosen: Choice[] = []
  const taken = new Uint8Array(history.length)
  const visited = new Set<string>()
  let state: ModelState = initialState
  let longest: StorageOperation[] = []
  let stuck: StorageOperation[] = []
  let moment = head.next
  const orderOf = () => chosen.map(({ call }) => call.operation)
  while (head.next !== undefined) {
    if (moment?.end !== undefined) {
      const next = step(state, moment.operation)
      if (next !== undefined && enter(visited, taken, moment.index, next)) {
        chosen.push({ call: moment, before: state })
        state = next
        lift(moment)
        moment = head.next
      } else moment = moment.next
      continue
    }
    // The next return belongs to an operation that is not ordered, and all candidates before it have been tried.
    if (chosen.length >= longest.length) {
      longest = orderOf()
      stuck = callsBefore(head, moment)
    }
    const last = chosen.pop()
    if (last === undefined) return { isLinearizable: false, order: longest, stuck }
    state = last.before
    taken[last.call.index] = 0
    unlift(last.call)
    moment = last.call.next
  }
  return { isLinearizable: true, order: orderOf() }
}

/** Marks an operation as ordered. @returns false when the same operations have led to the same state before */
function enter(visited: Set<string>, taken: Uint8Array, index: number, state: ModelState): boolean {
  taken[index] = 1
  const key = `${Buffer.from(taken).toString('latin1')} ${keyOf(state)}`
  if (visited.has(key)) {
    taken[index] = 0
    return false
  }
  visited.add(key)
  return true
}

/** Links the calls and returns in order. @returns a sentinel before the first */
function momentsOf(history: readonly StorageOperation[]): Moment {
  const moments: Moment[] = []
  history.forEach((operation, index) => {
    const end: Moment = { at: operation.returned, operation, index, end: undefined, previous: undefined, next: undefined }
    moments.push({ ...end, at: operation.called, end }, end)
  })
  // At equal times, calls come before returns, because the operations overlap.
  moments.sort((a, b) => (a.at === b.at ? Number(a.end === undefined) - Number(b.end === undefined) : a.at - b.at))
  const first = history[0]
  const head: Moment = { at: -1, operation: first!, index: -1, end: undefined, previous: undefined, next: undefined }
  let last = head
  for (const moment of moments) {
    last.next = moment
    moment.previous = last
    last = moment
  }
  return head
}

/** Removes a call and its return from the list. */
function lift(call: Moment): void {
  for (const moment of [call, call.end!]) {
    moment.previous!.next = moment.next
    if (moment.next !== undefined) moment.next.previous = moment.previous
  }
}

/** Reinserts a call and its return into the list. */
function unlift(call: Moment): void {
  for (const moment of [call.end!, call]) {
    moment.previous!.next = moment
    if (moment.next !== undefined) moment.next.previous = moment
  }
}

function callsBefore(head: Moment, end: Moment | undefined): StorageOperation[] {
  const calls: StorageOperation[] = []
  for (let moment = head.next; moment !== undefined && moment !== end; moment = moment.next) calls.push(moment.operation)
  return calls
}

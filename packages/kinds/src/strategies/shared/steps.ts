import { sortKeysSteps } from '@krmkit/schema/json'

/** Work of a strategy with interruption points, so that a large object is validated in slices. */
export type Steps<T = void> = Generator<unknown, T>

/** Items of a list that are validated in one step. */
const itemsPerStep = 16

/** Calls `each` for every item, with interruption points in long lists. */
export function* forEachStep<T>(items: readonly T[] | null | undefined, each: (item: T, index: number) => void): Steps {
  if (items === undefined || items === null) return
  for (let i = 0; i < items.length; i++) {
    each(items[i] as T, i)
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
}

/** Calls `each` for every member of a map of texts, sorted by key as the stock server reports errors, with interruption points. */
export function* forEachKeyStep(
  map: Readonly<Record<string, string>> | null | undefined,
  each: (key: string, value: string) => void,
): Steps {
  if (map === undefined || map === null) return
  const keys = yield* sortedKeysSteps(map)
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string
    each(key, map[key] ?? '')
    if (i % itemsPerStep === itemsPerStep - 1) yield
  }
}

/** The keys of a map in the order in which the stock server reports errors, with interruption points. */
export function* sortedKeysSteps(map: object): Steps<string[]> {
  const keys = Object.keys(map)
  if (keys.length <= itemsPerStep) return keys.sort()
  yield true
  return yield* sortKeysSteps(keys)
}

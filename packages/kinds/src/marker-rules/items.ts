/** Items of lists, found by the members that identify them. */

type Struct = Readonly<Record<string, unknown>>

/** The identity of an item as a text. @param keys members that identify it; none: its value does */
export function itemKeys(keys: readonly string[]): (item: unknown) => string {
  if (keys.length === 0) return (item) => (typeof item === 'string' ? item : text(item))
  return (item) => text(keys.map((key) => (item as Struct | null | undefined)?.[key] ?? null))
}

function text(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) => (typeof each === 'bigint' ? String(each) : each))
}

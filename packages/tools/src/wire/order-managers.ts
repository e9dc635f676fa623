/**
 * Preload of a replay: orders the managedFields of every JSON value that is parsed, recorded or answered, by manager. The order on the wire
 * follows times in whole seconds, so that it tells in which second a step arrived.
 */
const parse = JSON.parse
JSON.parse = (text: string, reviver?: Parameters<typeof parse>[1]) => {
  const value: unknown = parse(text, reviver)
  order(value)
  return value
}

function order(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (key === 'managedFields' && Array.isArray(member)) member.sort((a, b) => orderOf(a).localeCompare(orderOf(b)))
    order(member)
  }
}

function orderOf(entry: Readonly<Record<string, unknown>>): string {
  return JSON.stringify([entry.operation, entry.manager, entry.subresource, entry.apiVersion])
}

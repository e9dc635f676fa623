// Preload of a replay: orders the managedFields of every JSON value that is parsed, recorded or answered, by manager. The order on the wire
// follows times in whole seconds, so that it tells in which second a step arrived.
const parse = JSON.parse
JSON.parse = (text, reviver) => ordered(parse(text, reviver))

function ordered(value) {
  if (typeof value !== 'object' || value === null) return value
  for (const [key, member] of Object.entries(value)) {
    if (key === 'managedFields' && Array.isArray(member)) member.sort((a, b) => orderOf(a).localeCompare(orderOf(b)))
    ordered(member)
  }
  return value
}

function orderOf({ operation, manager, subresource, apiVersion }) {
  return JSON.stringify([operation, manager, subresource, apiVersion])
}

/** Compares objects of a typed client with their wire form. */

/** Members whose names are reserved in the client's language start with `_`. */
export function wireForm(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(wireForm)
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => (member === undefined ? [] : [[name.replace(/^_/, ''), wireForm(member)]])),
  )
}

/** The paths of members of `wanted` that are missing or different in `got`. Times are compared by value. */
export function lost(wanted: unknown, got: unknown, path = ''): string[] {
  if (Array.isArray(wanted)) {
    if (!Array.isArray(got) || got.length !== wanted.length) return [path]
    return wanted.flatMap((item, i) => lost(item, got[i], `${path}[${i}]`))
  }
  if (typeof wanted === 'object' && wanted !== null) {
    if (typeof got !== 'object' || got === null) return Object.keys(wanted).length === 0 ? [] : [path]
    return Object.entries(wanted).flatMap(([name, member]) =>
      lost(member, (got as Record<string, unknown>)[name], `${path}.${name}`),
    )
  }
  // Types omit unset members that the wire format prints.
  if (wanted === null && got === undefined) return []
  return wanted === got || sameTime(wanted, got) ? [] : [path]
}

function sameTime(a: unknown, b: unknown): boolean {
  const time = /^\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)$/
  return typeof a === 'string' && typeof b === 'string' && time.test(a) && time.test(b) && Date.parse(a) === Date.parse(b)
}

/** Markers of declarative validation, read from the facts of a release. */
import type { Markers } from '../../release-facts/facts.ts'

/** A marker such as `+k8s:beta(since: "1.37")=+k8s:maxItems=8`, which is the marker `maxItems` of the level beta. */
export interface Marker {
  readonly name: string
  /** Arguments without a name have an empty one. */
  readonly args: readonly { readonly name: string; readonly value: string }[]
  readonly value: string
  /** The marker that this one applies to each item, under a gate, or to a member. */
  readonly inner?: Marker
  readonly level: Level
}

/** How far a rule has come: rules of the level alpha change no response, those of beta are enforced while DeclarativeValidationBeta is on. */
export type Level = '' | 'alpha' | 'beta'

/** The markers of a field or type in the order in which rules are made of them: by name, those of one name as they were written. */
export function markersOf(markers: Markers = {}): Marker[] {
  const entries = Object.entries(markers).filter(([name]) => name.startsWith('k8s:'))
  const named = entries.map(([name, values]) => ({ name: /^k8s:\w+/.exec(name)![0], full: name, values: [values].flat() }))
  const sorted = named.sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
  return sorted.flatMap(({ full, values }) =>
    values.map((value) => unwrapped(parseMarker(value === '' ? full : `${full}=${value}`))),
  )
}

/** A marker of a level is that of its payload. */
function unwrapped(marker: Marker): Marker {
  const { name, inner } = marker
  return (name === 'alpha' || name === 'beta') && inner !== undefined ? { ...inner, level: name } : marker
}

function parseMarker(text: string): Marker {
  const [, name = ''] = /^\+?k8s:(\w+)/.exec(text) ?? []
  if (name === '') throw new Error(`${text} is no marker`)
  let rest = text.slice(text.indexOf(name) + name.length)
  const end = rest.startsWith('(') ? closingAt(rest) : 0
  const args = end === 0 ? [] : argumentsOf(rest.slice(1, end - 1))
  rest = rest.slice(end)
  const payload = rest.startsWith('=') ? rest.slice(1) : ''
  if (payload.startsWith('+')) return { name, args, value: '', inner: parseMarker(payload), level: '' }
  return { name, args, value: unquoted(payload.replace(/ #.*$/, '')), level: '' }
}

/** The place behind the parenthesis that closes the one at the start. */
function closingAt(text: string): number {
  let isQuoted = false
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '"') isQuoted = !isQuoted
    else if (text[i] === ')' && !isQuoted) return i + 1
  }
  throw new Error(`${text} has no closing parenthesis`)
}

function argumentsOf(text: string): Marker['args'] {
  return text.split(',').map((each) => {
    const colon = each.indexOf(':')
    return { name: each.slice(0, Math.max(colon, 0)).trim(), value: unquoted(each.slice(colon + 1).trim()) }
  })
}

const unquoted = (text: string) => /^"(.*)"$/.exec(text)?.[1] ?? text

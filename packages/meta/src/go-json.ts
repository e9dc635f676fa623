/** Values in messages as JSON, as kube-apiserver prints them from 1.34 on. */

import { compareCodePoints, GoText, joinFormatted, maxPrintedLength, truncateGoText } from './go-text.ts'

const escaped = /[<>&\u2028\u2029]/g

/**
 * Prints text as Go's `encoding/json` does, which escapes `<`, `>` and `&`.
 *
 * @example
 * import { goJsonText } from '@krmkit/meta/go-json'
 * goJsonText('a<b') // '"a\\u003cb"'
 */
export function goJsonText(text: string): string {
  return JSON.stringify(text).replace(escaped, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/**
 * Prints a JSON value as Go's `encoding/json` does: without spaces, maps sorted by key. Values in Go syntax are converted.
 *
 * @example
 * import { goJson } from '@krmkit/meta/go-json'
 * goJson({ b: [1, null], a: 'x' }) // '{"a":"x","b":[1,null]}'
 */
export function goJson(value: unknown): string {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'string') return goJsonText(value)
  if (typeof value !== 'object') return String(value)
  if (value instanceof GoText) return value.json ?? goSyntaxToJson(value.text)
  if (Array.isArray(value)) return `[${joinShort(value, goJson)}]`
  const prototype = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype) return goJsonText(String(value))
  const members = value as Record<string, unknown>
  return `{${joinShort(Object.keys(members).sort(compareCodePoints), (key) => `${goJsonText(key)}:${goJson(members[key])}`)}}`
}

function joinShort<T>(items: Iterable<T>, print: (item: T) => string): string {
  return joinFormatted(items, print, ',')
}

/**
 * Converts a value in Go syntax (`%#v`) to the JSON that Go encodes the value as. Text in another form is what a value's own method
 * printed: times become timestamps, the rest a JSON string.
 *
 * @example
 * import { goSyntaxToJson } from '@krmkit/meta/go-json'
 * goSyntaxToJson('map[string]string{"a":"b"}') // '{"a":"b"}'
 * goSyntaxToJson('rbac.RoleRef{APIGroup:"", Kind:"Role", Name:"r"}') // '{"APIGroup":"","Kind":"Role","Name":"r"}'
 * goSyntaxToJson('[]string(nil)') // 'null'
 */
export function goSyntaxToJson(text: string): string {
  if (text.length > maxConvertedLength) return goJsonText(truncateGoText(text))
  const reader = new SyntaxReader(text)
  const json = reader.value()
  if (json !== undefined && reader.atEnd) return json
  const time = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?) \+0000 UTC$/.exec(text)
  if (time !== null) return time[1] === '0001-01-01' ? 'null' : `"${time[1]}T${time[2]}Z"`
  return goJsonText(text)
}

/** Longer texts are not converted: messages show their beginning only. */
const maxConvertedLength = 16 * maxPrintedLength

const quoted = /"(?:[^"\\]|\\.)*"/y
const nil = /<nil>|nil\b|(?:interface \{\}|\(?\*?(?:\[\]|map\[[^\]]*\])*\*?[\w.]+\)?)\(nil\)/y
const address = /\(\*[^)]*\)\(0x[0-9a-f]+\)/y
const number = /-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]\d+)?)(?![\w:.-])/y
const flag = /(?:true|false)(?!\w)/y
const opening = /&?((?:\[\]|\*|map\[[^\]]*\])*(?:interface \{\}|[A-Za-z_][\w.]*))\{/y
const fieldName = /(\w+):/y

/** Members of a struct as JSON, by Go name. */
type Members = [name: string, json: string][]

/** Reads one value in Go syntax; every method returns undefined for text in another form. */
class SyntaxReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  get atEnd(): boolean {
    return this.#at === this.#text.length
  }

  value(): string | undefined {
    const text = this.#take(quoted)?.[0]
    if (text !== undefined) return goJsonText(unquote(text))
    if (this.#take(nil) !== undefined) return 'null'
    // What is behind an address is not in the text.
    if (this.#take(address) !== undefined) return '{}'
    const plain = this.#take(number)?.[0] ?? this.#take(flag)?.[0]
    if (plain !== undefined) return plain.startsWith('0x') ? String(BigInt(plain)) : plain
    const type = this.#take(opening)?.[1]
    if (type === undefined) return undefined
    if (type === '[]byte' || type === '[]uint8') return this.#bytes()
    if (type.startsWith('[]')) return this.#list()
    if (type.startsWith('map[') || type.endsWith('List')) return this.#map()
    return this.#struct(type)
  }

  #list(): string | undefined {
    const items: string[] = []
    return this.#items(() => this.#collect(items)) ? `[${items.join(',')}]` : undefined
  }

  #bytes(): string | undefined {
    const items: string[] = []
    if (!this.#items(() => this.#collect(items))) return undefined
    return `"${btoa(items.map((item) => String.fromCharCode(Number(item))).join(''))}"`
  }

  #map(): string | undefined {
    const entries: string[] = []
    const read = () => {
      const key = this.value()
      if (key === undefined || this.#take(/:/y) === undefined) return false
      const value = this.value()
      if (value !== undefined) entries.push(`${key.startsWith('"') ? key : `"${key}"`}:${value}`)
      return value !== undefined
    }
    return this.#items(read) ? `{${entries.join(',')}}` : undefined
  }

  #struct(type: string): string | undefined {
    const members: Members = []
    const read = () => {
      const name = this.#take(fieldName)?.[1]
      const json = name === undefined ? undefined : this.value()
      if (name !== undefined && json !== undefined) members.push([name, json])
      return json !== undefined
    }
    return this.#items(read) ? structJson(type, members) : undefined
  }

  /** Reads items up to the closing brace. */
  #items(read: () => boolean): boolean {
    if (this.#take(/\}/y) !== undefined) return true
    do {
      if (!read()) return false
    } while (this.#take(/, /y) !== undefined)
    return this.#take(/\}/y) !== undefined
  }

  #collect(items: string[]): boolean {
    const item = this.value()
    if (item !== undefined) items.push(item)
    return item !== undefined
  }

  #take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) return undefined
    this.#at = pattern.lastIndex
    return match
  }
}

/** Fields that nothing outside their package sees have no JSON. */
const unexported = /^[a-z]/

function structJson(type: string, members: Members): string {
  const value = new Map(members)
  if (type === 'runtime.RawExtension') return rawJson(value.get('Raw'))
  if (type === 'resource.Quantity') return value.get('s') ?? '"0"'
  if (type === 'intstr.IntOrString') return (value.get('Type') === '0' ? value.get('IntVal') : value.get('StrVal')) ?? '0'
  const visible = members.filter(([name]) => !unexported.test(name))
  const tagged = type.startsWith('v1.')
    ? visible.filter(([name, json]) => !isOmitted(name, json)).map(([name, json]) => [jsonName(name), json] as const)
    : visible
  return `{${tagged.map(([name, json]) => `"${name}":${json}`).join(',')}}`
}

/** JSON that is kept as bytes, which are in `base64` here. */
function rawJson(base64: string | undefined): string {
  if (base64 === undefined || base64 === 'null') return 'null'
  return new TextDecoder().decode(Uint8Array.from(atob(JSON.parse(base64) as string), (char) => char.charCodeAt(0)))
}

/** Types of the API's own packages have JSON names, and leave out what is empty. */
function isOmitted(name: string, json: string): boolean {
  return json === 'null' || json === '[]' || json === '{}' || (name === 'ObservedGeneration' && json === '0')
}

/** `APIVersion` is `apiVersion`, `MatchLabels` is `matchLabels`. */
function jsonName(name: string): string {
  return name.replace(/^[A-Z]+(?=[A-Z][a-z]|$)|^[A-Z]/, (start) => start.toLowerCase())
}

const escapes: Readonly<Record<string, string>> = { a: '\x07', b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' }

/** The text of a literal of Go. */
function unquote(literal: string): string {
  return literal
    .slice(1, -1)
    .replace(/\\(?:x([0-9a-f]{2})|u([0-9a-f]{4})|U([0-9a-f]{8})|(.))/gs, (_, x?: string, u?: string, big?: string, char = '') => {
      const code = x ?? u ?? big
      return code === undefined ? (escapes[char] ?? char) : String.fromCodePoint(Number.parseInt(code, 16))
    })
}

import { type DeepReadonly, isJsonObject, type JsonObject, type JsonValue } from '@krmkit/meta'

/** JSON paths of printer columns: `.spec.replicas`, `.status.conditions[?(@.type=="Ready")].status`, `.spec['a.b']`, `..name`. */

/** Returns the values at a path, in document order. */
export type JsonPath = (object: DeepReadonly<object>) => readonly JsonValue[]

type Step = (values: readonly JsonValue[]) => readonly JsonValue[]

const maxLength = 4096

/**
 * Compiles a path.
 *
 * @returns undefined for a malformed path.
 */
export function jsonPath(text: string): JsonPath | undefined {
  const steps = text.length > maxLength ? undefined : new Reader(text).steps()
  if (steps === undefined) return undefined
  return (object) => {
    let values: readonly JsonValue[] = [object as JsonObject]
    for (const step of steps) {
      if (values.length === 0) break
      values = step(values)
    }
    return values
  }
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  steps(): Step[] | undefined {
    const steps: Step[] = []
    while (this.#at < this.#text.length) {
      const step = this.#step()
      if (step === undefined) return undefined
      if (step !== 'self') steps.push(step)
    }
    return steps
  }

  #step(): Step | 'self' | undefined {
    const text = this.#text
    if (text.startsWith('..', this.#at)) {
      this.#at += 2
      const name = this.#name()
      return name === undefined ? undefined : (values) => values.flatMap((value) => everywhere(value, name, 0))
    }
    if (text[this.#at] === '.') {
      this.#at++
      if (this.#at === text.length || text[this.#at] === '[') return 'self'
      const name = this.#name()
      return name === undefined ? undefined : members(name)
    }
    if (text[this.#at] === '[') return this.#brackets()
    // The first name may omit the dot.
    const name = this.#at === 0 ? this.#name() : undefined
    return name === undefined ? undefined : members(name)
  }

  #name(): string | undefined {
    let name = ''
    for (; this.#at < this.#text.length; this.#at++) {
      const char = this.#text[this.#at] as string
      if (char === '.' || char === '[') break
      if (char === '\\' && this.#at + 1 < this.#text.length) {
        this.#at++
        name += this.#text[this.#at]
      } else if (/[\s{}()'"]/.test(char)) return undefined
      else name += char
    }
    return name === '' ? undefined : name
  }

  #brackets(): Step | undefined {
    const end = this.#closing()
    if (end < 0) return undefined
    const inside = this.#text.slice(this.#at + 1, end).trim()
    this.#at = end + 1
    if (inside.startsWith('?(') && inside.endsWith(')')) return filter(inside.slice(2, -1).trim())
    const parts = inside.split(',').map((part) => element(part.trim()))
    if (parts.some((part) => part === undefined)) return undefined
    return (values) => values.flatMap((value) => parts.flatMap((part) => (part as Element)(value)))
  }

  /** Index of the bracket that closes the current one; brackets in quotes do not count. */
  #closing(): number {
    let quote = ''
    let depth = 0
    for (let i = this.#at; i < this.#text.length; i++) {
      const char = this.#text[i] as string
      if (quote !== '') {
        if (char === '\\') i++
        else if (char === quote) quote = ''
      } else if (char === '"' || char === "'") quote = char
      else if (char === '[') depth++
      else if (char === ']' && --depth === 0) return i
    }
    return -1
  }
}

type Element = (value: JsonValue) => readonly JsonValue[]

/** Parses what stands in brackets: `0`, `-1`, `1:3`, `*`, `'name'`. */
function element(text: string): Element | undefined {
  if (text === '*') return children
  const quoted = unquoted(text)
  if (quoted !== undefined) return (value) => memberOf(value, quoted)
  const slice = /^(-?\d+)?(?::(-?\d+)?(?::(\d+))?)?$/.exec(text)
  if (slice === null || text === '') return /^[\w-]+$/.test(text) ? (value) => memberOf(value, text) : undefined
  const whole = !text.includes(':')
  return (value) => {
    if (!Array.isArray(value)) return []
    const place = (given: string | undefined, otherwise: number) =>
      given === undefined ? otherwise : Number(given) < 0 ? value.length + Number(given) : Number(given)
    const from = place(slice[1], 0)
    if (whole) return value[from] === undefined ? [] : [value[from] as JsonValue]
    const step = slice[3] === undefined || slice[3] === '0' ? 1 : Number(slice[3])
    return value.slice(Math.max(0, from), Math.max(0, place(slice[2], value.length))).filter((_, index) => index % step === 0)
  }
}

function unquoted(text: string): string | undefined {
  const found = /^'((?:[^'\\]|\\.)*)'$/s.exec(text) ?? /^"((?:[^"\\]|\\.)*)"$/s.exec(text)
  return found === null ? undefined : (found[1] as string).replace(/\\(.)/gs, '$1')
}

const comparison = /^@(.*?)\s*(?:(==|!=|>=|<=|>|<)\s*(.+))?$/s

/** Parses a filter: `@.type=="Ready"`, `@.count>2`, `@.name`. */
function filter(text: string): Step | undefined {
  const found = comparison.exec(text)
  if (found === null) return undefined
  const [, left = '', operator, right] = found
  const path = jsonPath(left.trim())
  if (path === undefined) return undefined
  const wanted = right === undefined ? undefined : operand(right.trim())
  if (right !== undefined && wanted === undefined) return undefined
  const holds = (item: JsonValue): boolean => {
    const [value] = path(item as JsonObject)
    if (value === undefined) return false
    return wanted === undefined || compare(value, operator as string, wanted(item))
  }
  return (values) => values.flatMap((value) => (Array.isArray(value) ? value.filter(holds) : []))
}

type Operand = (item: JsonValue) => JsonValue | undefined

function operand(text: string): Operand | undefined {
  const quoted = unquoted(text)
  if (quoted !== undefined) return () => quoted
  if (text === 'true' || text === 'false') return () => text === 'true'
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return () => Number(text)
  const path = text.startsWith('@') ? jsonPath(text.slice(1)) : undefined
  return path === undefined ? undefined : (item) => path(item as JsonObject)[0]
}

function compare(a: JsonValue, operator: string, b: JsonValue | undefined): boolean {
  if (operator === '==') return a === b
  if (operator === '!=') return a !== b
  if (typeof a !== typeof b || (typeof a !== 'number' && typeof a !== 'string')) return false
  const [left, right] = [a, b as number | string]
  if (operator === '>') return left > right
  if (operator === '<') return left < right
  return operator === '>=' ? left >= right : left <= right
}

function members(name: string): Step {
  return (values) => values.flatMap((value) => (name === '*' ? children(value) : memberOf(value, name)))
}

function children(value: JsonValue): readonly JsonValue[] {
  if (Array.isArray(value)) return value
  return typeof value === 'object' && value !== null ? Object.values(value) : []
}

function memberOf(value: JsonValue, name: string): readonly JsonValue[] {
  if (!isJsonObject(value) || !Object.hasOwn(value, name)) return []
  return [value[name] as JsonValue]
}

const maxDepth = 200

/** Members named `name` at any depth. */
function everywhere(value: JsonValue, name: string, depth: number): JsonValue[] {
  if (depth > maxDepth) return []
  const inner = children(value).flatMap((child) => everywhere(child, name, depth + 1))
  return [...(name === '*' ? children(value) : memberOf(value, name)), ...inner]
}

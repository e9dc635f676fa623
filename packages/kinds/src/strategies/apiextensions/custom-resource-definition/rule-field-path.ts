import type { JsonObject } from '@krmkit/meta'
import type { Schema } from './schema.ts'

/** Resolves paths into a schema: `.spec.replicas`, `.spec['odd name']`. */

/** The schema at a path. */
export interface FoundField {
  /** The path in canonical form; keys of maps are in brackets. */
  readonly text: string
  readonly root: string
  readonly schema: Schema
}

/** Why a path cannot be resolved, in the text of kube-apiserver. */
export interface PathProblem {
  readonly problem: string
}

const nowhere = { problem: 'does not refer to a valid field' }
const ended = { problem: 'unexpected end of JSON path' }

/** Resolves a path of members and, if `brackets` is set, of names in brackets. */
export function fieldAt(path: string, schema: Schema, { brackets }: { readonly brackets: boolean }): FoundField | PathProblem {
  const tokens = new Tokens(path)
  let at = schema
  let text = ''
  let root = ''
  for (let token = tokens.next(); token !== undefined; token = tokens.next()) {
    let name: string
    if (token === '.') {
      const next = tokens.next()
      if (next === undefined) return ended
      name = next
    } else if (token === '[') {
      if (!brackets) return { problem: 'array notation is not allowed' }
      const quoted = tokens.next()
      if (quoted === undefined) return ended
      if (!/^'.*'$/s.test(quoted) || quoted.length < 2) return { problem: `expected single quoted string but got ${quoted}` }
      const plain = unescaped(quoted.slice(1, -1))
      if (typeof plain !== 'string') return plain
      name = plain
    } else return { problem: `expected [ or . but got: ${token}` }
    const step = stepInto(at, name)
    if (step === undefined) return nowhere
    text += step.named ? `${text === '' ? '' : '.'}${name}` : `[${name}]`
    if (root === '') root = name
    at = step.schema
    if (token !== '[') continue
    const closing = tokens.next()
    if (closing === undefined) return ended
    if (closing !== ']') return { problem: `expected ] but got ${closing}` }
  }
  return { text, root, schema: at }
}

/** The path of a rule's `fieldPath`, as printed in messages. */
export function ruleFieldPath(path: string, schema: JsonObject): string | undefined {
  const found = fieldAt(path, schema as Schema, { brackets: true })
  return 'problem' in found ? undefined : found.text
}

function stepInto(at: Schema, name: string): { readonly named: boolean; readonly schema: Schema } | undefined {
  const { properties, additionalProperties: rest } = at
  if (properties !== undefined && Object.keys(properties).length > 0) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : undefined
    return schema === undefined ? undefined : { named: true, schema }
  }
  return typeof rest === 'object' && rest !== null ? { named: false, schema: rest } : undefined
}

/** Tokens of a path: `.`, `[`, `]`, single-quoted strings, and names. A quote after a backslash never ends a string. */
class Tokens {
  readonly #path: string
  readonly #pattern = /[.[\]]|'(?:[^'\\]|\\'?)*'?|[^.[\]]+/sy

  constructor(path: string) {
    this.#path = path
  }

  /** `undefined` at the end. */
  next(): string | undefined {
    return this.#pattern.exec(this.#path)?.[0]
  }
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  "'": "'",
  '\\': '\\',
}

function unescaped(text: string): string | PathProblem {
  let wrong: string | undefined
  const plain = text.replace(/\\(.)/g, (whole, char: string) => {
    const found = Object.hasOwn(escapes, char) ? escapes[char] : undefined
    if (found === undefined) wrong = whole
    return found ?? ''
  })
  return wrong === undefined ? plain : { problem: `invalid string literal: invalid escape char ${wrong}` }
}

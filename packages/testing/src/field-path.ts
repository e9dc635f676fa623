import { isJsonObject } from '@krmkit/meta'
import { TestingError } from './testing-error.ts'

/** A step of a path: a member, a position in a list, or the item of a list with these members. */
export type PathStep = string | number | Readonly<Record<string, unknown>>

const token =
  /\.?(?<name>[A-Za-z_$][\w$-]*)|\[(?<index>\d+)\]|\[(?<quoted>"(?:[^"\\]|\\.)*")\]|\[(?<keys>[\w.-]+=(?:"(?:[^"\\]|\\.)*"|[^\]"])*)\]/y
const pair = /([\w.-]+)=("(?:[^"\\]|\\.)*"|[^,]*),?/g

/**
 * Parses a path: `.spec.replicas`, `.metadata.labels["app.kubernetes.io/name"]`, `.spec.containers[0].image`,
 * `.spec.containers[name="web"].image`, or a JSON pointer, `/spec/replicas`.
 *
 * @throws TestingError `InvalidPath`
 */
export function parseFieldPath(text: string): PathStep[] {
  if (text.startsWith('/')) {
    return text
      .slice(1)
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  }
  const steps: PathStep[] = []
  let at = 0
  while (at < text.length) {
    token.lastIndex = at
    const groups = token.exec(text)?.groups
    if (groups === undefined) {
      const hint = 'examples: .spec.replicas, .spec.containers[name="web"].image, .metadata.labels["app.kubernetes.io/name"]'
      throw new TestingError({ code: 'InvalidPath', message: `invalid path ${JSON.stringify(text)} at position ${at}; ${hint}` })
    }
    steps.push(stepOf(groups))
    at = token.lastIndex
  }
  return steps
}

function stepOf({ name, index, quoted, keys = '' }: Record<string, string | undefined>): PathStep {
  if (name !== undefined) return name
  if (index !== undefined) return Number(index)
  if (quoted !== undefined) return JSON.parse(quoted) as string
  return Object.fromEntries([...keys.matchAll(pair)].map(([, key = '', value = '']) => [key, literal(value)]))
}

/** Parses a literal: `80` is a number, `"80"` and `web` are strings. */
function literal(text: string): unknown {
  if (text.startsWith('"') || /^(-?\d+|true|false)$/.test(text)) return JSON.parse(text)
  return text
}

/** A value, and the JSON pointer to it. */
export interface Located {
  /** `undefined` if the object has no such value. */
  readonly value: unknown
  readonly pointer: string
}

/** Finds the value at a path. */
export function locate(object: unknown, path: readonly PathStep[]): Located {
  let value = object
  let pointer = ''
  for (const step of path) {
    const key = keyOf(value, step)
    value = memberOf(value, key)
    pointer += `/${String(key).replaceAll('~', '~0').replaceAll('/', '~1')}`
  }
  return { value, pointer }
}

function keyOf(value: unknown, step: PathStep): string | number {
  if (typeof step === 'string') return step
  if (typeof step === 'number') return step
  return Array.isArray(value) ? value.findIndex((item) => hasMembers(item, step)) : -1
}

function memberOf(value: unknown, key: string | number): unknown {
  if (Array.isArray(value)) return value[Number(key)] as unknown
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined
}

function hasMembers(item: unknown, members: Readonly<Record<string, unknown>>): boolean {
  return isJsonObject(item) && Object.entries(members).every(([name, value]) => item[name] === value)
}

/** Whether a change at one JSON pointer changes the value at the other. */
export function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`) || a === ''
}

/**
 * Whether a request body sets the value at a path, or one that contains it. List indexes are ignored, because those of a
 * patch differ from those of the object.
 */
export function mentions(body: unknown, path: readonly PathStep[]): boolean {
  const [step, ...rest] = path
  if (step === undefined || !(Array.isArray(body) || isJsonObject(body))) return true
  if (typeof step === 'string' && isJsonObject(body)) return Object.hasOwn(body, step) && mentions(body[step], rest)
  if (!Array.isArray(body)) return false
  return typeof step === 'object'
    ? body.some((item) => hasMembers(item, step) && mentions(item, rest))
    : body.some((item) => mentions(item, rest))
}

/**
 * Rules of validation markers as compact text. `packages/tools/src/generate-types/marker-rules` writes it:
 *
 *     37- /v1
 *     PriorityLevelConfigurationSpec =mode(type,exempt*,:%forbidden,Exempt:%optional) type=%required limited*>LimitedPriorityLevelConfiguration
 *     EndpointSlice;/ addressType=%required;%immutable>AddressType endpoints[]>Endpoint
 *     AddressType =%enum(FQDN,IPv4,IPv6)
 *
 * | text | meaning |
 * |---|---|
 * | `37-` | since 1.37; before a version, a type (with a space) or a part of it (with a tilde) |
 * | `;/,/status` | a kind, and the requests that its rules apply to |
 * | `=union(a*,b)` | calls of the type itself |
 * | `name*` | a field that is a pointer |
 * | `[name,type]` | a list whose items are found by members; `[.]` by their value, `[]` not at all; `{}` a map |
 * | `=%required;format(k8s-uuid)` | calls in order; the first ones, which end the field, stand before the others |
 * | `\|%sub(name:optional)` | calls of another group, which ends alone |
 * | `%`, `?` | rules of the level beta, and alpha; those of alpha only end the field |
 * | `>core/v1.PodSpec` | the type of the value, item or member, if it has rules |
 *
 * An inline field has no name.
 */

/** How far a rule has come. */
export type RuleLevel = '' | 'alpha' | 'beta'

export interface Call {
  readonly name: string
  readonly level: RuleLevel
  readonly args: readonly string[]
  /** Calls inside of this one: of an item, of a member, under a gate. Those of modes are by mode. */
  readonly inner?: readonly Call[]
  readonly modes?: ReadonlyMap<string, readonly Call[]>
}

export interface FieldRule {
  /** Empty for an inline field. */
  readonly name: string
  readonly isPointer: boolean
  readonly container: 'list' | 'map' | undefined
  /** Members that identify an item; none: its value does; undefined: nothing does. */
  readonly keys: readonly string[] | undefined
  readonly groups: readonly (readonly Call[])[]
  /** `folder/version.Type` */
  readonly target: string | undefined
}

export interface TypeRule {
  /** Paths below an object, `/` and `/status`; undefined for types that are no kinds. */
  readonly requests: readonly string[] | undefined
  readonly groups: readonly (readonly Call[])[]
  readonly fields: readonly FieldRule[]
  /** Whether values are strings. */
  readonly isString: boolean
}

/** Reads the rules of a group in a release, by `folder/version.Type`. */
export function readRules(folder: string, text: string, minor: number): Map<string, TypeRule> {
  const rules = new Map<string, TypeRule>()
  let prefix = ''
  for (const dated of text.split('\n')) {
    const { isLive, text: line } = atRelease(dated, minor, ' ')
    if (line.startsWith('/')) prefix = isLive ? `${folder}/${line.slice(1)}.` : ''
    else if (isLive && prefix !== '' && line !== '') addType(rules, prefix, line, minor)
  }
  return rules
}

/** The folders that rules refer to. */
export function foldersOf(rules: ReadonlyMap<string, TypeRule>): Set<string> {
  const folders = new Set<string>()
  for (const { fields } of rules.values())
    for (const { target } of fields) if (target !== undefined) folders.add(target.slice(0, target.indexOf('/')))
  return folders
}

/** Whether a release is in the range before a text, and the text without it. */
function atRelease(text: string, minor: number, end: ' ' | '~'): { readonly isLive: boolean; readonly text: string } {
  const range = /^(\d\d)?-(\d\d)?([ ~])/.exec(text)
  if (range === null || range[3] !== end) return { isLive: true, text }
  const [whole, since = minor, until = minor] = range
  return { isLive: Number(since) <= minor && minor <= Number(until), text: text.slice(whole.length) }
}

function addType(rules: Map<string, TypeRule>, prefix: string, line: string, minor: number): void {
  const [head = '', ...parts] = line.split(' ')
  const [name = '', requests] = head.split(';')
  const live = parts.map((part) => atRelease(part, minor, '~')).flatMap(({ isLive, text }) => (isLive ? [text] : []))
  const groups = live[0]?.startsWith('=') === true ? readGroups(live.shift()!.slice(1)) : []
  rules.set(prefix + name, {
    requests: requests?.split(','),
    groups,
    fields: live.map((part) => readField(part, prefix)),
    isString: groups.some((calls) => calls.some((call) => call.name === 'enum')),
  })
}

/** Name, pointer, list or map, and the rest. */
const fieldHead = /^(\w*)(\*?)(\[[^\]]*\]|\{\})?/

function readField(part: string, prefix: string): FieldRule {
  const [whole, name = '', star, container] = fieldHead.exec(part)!
  const rest = part.slice(whole.length)
  const arrow = rest.lastIndexOf('>')
  const calls = arrow < 0 ? rest : rest.slice(0, arrow)
  const target = arrow < 0 ? undefined : rest.slice(arrow + 1)
  return {
    name,
    isPointer: star === '*',
    container: container === undefined ? undefined : container === '{}' ? 'map' : 'list',
    keys: keysOf(container),
    groups: calls === '' ? [] : readGroups(calls.slice(1)),
    target: target === undefined || target.includes('.') ? target : prefix + target,
  }
}

function keysOf(container: string | undefined): readonly string[] | undefined {
  const names = container?.slice(1, -1) ?? ''
  return names === '' ? undefined : names === '.' ? [] : names.split(',')
}

/** The first group is that of the field. */
function readGroups(text: string): Call[][] {
  return splitTop(text, '|').map((group) => (group === '' ? [] : splitTop(group, ';').map(readCall)))
}

/** Calls with a call inside of them. */
const wrappers: ReadonlySet<string> = new Set(['each', 'key', 'item', 'sub', 'on', 'off'])

function readCall(text: string): Call {
  const level = text.startsWith('%') ? 'beta' : text.startsWith('?') ? 'alpha' : ''
  const open = text.indexOf('(')
  const name = text.slice(level === '' ? 0 : 1, open < 0 ? undefined : open)
  const content = open < 0 ? '' : text.slice(open + 1, -1)
  if (name === 'mode') {
    const [discriminator = '', field = '', ...rules] = splitTop(content, ',')
    const modes = rules.map((rule): [string, Call[]] => {
      const colon = rule.indexOf(':')
      return [rule.slice(0, colon), splitTop(rule.slice(colon + 1), '+').map(readCall)]
    })
    return { name, level, args: [discriminator, field], modes: new Map(modes) }
  }
  if (!wrappers.has(name)) return { name, level, args: content === '' ? [] : content.split(',') }
  const colon = name === 'each' || name === 'key' ? -1 : content.indexOf(':')
  return { name, level, args: colon < 0 ? [] : [content.slice(0, colon)], inner: [readCall(content.slice(colon + 1))] }
}

/** Splits a text outside of parentheses. */
function splitTop(text: string, separator: string): string[] {
  const parts: string[] = []
  let depth = 0
  let start = 0
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++
    else if (text[i] === ')') depth--
    else if (depth === 0 && text[i] === separator) {
      parts.push(text.slice(start, i))
      start = i + 1
    }
  }
  return [...parts, text.slice(start)]
}

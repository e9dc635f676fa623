import { NumberLiteral } from '../json/syntax.ts'
import type { MappingYaml, ScalarYaml, SequenceYaml, YamlNode } from '../yaml/nodes.ts'
import { resolveScalar } from '../yaml/resolve.ts'

/** The node that a path leads to, as far as the path can be followed. */
export interface FoundNode {
  readonly node: YamlNode
  /** Key node of the member; absent for list items and the root. */
  readonly key?: YamlNode
  /** Whether the whole path was followed. */
  readonly complete: boolean
  /** Members and items on the way. */
  readonly steps: readonly (string | number)[]
}

/**
 * Follows a path such as `spec.containers[0].env[HOME]`. Matches member names of the tree, longest first, because names may
 * contain dots and brackets. Of duplicate members the last is used.
 */
export function findNode(root: YamlNode, path: string): FoundNode {
  let found: FoundNode = { node: resolveAlias(root), complete: path === '', steps: [] }
  let rest = path
  while (rest !== '') {
    const step = next(found.node, rest)
    if (step === undefined) return found
    rest = step.rest
    const { key, value } = step
    found = {
      node: resolveAlias(value),
      ...(key === undefined ? {} : { key }),
      complete: rest === '',
      steps: [...found.steps, step.step],
    }
  }
  return found
}

interface Step {
  readonly step: string | number
  readonly key?: YamlNode
  readonly value: YamlNode
  readonly rest: string
}

function next(node: YamlNode, path: string): Step | undefined {
  if (node.kind === 'mapping') return memberStep(node, path, 0)
  return node.kind === 'sequence' ? itemStep(node, path) : undefined
}

const maxMerges = 20

function memberStep(node: MappingYaml, path: string, depth: number): Step | undefined {
  const { places, lengths } = membersOf(node)
  for (const [name, rest] of leadingNames(path, lengths)) {
    const at = places.get(name)
    if (at !== undefined) return { step: name, key: node.items[at] as YamlNode, value: node.items[at + 1] as YamlNode, rest }
  }
  return depth < maxMerges ? mergedStep(node, path, depth) : undefined
}

interface MemberIndex {
  /** Index of the last key by its name. */
  readonly places: ReadonlyMap<string, number>
  /** The lengths of names. */
  readonly lengths: ReadonlySet<number>
}

const memberIndexes = new WeakMap<MappingYaml, MemberIndex>()

/** Indexes the members of a mapping once, because tools look up many members. */
function membersOf(node: MappingYaml): MemberIndex {
  const known = memberIndexes.get(node)
  if (known !== undefined) return known
  const places = new Map<string, number>()
  const lengths = new Set<number>()
  for (let i = 0; i + 1 < node.items.length; i += 2) {
    const key = resolveAlias(node.items[i] as YamlNode)
    if (key.kind !== 'scalar') continue
    const name = keyName(key)
    places.set(name, i)
    lengths.add(name.length)
  }
  memberIndexes.set(node, { places, lengths })
  return { places, lengths }
}

/** Yields the names that a path may start with, longest first, each with the rest of the path. */
function* leadingNames(path: string, lengths: ReadonlySet<number>): Generator<readonly [name: string, rest: string]> {
  const isBracket = path.startsWith('[')
  const start = isBracket || path.startsWith('.') ? 1 : 0
  for (let end = path.length; end >= start; end--) {
    if (!lengths.has(end - start)) continue
    const next = path.charAt(end)
    const ends = isBracket ? next === ']' : next === '' || next === '.' || next === '['
    if (ends) yield [path.slice(start, end), path.slice(isBracket ? end + 1 : end)]
  }
}

/** Member name that a key resolves to: plain `n` is `false`. */
export function keyName({ text, tag, plain }: ScalarYaml): string {
  if (!plain) return text
  const { type, value } = resolveScalar(text, tag, plain)
  return type === 'bool' || type === 'int' ? (value instanceof NumberLiteral ? value.text : String(value)) : text
}

/** Finds a member that a merge key (`<<`) contributes. */
function mergedStep(node: MappingYaml, path: string, depth: number): Step | undefined {
  for (let i = 0; i + 1 < node.items.length; i += 2) {
    const key = node.items[i] as YamlNode
    if (key.kind !== 'scalar' || key.text !== '<<') continue
    const value = resolveAlias(node.items[i + 1] as YamlNode)
    for (const source of value.kind === 'sequence' ? value.items.map(resolveAlias) : [value]) {
      const step = source.kind === 'mapping' ? memberStep(source, path, depth + 1) : undefined
      if (step !== undefined) return step
    }
  }
  return undefined
}

function itemStep(node: SequenceYaml, path: string): Step | undefined {
  const end = path.indexOf(']')
  if (!path.startsWith('[') || end < 0) return undefined
  const inside = path.slice(1, end)
  const index = /^\d{1,9}$/.test(inside)
    ? Number(inside)
    : node.items.findIndex((item) => itemMatches(resolveAlias(item), inside))
  const value = node.items[index]
  return value === undefined ? undefined : { step: index, value, rest: path.slice(end + 1) }
}

/** Whether a list item is identified by its value, or by the value of a member. */
function itemMatches(item: YamlNode, text: string): boolean {
  if (item.kind === 'scalar') return item.text === text
  return item.kind === 'mapping' && item.items.some((each, at) => at % 2 === 1 && each.kind === 'scalar' && each.text === text)
}

function resolveAlias(node: YamlNode): YamlNode {
  return node.kind === 'alias' ? node.target : node
}

import { MetaError, Quantity } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import type { BehaviorMatch, ContainerBehavior, MatchedBehavior, NodeSimulationOptions, NodeTemplate } from './interfaces.ts'
import { invalid, members } from './simulation-members.ts'

/** Validates options given in code, so that a misspelt member is not silently ignored. */

type Names<T> = Readonly<Record<keyof T, Kind>>
type Kind = 'text' | 'count' | 'milliseconds' | 'interval' | 'function' | 'textOrPattern' | 'textOrFunction' | 'other'

const optionKinds: Names<NodeSimulationOptions> = { nodes: 'other', behaviors: 'other', heartbeatMs: 'interval' }
const templateKinds: Names<NodeTemplate> = { name: 'text', labels: 'other', taints: 'other', capacity: 'other' }
const behaviorKinds: Names<MatchedBehavior & ContainerBehavior> = {
  match: 'other',
  startAfterMs: 'milliseconds',
  readyAfterMs: 'milliseconds',
  exitAfterMs: 'milliseconds',
  stopAfterMs: 'milliseconds',
  exitCode: 'count',
  crashes: 'count',
  pullError: 'text',
  logs: 'textOrFunction',
  exec: 'function',
  attach: 'function',
  probe: 'function',
  portForward: 'function',
  usage: 'other',
}
const matchKinds: Names<BehaviorMatch> = {
  namespace: 'text',
  labels: 'other',
  name: 'textOrPattern',
  container: 'text',
  image: 'textOrPattern',
  command: 'textOrPattern',
}

const checks: Readonly<Record<Kind, { readonly accepts: (value: unknown) => boolean; readonly is: string }>> = {
  text: { accepts: isText, is: 'a string' },
  count: { accepts: (value) => Number.isSafeInteger(value) && (value as number) >= 0, is: 'an integer from 0' },
  milliseconds: { accepts: (value) => typeof value === 'number' && value >= 0, is: 'a number of milliseconds' },
  interval: {
    accepts: (value) => Number.isFinite(value) && (value as number) > 0,
    is: 'a number of milliseconds above 0',
  },
  function: { accepts: isFunction, is: 'a function' },
  textOrPattern: { accepts: (value) => isText(value) || value instanceof RegExp, is: 'a string or a regular expression' },
  textOrFunction: { accepts: (value) => isText(value) || isFunction(value), is: 'a string or a function' },
  other: { accepts: () => true, is: 'any value' },
}

function isText(value: unknown): boolean {
  return typeof value === 'string'
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function'
}

/** @throws ControllersError `InvalidSimulation` with the path of the first unknown or invalid member */
export function checkSimulationOptions(options: NodeSimulationOptions): void {
  checkMembers(options, 'cluster', optionKinds)
  checkNodes(options.nodes)
  const { behaviors = [] } = options
  if (!Array.isArray(behaviors)) throw invalid('behaviors', 'must be a list')
  for (const [i, behavior] of (behaviors as readonly MatchedBehavior[]).entries()) checkBehavior(behavior, `behaviors[${i}]`)
}

function checkNodes(nodes: unknown): void {
  if (Array.isArray(nodes)) {
    for (const [i, template] of (nodes as readonly NodeTemplate[]).entries()) checkTemplate(template, `nodes[${i}]`)
    const names = (nodes as readonly NodeTemplate[]).map(({ name }) => name)
    const repeated = names.find((name, i) => names.indexOf(name) < i)
    if (repeated !== undefined) throw invalid('nodes', `the name ${JSON.stringify(repeated)} is repeated`)
  } else if (!Number.isSafeInteger(nodes) || (nodes as number) < 0)
    throw invalid('nodes', 'must be a number of nodes, or a list of templates: { name: "node-1" }')
}

function checkTemplate(template: NodeTemplate, path: string): void {
  checkMembers(template, path, templateKinds)
  if (!isText(template.name)) throw invalid(`${path}.name`, 'must be a string')
  checkQuantities(template.capacity ?? {}, `${path}.capacity`)
}

function checkBehavior(behavior: MatchedBehavior, path: string): void {
  checkMembers(behavior, path, behaviorKinds)
  const { match, usage = {} } = behavior
  if (typeof usage !== 'function') checkQuantities(usage, `${path}.usage`)
  if (match === undefined) return
  checkMembers(match, `${path}.match`, matchKinds)
  if (match.labels !== undefined) parsed(() => labelSelectorFromObject(match.labels ?? {}), `${path}.match.labels`)
}

function checkQuantities(amounts: Readonly<Record<string, string>>, path: string): void {
  for (const [name, amount] of Object.entries(members(amounts, path)))
    parsed(() => Quantity.parse(String(amount)), `${path}.${name}`)
}

function checkMembers(value: unknown, path: string, kinds: Readonly<Record<string, Kind>>): void {
  for (const [name, member] of Object.entries(members(value, path, Object.keys(kinds)))) {
    const { accepts, is } = checks[kinds[name] ?? 'other']
    if (member !== undefined && !accepts(member)) throw invalid(`${path}.${name}`, `must be ${is}`)
  }
}

function parsed(parse: () => unknown, path: string): void {
  try {
    parse()
  } catch (error) {
    throw error instanceof MetaError ? invalid(path, error.message) : error
  }
}

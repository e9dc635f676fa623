import { MetaError, Quantity } from '@krmkit/meta'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { parseDurationMs } from '@krmkit/meta/time'
import { runDurationMs } from './behavior.ts'
import { httpProbe } from './http-probe.ts'
import type { BehaviorMatch, ContainerBehavior, MatchedBehavior } from './interfaces.ts'
import { invalid, type Members, members } from './simulation-members.ts'

/** Parses one member. @throws ControllersError that names the path */
type Reader = (value: unknown, path: string) => Members

export interface SimulationFileOptions {
  /**
   * Creates the handler of the member `portForward` from its address, such as `forwardTo` of `@krmkit/http`. Throws for a
   * malformed address. Absent: files must not use the member.
   */
  readonly forwardTo?: (address: string) => NonNullable<ContainerBehavior['portForward']>
}

/** Parsers of the members of a behaviour. */
const behaviorReaders: Readonly<Record<string, Reader>> = {
  match: (value, path) => ({ match: readMatch(value, path) }),
  startAfter: (value, path) => ({ startAfterMs: duration(value, path) }),
  readyAfter: (value, path) => ({ readyAfterMs: duration(value, path) }),
  exitAfter: (value, path) => ({ exitAfterMs: value === 'never' ? runDurationMs(value) : duration(value, path) }),
  stopAfter: (value, path) => ({ stopAfterMs: duration(value, path) }),
  exitCode: (value, path) => ({ exitCode: integer(value, path, 255) }),
  crashes: (value, path) => ({ crashes: integer(value, path, 2 ** 31 - 1) }),
  pullError: (value, path) => ({ pullError: text(value, path) }),
  logs: (value, path) => ({ logs: text(value, path) }),
  probe: (value, path) => ({ probe: checked(() => httpProbe(text(value, path)), path) }),
  usage: (value, path) => ({ usage: readUsage(value, path) }),
}

const matchReaders: Readonly<Record<string, Reader>> = {
  namespace: (value, path) => ({ namespace: text(value, path) }),
  labels: (value, path) => ({ labels: readSelector(value, path) }),
  name: (value, path) => ({ name: text(value, path) }),
  namePattern: (value, path) => ({ name: pattern(value, path) }),
  container: (value, path) => ({ container: text(value, path) }),
  image: (value, path) => ({ image: text(value, path) }),
  imagePattern: (value, path) => ({ image: pattern(value, path) }),
  command: (value, path) => ({ command: text(value, path) }),
  commandPattern: (value, path) => ({ command: pattern(value, path) }),
}

/**
 * Reads the behaviours of simulated pods from a parsed file. Durations are texts such as `1m30s`; a container is matched by exact values
 * or by the regular expressions `namePattern`, `imagePattern` and `commandPattern`.
 *
 * @throws ControllersError `InvalidSimulation` with the path of the first unknown or invalid member
 * @example
 * import { NodeSimulation, parseSimulation } from '@krmkit/controllers'
 * const behaviors = parseSimulation({ behaviors: [{ match: { imagePattern: '^slow:' }, readyAfter: '5s' }] })
 * const simulation = new NodeSimulation({ nodes: 3, behaviors })
 */
export function parseSimulation(value: unknown, { forwardTo }: SimulationFileOptions = {}): readonly MatchedBehavior[] {
  const file = members(value, 'the simulation', ['behaviors'])
  if (!Array.isArray(file['behaviors'])) throw invalid('behaviors', 'must be a list')
  const readPorts: Reader = (address, path) => ({ portForward: checked(() => forwardTo?.(text(address, path)), path, [Error]) })
  const readers = forwardTo === undefined ? behaviorReaders : { ...behaviorReaders, portForward: readPorts }
  return file['behaviors'].map((behavior: unknown, i) => read(behavior, `behaviors[${i}]`, readers))
}

function readMatch(value: unknown, path: string): BehaviorMatch {
  const match = members(value, path, Object.keys(matchReaders))
  for (const name of ['name', 'image', 'command'])
    if (name in match && `${name}Pattern` in match) throw invalid(`${path}.${name}Pattern`, `must not stand beside ${name}`)
  return read(value, path, matchReaders)
}

function readSelector(value: unknown, path: string): NonNullable<BehaviorMatch['labels']> {
  const { matchLabels = {}, matchExpressions = [] } = members(value, path, ['matchLabels', 'matchExpressions'])
  for (const [key, label] of Object.entries(members(matchLabels, `${path}.matchLabels`)))
    text(label, `${path}.matchLabels.${key}`)
  if (!Array.isArray(matchExpressions)) throw invalid(`${path}.matchExpressions`, 'must be a list')
  matchExpressions.forEach((expression: unknown, i) => {
    const each = `${path}.matchExpressions[${i}]`
    const { key, operator, values = [] } = members(expression, each, ['key', 'operator', 'values'])
    text(key, `${each}.key`)
    text(operator, `${each}.operator`)
    if (!Array.isArray(values)) throw invalid(`${each}.values`, 'must be a list')
    for (const [j, item] of values.entries()) text(item, `${each}.values[${j}]`)
  })
  const selector = value as NonNullable<BehaviorMatch['labels']>
  checked(() => labelSelectorFromObject(selector), path)
  return selector
}

function readUsage(value: unknown, path: string): Readonly<Record<string, string>> {
  const amounts = members(value, path, ['cpu', 'memory'])
  return Object.fromEntries(
    Object.entries(amounts).map(([name, amount]) => {
      const quantity = text(amount, `${path}.${name}`)
      checked(() => Quantity.parse(quantity), `${path}.${name}`)
      return [name, quantity]
    }),
  )
}

function read(value: unknown, path: string, readers: Readonly<Record<string, Reader>>): Members {
  const found = members(value, path, Object.keys(readers))
  return Object.assign({}, ...Object.entries(found).map(([name, member]) => readers[name]?.(member, `${path}.${name}`)))
}

function text(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalid(path, 'must be a string')
  return value
}

function integer(value: unknown, path: string, max: number): number {
  if (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= max) return value as number
  throw invalid(path, `must be an integer from 0 to ${max}`)
}

function duration(value: unknown, path: string): number {
  const ms = checked(() => parseDurationMs(text(value, path)), path)
  if (ms < 0) throw invalid(path, 'must not be negative')
  return ms
}

function pattern(value: unknown, path: string): RegExp {
  return checked(() => new RegExp(text(value, path), 'u'), path)
}

/** @param expected errors of an invalid value */
function checked<T>(parse: () => T, path: string, expected: readonly (new () => Error)[] = parseErrors): T {
  try {
    return parse()
  } catch (error) {
    const isExpected = expected.some((type) => error instanceof type)
    throw isExpected ? invalid(path, (error as Error).message) : error
  }
}

const parseErrors = [MetaError, SyntaxError, TypeError] as readonly (new () => Error)[]

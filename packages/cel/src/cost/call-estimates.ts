import { sameType, type Type } from '../values/types.ts'
import { authorizationCost, formatPatternSize, perPatternCharacter } from './call-cost.ts'
import { type Estimate, either, exactly, one, plus, reading, scaled, times, unknownSize } from './estimate.ts'

/** Cost estimates of calls, by function. */

const maxFormatSize = 64

export interface CallArgument {
  readonly type: Type
  /** `undefined` when unknown. */
  readonly size: Estimate | undefined
  readonly cost: Estimate
  /** Value of an integer literal. */
  readonly literal?: number
  /** Size of the items of a list. */
  item(): Estimate
}

export interface CallToEstimate {
  readonly name: string
  readonly overload: string
  readonly target: Omit<CallArgument, 'cost'> | undefined
  readonly args: readonly CallArgument[]
}

export interface CallEstimate {
  readonly cost: Estimate
  /** Size of the result. */
  readonly size?: Estimate
}

/** Estimates a call, including the cost of the arguments but not of the target. */
export function estimateCall(call: CallToEstimate): CallEstimate {
  const { args } = call
  const costs = args.map(({ cost }) => cost)
  if (call.name === '_&&_' || call.name === '_||_') {
    const [left, right] = costs as [Estimate, Estimate]
    return { cost: { min: left.min, max: plus(left, right).max } }
  }
  if (call.name === '_?_:_') {
    const [condition, yes, no] = costs as [Estimate, Estimate, Estimate]
    return { cost: plus(condition, either(yes, no)), size: either(sizeOf(args[1]), sizeOf(args[2])) }
  }
  const own = libraryCall(call) ?? standardCall(call)
  return { ...own, cost: plus(own.cost, ...costs) }
}

function sizeOf(argument: Omit<CallArgument, 'cost'> | undefined): Estimate {
  return argument?.size ?? unknownSize
}

const nominal = new Set(
  (
    'serviceAccount path group resource subresource namespace name allowed reason error errored masked prefixLength family ' +
    'isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast sign asInteger isInteger asApproximateFloat ' +
    'isGreaterThan isLessThan compareTo add sub major minor patch getScheme getHostname getHost getPort getEscapedPath getQuery ' +
    'format.named'
  ).split(' '),
)

/** Estimates of kube-apiserver's libraries, which identify functions by name. */
function libraryCall({ name, overload, target, args }: CallToEstimate): CallEstimate | undefined {
  if (nominal.has(name)) return { cost: one }
  const [first, second] = args
  switch (name) {
    case 'check':
      return { cost: exactly(authorizationCost) }
    case 'fieldSelector':
    case 'labelSelector':
      return args.length === 1 ? { cost: selectorCost(sizeOf(first)) } : undefined
    case 'isSorted':
    case 'sum':
    case 'max':
    case 'min':
    case 'indexOf':
    case 'lastIndexOf':
      return target === undefined ? undefined : { cost: traversal(target) }
    case 'url':
    case 'jsonpatch.escapeKey':
      return args.length === 1 ? { cost: reading(sizeOf(first)), size: sizeOf(first) } : undefined
    case 'lowerAscii':
    case 'upperAscii':
    case 'substring':
    case 'trim':
      return target === undefined ? undefined : { cost: reading(sizeOf(target)), size: sizeOf(target) }
    case 'replace':
      return target === undefined || second === undefined ? undefined : replaced(sizeOf(target), sizeOf(first), sizeOf(second))
    case 'split': {
      if (target === undefined) return undefined
      const max = second?.literal !== undefined ? asUnsigned(second.literal) : sizeOf(target).max
      return { cost: scaled(sizeOf(target), 0.2), size: { min: 0, max } }
    }
    case 'join':
      return target === undefined ? undefined : joined(target, first)
    case 'find':
    case 'findAll': {
      if (target === undefined || first === undefined) return undefined
      return { cost: matching(sizeOf(target), sizeOf(first)), size: { min: 0, max: sizeOf(target).max } }
    }
    case 'ip':
      return { cost: first === undefined ? one : reading(sizeOf(first)) }
    case 'ip.isCanonical':
      return { cost: scaled(sizeOf(first), 0.2) }
    case 'cidr':
    case 'isIP':
    case 'isCIDR':
    case 'quantity':
    case 'isQuantity':
    case 'semver':
    case 'isSemver':
      return { cost: reading(sizeOf(first)) }
    case 'containsIP':
    case 'containsCIDR':
      return target === undefined || first === undefined ? undefined : { cost: containment(name, overload, sizeOf(first)) }
    case 'validate':
      return target === undefined ? undefined : { cost: scaled(reading(sizeOf(first)), formatPatternSize * perPatternCharacter) }
    case 'sets.contains':
    case 'sets.intersects':
      return { cost: plus(times(sizeOf(first), sizeOf(second)), one) }
    case 'sets.equivalent':
      return { cost: plus(scaled(times(sizeOf(first), sizeOf(second)), 2), one) }
    case '_==_':
      return opaqueEquality(first, second)
    default:
      return undefined
  }
}

/** As on kube-apiserver, a negative limit is converted to a large unsigned number. */
function asUnsigned(value: number): number {
  return value < 0 ? Number.POSITIVE_INFINITY : value
}

function selectorCost(length: Estimate): Estimate {
  return plus(exactly(10), reading(length), scaled(scaled(length, 0.5), 50))
}

/** Visits each item, and each character of text items. */
function traversal(target: Omit<CallArgument, 'cost'>): Estimate {
  const { type } = target
  if (type.kind !== 'list') return reading(sizeOf(target))
  const read = type.elem.kind === 'string' || type.elem.kind === 'bytes' ? reading(target.item()) : exactly(0)
  return times(sizeOf(target), plus(one, read))
}

/** The result is longest when the shortest parts are replaced by the longest, and vice versa. */
function replaced(text: Estimate, part: Estimate, by: Estimate): CallEstimate {
  let count = { min: 0, max: 0 }
  let kept = { min: 0, max: 0 }
  if (part.min === 0) {
    count = { ...count, max: text.max + 1 }
    kept = { ...kept, max: text.max }
  } else if (by.max <= part.min) kept = { ...kept, max: text.max }
  else count = { ...count, max: Math.ceil(text.max / part.min) }
  if (part.max === 0) {
    count = { ...count, min: text.min + 1 }
    kept = { ...kept, min: text.min }
  } else if (part.max <= by.min) kept = { ...kept, min: text.min }
  else count = { ...count, min: Math.ceil(text.min / part.max) }
  return { cost: scaled(text, 0.2), size: plus(times(count, by), kept) }
}

function joined(target: Omit<CallArgument, 'cost'>, separator: CallArgument | undefined): CallEstimate {
  const list = sizeOf(target)
  const items = target.type.kind === 'list' ? times(list, target.item()) : exactly(0)
  const gaps = { min: Math.max(0, list.min - 1), max: Math.max(0, list.max - 1) }
  const size = separator === undefined ? items : plus(items, times(sizeOf(separator), gaps))
  return { cost: reading(size), size }
}

function matching(text: Estimate, pattern: Estimate): Estimate {
  return times(reading(plus(text, one)), scaled(pattern, perPatternCharacter))
}

function containment(name: string, overload: string, other: Estimate): Estimate {
  const address = { min: 4, max: 16 }
  let cost = reading(plus(address, address))
  if (name === 'containsCIDR') cost = plus(cost, reading(address), one)
  return overload.endsWith('_string') ? plus(cost, reading(other)) : cost
}

function opaqueEquality(a: CallArgument | undefined, b: CallArgument | undefined): CallEstimate | undefined {
  if (a?.type.kind !== 'opaque' || b === undefined || !sameType(a.type, b.type) || a.type.params.length > 0) return undefined
  if (a.type.name === 'kubernetes.NamedFormat') return { cost: reading({ min: 1, max: maxFormatSize }) }
  if (a.type.name === 'kubernetes.URL') return { cost: reading({ min: 1, max: b.size?.max ?? 1 }) }
  return { cost: one }
}

/** As in kube-apiserver, whose unsigned numbers wrap around, an unknown size becomes 0. */
function quotedSize(max: number): number {
  return Number.isFinite(max) ? max * 2 + 2 : 0
}

const ordered = /^(less|less_equals|greater|greater_equals)_(string|bytes)$/

function standardCall({ overload, target, args }: CallToEstimate): CallEstimate {
  const [first, second] = args
  switch (overload) {
    case 'string_format':
      return { cost: reading(sizeOf(target)) }
    case 'string_to_bytes':
      return { cost: reading(sizeOf(first)), size: { min: sizeOf(first).min, max: sizeOf(first).max * 4 } }
    case 'bytes_to_string':
      return { cost: reading(sizeOf(first)), size: { min: Math.floor(sizeOf(first).min / 4), max: sizeOf(first).max } }
    case 'strings_quote':
      return { cost: reading(sizeOf(first)), size: { min: sizeOf(first).min + 2, max: quotedSize(sizeOf(first).max) } }
    case 'starts_with_string':
    case 'ends_with_string':
      return { cost: reading(sizeOf(first)) }
    case 'in_list':
      return { cost: scaled(sizeOf(second), 1) }
    case 'matches_string':
      return target === undefined ? { cost: one } : { cost: matching(sizeOf(target), sizeOf(first)) }
    case 'contains_string':
      return { cost: times(reading(sizeOf(target)), reading(sizeOf(first))) }
    case 'add_list':
      return { cost: one, size: plus(sizeOf(first), sizeOf(second)) }
    case 'add_string':
    case 'add_bytes': {
      const size = plus(sizeOf(first), sizeOf(second))
      return { cost: reading(size), size }
    }
  }
  if (overload === 'equals' || overload === 'not_equals' || ordered.test(overload)) {
    const max = Math.min(sizeOf(first).max, sizeOf(second).max)
    return { cost: reading({ min: max > 0 ? 1 : 0, max }) }
  }
  return { cost: one }
}

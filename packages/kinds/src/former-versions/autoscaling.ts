import type { NamingProfile } from '@krmkit/meta'
import { behaviorFromText, behaviorToText } from '../conversions/autoscaling-texts.ts'
import type { HorizontalPodAutoscalerBehavior } from '../types/autoscaling-v2.generated.ts'
import type { FormerKind } from './interfaces.ts'
import { annotationOf, isLoose, type Loose, type Rewrite, replaced, type Step, withAnnotation } from './shape.ts'

/**
 * Autoscalers: `v2beta1` writes the name, selector and target of a metric beside each other; later versions have a member for the
 * metric and one for its target. An annotation keeps `spec.behavior` in `v2beta1`.
 */

/** Names of the flat members of one source of metrics. */
interface FlatNames {
  readonly source: string
  readonly selector?: string
  /** Target values: hub name -> flat name. */
  readonly targets: Readonly<Record<string, string>>
  /** Current values: hub name -> flat name. */
  readonly current: Readonly<Record<string, string>>
  /** Hub names of target values: the first one that is set determines the type of the target; the last one does if none is set. */
  readonly precedence: readonly string[]
}

/** The names of both sources that measure the usage of resources. */
const usage: Omit<FlatNames, 'source'> = {
  targets: { averageUtilization: 'targetAverageUtilization', averageValue: 'targetAverageValue' },
  current: { averageUtilization: 'currentAverageUtilization', averageValue: 'currentAverageValue' },
  precedence: ['averageUtilization', 'averageValue'],
}

const sources: readonly FlatNames[] = [
  {
    source: 'object',
    selector: 'selector',
    targets: { value: 'targetValue', averageValue: 'averageValue' },
    current: { value: 'currentValue', averageValue: 'averageValue' },
    precedence: ['averageValue', 'value'],
  },
  {
    source: 'pods',
    selector: 'selector',
    targets: { averageValue: 'targetAverageValue' },
    current: { averageValue: 'currentAverageValue' },
    precedence: ['averageValue'],
  },
  { source: 'resource', ...usage },
  { source: 'containerResource', ...usage },
  {
    source: 'external',
    selector: 'metricSelector',
    targets: { value: 'targetValue', averageValue: 'targetAverageValue' },
    current: { value: 'currentValue', averageValue: 'currentAverageValue' },
    precedence: ['value', 'averageValue'],
  },
]

const targetTypes: Readonly<Record<string, string>> = {
  averageUtilization: 'Utilization',
  averageValue: 'AverageValue',
  value: 'Value',
}

/** Values that `v2beta1` always prints: as zero where the hub has none. */
const alwaysPrinted: Readonly<Record<string, string>> = {
  'object targets': 'value',
  'object current': 'value',
  'pods targets': 'averageValue',
  'pods current': 'averageValue',
  'resource current': 'averageValue',
  'containerResource current': 'averageValue',
  'external current': 'value',
}

/** The values of a target or of a current state, from flat members. */
function valuesOf(flat: Loose, names: Readonly<Record<string, string>>, printed: string | undefined): Loose {
  const found = Object.entries(names)
    .map(([hub, name]) => [hub, flat[name]] as const)
    .filter(([, value]) => value !== undefined && value !== null)
  // A total of zero beside an average counts as unset; `v2` prints the average of a resource always, as `v2beta1` does.
  const isPrintedZero = found.length > 1 && printed === 'value'
  return Object.fromEntries(found.filter(([hub, value]) => !(isPrintedZero && hub === printed && isZero(value))))
}

function isZero(value: unknown): boolean {
  return value === '0' || value === 0
}

type Part = 'targets' | 'current'

/** The member of a source of metrics in `v2` that holds the values of a part. */
const places: Readonly<Record<Part, string>> = { targets: 'target', current: 'current' }

/** A rewrite of the member of each source of metrics. */
const ofSources =
  (change: (member: Loose, names: FlatNames, context: Parameters<Rewrite>[1]) => Loose): Rewrite =>
  (metric, context) =>
    sources.reduce((current, names) => {
      const member = current[names.source]
      return isLoose(member) ? { ...current, [names.source]: change(member, names, context) } : current
    }, metric)

const toHub = (part: Part): Rewrite => ofSources((flat, names) => nested(flat, names, part))

function nested(flat: Loose, names: FlatNames, part: Part): Loose {
  const values = valuesOf(flat, names[part], alwaysPrinted[`${names.source} ${part}`])
  const kind = names.precedence.find((name) => name in values) ?? names.precedence.at(-1)!
  const type = part === 'targets' ? { type: targetTypes[kind] } : {}
  const own = Object.entries({
    ...(names.source === 'object' ? { describedObject: flat['target'] } : {}),
    ...(names.selector === undefined ? {} : { metric: metricOf(flat, names.selector) }),
    [places[part]]: { ...type, ...values },
  }).filter(([, value]) => value !== undefined)
  const former = new Set(['target', 'metricName', names.selector, ...Object.values(names[part])])
  // `name` and `container` stay where they are.
  return Object.fromEntries([...Object.entries(flat).filter(([name]) => !former.has(name)), ...own])
}

function metricOf(flat: Loose, selector: string): Loose {
  const { metricName, [selector]: labels } = flat
  return { name: metricName ?? '', ...(labels === undefined || labels === null ? {} : { selector: labels }) }
}

const fromHub = (part: Part): Rewrite =>
  ofSources((member, names, { lose }) => {
    const place = places[part]
    const values = isLoose(member[place]) ? member[place] : {}
    for (const name of ['value', 'averageValue', 'averageUtilization'])
      if (values[name] !== undefined && !(name in names[part]))
        lose(`${names.source}.${place}.${name}`, 'this version has no such value for this source of metrics')
    return flattened(member, names, part, values)
  })

function flattened(member: Loose, names: FlatNames, part: Part, values: Loose): Loose {
  const metric = isLoose(member['metric']) ? member['metric'] : {}
  const printed = alwaysPrinted[`${names.source} ${part}`]
  const flat = Object.entries({
    ...(names.source === 'object' ? { target: member['describedObject'] } : {}),
    ...(names.selector === undefined ? {} : { metricName: metric['name'] ?? '', [names.selector]: metric['selector'] }),
    ...Object.fromEntries(
      Object.entries(names[part]).map(([hub, name]) => [name, values[hub] ?? (hub === printed ? '0' : undefined)]),
    ),
  }).filter(([, value]) => value !== undefined)
  const former = new Set(['target', 'current', 'describedObject', 'metric'])
  return Object.fromEntries([...Object.entries(member).filter(([name]) => !former.has(name)), ...flat])
}

const behaviorAnnotation = ({ domain }: NamingProfile): string => `autoscaling.alpha.${domain}/behavior`

const behavior: Step = {
  at: '',
  toHub: (object, { profile }) => {
    const name = behaviorAnnotation(profile)
    const found = behaviorFromText(annotationOf(object, name))
    const cleaned = withAnnotation(object, name, undefined)
    if (found === undefined || !isLoose(cleaned['spec'])) return cleaned
    return { ...cleaned, spec: { ...cleaned['spec'], behavior: found } }
  },
  fromHub: (object, { profile }) => {
    const { spec } = object
    if (!isLoose(spec) || !isLoose(spec['behavior'])) return object
    const text = behaviorToText(spec['behavior'] as HorizontalPodAutoscalerBehavior)
    return withAnnotation({ ...object, spec: replaced(spec, 'behavior', {}) }, behaviorAnnotation(profile), text)
  },
}

const metrics: readonly Step[] = [
  behavior,
  { at: 'spec.metrics[]', toHub: toHub('targets'), fromHub: fromHub('targets') },
  { at: 'status.currentMetrics[]', toHub: toHub('current'), fromHub: fromHub('current') },
]

/** `v2` added a tolerance. */
const tolerance: readonly Step[] = ['scaleUp', 'scaleDown'].map(
  (rules): Step => ({
    at: `spec.behavior.${rules}`,
    fromHub: (object, { lose }) => {
      if (object['tolerance'] !== undefined) lose('tolerance', 'this version has no tolerance')
      return replaced(object, 'tolerance', {})
    },
  }),
)

export const autoscaling: readonly FormerKind[] = [
  { group: 'autoscaling', kind: 'HorizontalPodAutoscaler', hub: 'v2', versions: { v2beta1: metrics, v2beta2: tolerance } },
]

import { type ApiObject, formatApiVersion, isJsonObject, type NamingProfile } from '@krmkit/meta'
import { type ConvertFactory, type Loose, omitUndefined } from '../../conversions/convert.ts'

/** Conversions that change a few members: endpoint slices, priority levels, budgets, reviews, subjects of bindings, runtime classes. */

type Change = (object: Loose, profile: NamingProfile) => Loose

function conversion(change: Change): ConvertFactory {
  return (to, profile) => {
    const apiVersion = formatApiVersion(to)
    return (object) => ({ ...change(object as Loose, profile), apiVersion }) as ApiObject
  }
}

/** A copy with one member changed, if it is an object. */
function at(object: Loose, name: string, change: (member: Loose) => Loose): Loose {
  const member = object[name]
  return isJsonObject(member) ? { ...object, [name]: change(member) } : object
}

function each(object: Loose, name: string, change: (member: Loose) => Loose): Loose {
  const list = object[name]
  return Array.isArray(list) ? { ...object, [name]: list.map((item) => (isJsonObject(item) ? change(item) : item)) } : object
}

function renamed(object: Loose, from: string, to: string): Loose {
  if (!Object.hasOwn(object, from)) return object
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name === from ? to : name, value]))
}

const zoneLabel = (domain: string) => `topology.${domain}/zone`
const hostLabel = (domain: string) => `${domain}/hostname`

/** The zone and the node are fields; what else the topology says is kept as `deprecatedTopology`. */
export const betaSliceToV1 = conversion((slice, { domain }) =>
  each(slice, 'endpoints', ({ topology, ...endpoint }) => {
    if (!isJsonObject(topology)) return endpoint
    const { [zoneLabel(domain)]: zone, ...others } = topology
    // The node may differ from the host: only an equal one is redundant.
    if (others[hostLabel(domain)] === endpoint.nodeName) delete others[hostLabel(domain)]
    const kept = Object.keys(others).length === 0 ? undefined : others
    return omitUndefined({ ...endpoint, deprecatedTopology: kept, zone: zone ?? endpoint.zone })
  }),
)

/** The reverse of {@link betaSliceToV1}. */
export const v1SliceToBeta = conversion((slice, { domain }) =>
  each(slice, 'endpoints', ({ deprecatedTopology, zone, ...endpoint }) => {
    const topology = omitUndefined({
      ...(endpoint.nodeName === undefined ? {} : { [hostLabel(domain)]: endpoint.nodeName }),
      ...(isJsonObject(deprecatedTopology) ? deprecatedTopology : {}),
      ...(zone === undefined ? {} : { [zoneLabel(domain)]: zone }),
    })
    return omitUndefined({ ...endpoint, topology: Object.keys(topology).length === 0 ? undefined : topology })
  }),
)

function inLimited(change: (limited: Loose) => Loose): Change {
  return (level) => at(level, 'spec', (spec) => at(spec, 'limited', change))
}

export const assuredLevelToV1 = conversion(
  inLimited((limited) => renamed(limited, 'assuredConcurrencyShares', 'nominalConcurrencyShares')),
)
export const v1LevelToAssured = conversion(
  inLimited((limited) => renamed(limited, 'nominalConcurrencyShares', 'assuredConcurrencyShares')),
)

/** In `v1beta3`, zero shares mean the default unless this annotation is present. */
const zeroShares = (apiDomain: string) => `flowcontrol.${apiDomain}/v1beta3-preserve-zero-concurrency-shares`

export const v1LevelToV1beta3 = conversion((level, { apiDomain }) => {
  const { spec } = level as { spec?: { limited?: { nominalConcurrencyShares?: number } } }
  if (spec?.limited?.nominalConcurrencyShares !== 0) return level
  return at(level, 'metadata', (metadata) => ({
    ...metadata,
    annotations: { ...(metadata.annotations as Loose), [zeroShares(apiDomain)]: '' },
  }))
})

export const v1beta3LevelToV1 = conversion((level, { apiDomain }) =>
  at(level, 'metadata', ({ annotations, ...metadata }) => {
    if (!isJsonObject(annotations) || !Object.hasOwn(annotations, zeroShares(apiDomain)))
      return omitUndefined({ ...metadata, annotations })
    const { [zeroShares(apiDomain)]: _, ...others } = annotations
    return Object.keys(others).length === 0 ? metadata : { ...metadata, annotations: others }
  }),
)

/**
 * An empty selector selects no pods in `policy/v1beta1` and all pods in `policy/v1`. Each version shows the meaning of the other one as
 * an expression over a label that no pod has.
 *
 * @see API protocol specification, 9.4
 */
const budgetLabel = (domain: string) => `pdb.${domain}/deprecated-v1beta1-empty-selector-match`

function selectorOf(operator: 'Exists' | 'DoesNotExist', domain: string): Loose {
  return { matchExpressions: [{ key: budgetLabel(domain), operator }] }
}

function isEmptySelector(selector: Loose): boolean {
  const { matchLabels, matchExpressions } = selector as { matchLabels?: object; matchExpressions?: unknown[] }
  return Object.keys(matchLabels ?? {}).length === 0 && (matchExpressions ?? []).length === 0
}

function isSelectorOf(selector: Loose, operator: string, domain: string): boolean {
  const { matchLabels, matchExpressions = [] } = selector as { matchLabels?: object; matchExpressions?: readonly Loose[] }
  const [only, ...others] = matchExpressions ?? []
  if (Object.keys(matchLabels ?? {}).length > 0 || others.length > 0) return false
  return only?.key === budgetLabel(domain) && only.operator === operator
}

function budget(empty: 'Exists' | 'DoesNotExist', full: 'Exists' | 'DoesNotExist'): ConvertFactory {
  return conversion((object, { domain }) =>
    at(object, 'spec', (spec) =>
      at(spec, 'selector', (selector) => {
        if (isEmptySelector(selector)) return selectorOf(empty, domain)
        return isSelectorOf(selector, full, domain) ? {} : selector
      }),
    ),
  )
}

export const betaBudgetToV1 = budget('Exists', 'DoesNotExist')
export const v1BudgetToBeta = budget('DoesNotExist', 'Exists')

export const betaReviewToV1 = conversion((review) => at(review, 'spec', (spec) => renamed(spec, 'group', 'groups')))
export const v1ReviewToBeta = conversion((review) => at(review, 'spec', (spec) => renamed(spec, 'groups', 'group')))

export const alphaBindingToV1 = conversion((binding, { apiDomain }) =>
  each(binding, 'subjects', ({ apiVersion: _, ...subject }) => {
    const isAccount = subject.kind === 'ServiceAccount'
    return { ...subject, ...(isAccount ? {} : { apiGroup: `rbac.authorization.${apiDomain}` }) }
  }),
)

export const v1BindingToAlpha = conversion((binding, { apiDomain }) =>
  each(binding, 'subjects', ({ apiGroup: _, ...subject }) => {
    const isAccount = subject.kind === 'ServiceAccount'
    return { ...subject, apiVersion: isAccount ? 'v1' : `rbac.authorization.${apiDomain}/v1alpha1` }
  }),
)

export const alphaRuntimeClassToV1 = conversion(({ spec, ...object }) => {
  const { runtimeHandler, overhead, scheduling } = (spec ?? {}) as Loose
  return omitUndefined({ ...object, handler: runtimeHandler, overhead, scheduling })
})

export const v1RuntimeClassToAlpha = conversion(({ handler, overhead, scheduling, ...object }) => ({
  ...object,
  spec: omitUndefined({ runtimeHandler: handler, overhead, scheduling }),
}))

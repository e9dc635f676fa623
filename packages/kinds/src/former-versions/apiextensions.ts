import { semanticEqual } from '../strategies/shared/equality.direct.ts'
import type { FormerKind } from './interfaces.ts'
import { defaults, filled, isLoose, isUnset, type Loose, type Rewrite, rename, renamed, type Step, without } from './shape.ts'

/**
 * CustomResourceDefinitions: what `v1beta1` says once at the top, `v1` says for each version.
 *
 * | `v1beta1` | `v1` |
 * |---|---|
 * | spec.version | spec.versions |
 * | spec.validation, spec.subresources, spec.additionalPrinterColumns | members of each version |
 * | JSONPath of a column | jsonPath |
 * | spec.conversion.webhookClientConfig, conversionReviewVersions | spec.conversion.webhook |
 * | scope and preserveUnknownFields that are not set | `Namespaced`, `true` |
 *
 * Towards `v1beta1`, what is equal in all versions moves to the top, which then holds it once; `v1beta1` allows it in one place only.
 *
 * @see API protocol specification, 9.4
 */

/** Name at the top -> name within a version. */
const movedMembers = {
  validation: 'schema',
  subresources: 'subresources',
  additionalPrinterColumns: 'additionalPrinterColumns',
  selectableFields: 'selectableFields',
} as const

const specToHub: Rewrite = (spec) => {
  const { version, versions } = spec
  const given = Array.isArray(versions) ? versions : []
  const list: readonly unknown[] =
    given.length > 0 || typeof version !== 'string' || version === '' ? given : [{ name: version, served: true, storage: true }]
  const top = Object.entries(movedMembers).filter(([name]) => !isUnset(spec[name]))
  const completed = list.map((each) => {
    if (!isLoose(each)) return each
    const added = top.filter(([, inner]) => isUnset(each[inner])).map(([name, inner]) => [inner, spec[name]])
    return added.length === 0 ? each : { ...each, ...Object.fromEntries(added) }
  })
  const hasVersions = 'versions' in spec
  const entries = Object.entries(spec).flatMap(([name, value]): [string, unknown][] => {
    if (name === 'versions' || (name === 'version' && !hasVersions)) return [['versions', completed]]
    return name === 'version' || Object.hasOwn(movedMembers, name) ? [] : [[name, value]]
  })
  return Object.fromEntries(entries)
}

const specFromHub: Rewrite = (spec) => {
  const list: readonly unknown[] = Array.isArray(spec['versions']) ? spec['versions'] : []
  const objects = list.filter(isLoose)
  const [first] = objects
  const hoisted = Object.entries(movedMembers).filter(([, inner]) =>
    objects.every((each) => semanticEqual(each[inner], first?.[inner])),
  )
  const inner = hoisted.map(([, name]) => name)
  return {
    ...spec,
    ...(isUnset(spec['preserveUnknownFields']) ? { preserveUnknownFields: false } : {}),
    ...(first?.['name'] === undefined ? {} : { version: first['name'] }),
    ...Object.fromEntries(hoisted.flatMap(([name, member]) => (isUnset(first?.[member]) ? [] : [[name, first?.[member]]]))),
    versions: list.map((each) => (isLoose(each) && inner.length > 0 ? without(each, ...inner) : each)),
  }
}

const conversionToHub: Rewrite = (conversion) => {
  const { webhookClientConfig, conversionReviewVersions, ...rest } = conversion
  if (isUnset(webhookClientConfig) && isUnset(conversionReviewVersions)) return rest
  const webhook: Loose = {
    ...(isUnset(webhookClientConfig) ? {} : { clientConfig: webhookClientConfig }),
    ...(isUnset(conversionReviewVersions) ? {} : { conversionReviewVersions }),
  }
  return { ...rest, webhook }
}

const conversionFromHub: Rewrite = ({ webhook, ...rest }) => {
  if (!isLoose(webhook)) return webhook === undefined ? rest : { ...rest, webhook }
  return { ...rest, ...renamed(webhook, { clientConfig: 'webhookClientConfig' }) }
}

const reviewVersions: Step = {
  at: 'spec.conversion',
  isDefaulting: true,
  toHub: (conversion) => {
    return conversion['strategy'] === 'Webhook' ? filled(conversion, { conversionReviewVersions: ['v1beta1'] }) : conversion
  },
}

const definition: readonly Step[] = [
  defaults('spec', { scope: 'Namespaced', preserveUnknownFields: true }),
  reviewVersions,
  { at: 'spec', toHub: specToHub, fromHub: specFromHub },
  rename('spec.versions[].additionalPrinterColumns[]', { JSONPath: 'jsonPath' }),
  { at: 'spec.conversion', toHub: conversionToHub, fromHub: conversionFromHub },
]

export const apiextensions: readonly FormerKind[] = [
  { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition', hub: 'v1', versions: { v1beta1: definition } },
  { group: 'apiextensions.k8s.io', kind: 'ConversionReview', hub: 'v1', versions: { v1beta1: [] } },
]

import { groupPriority, type ResourceDefinition, stockGroup } from '@krmkit/kinds'
import type { APIService } from '@krmkit/kinds/apiregistration/v1'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { isBuiltInGroup } from '../discovery/documents.ts'

/** The APIService objects of what this server serves itself. */

/** On objects that the server keeps: `true` for as long as the group version is served, `onstart` for those that always are. */
export const automanaged = 'kube-aggregator.kubernetes.io/automanaged'

export type ServiceSpec = NonNullable<DeepReadonly<APIService>['spec']>

export interface LocalService {
  readonly name: string
  readonly label: 'onstart' | 'true'
  readonly spec: {
    readonly group?: string
    readonly version: string
    readonly groupPriorityMinimum: number
    readonly versionPriority: number
  }
}

/** One for each group version; the group of these objects itself has none. */
export function localServices(
  definitions: readonly ResourceDefinition[],
  profile: NamingProfile,
): ReadonlyMap<string, LocalService> {
  const services = new Map<string, LocalService>()
  const own = `apiregistration.${profile.apiDomain}`
  for (const { group, version } of definitions) {
    const name = `${version}.${group}`
    if (group === own || services.has(name)) continue
    const builtIn = isBuiltInGroup(group, profile)
    const stock = stockGroup(group, profile)
    services.set(name, {
      name,
      label: builtIn ? 'onstart' : 'true',
      spec: {
        ...(group === '' ? {} : { group }),
        version,
        groupPriorityMinimum: groupPriority(stock),
        versionPriority: builtIn ? versionPriority(stock, version) : customVersionPriority,
      },
    })
  }
  return services
}

/** Versions of custom groups are all alike: they are ordered by their names. */
const customVersionPriority = 100

const stockVersionPriorities: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'autoscaling/v2beta2': 1,
  'admissionregistration.k8s.io/v1beta1': 12,
  'admissionregistration.k8s.io/v1alpha1': 9,
  'discovery.k8s.io/v1beta1': 12,
  'events.k8s.io/v1beta1': 5,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'flowcontrol.apiserver.k8s.io/v1beta3': 18,
  'internal.apiserver.k8s.io/v1alpha1': 9,
  'storagemigration.k8s.io/v1alpha1': 9,
}

function versionPriority(group: string, version: string): number {
  const known = `${group}/${version}`
  if (Object.hasOwn(stockVersionPriorities, known)) return stockVersionPriorities[known] as number
  return version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15
}

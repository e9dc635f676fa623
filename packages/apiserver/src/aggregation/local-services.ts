import type { ResourceDefinition } from '@krmkit/kinds'
import type { APIService } from '@krmkit/kinds/apiregistration/v1'
import { groupPriority, stockGroup } from '@krmkit/kinds/groups'
import type { DeepReadonly, NamingProfile } from '@krmkit/meta'
import { isBuiltInGroup } from '../discovery/documents.ts'

/** The APIService objects of group versions that this server serves. */

/** Label of automatically registered objects: `onstart` for built-in groups, `true` for groups of custom resources. */
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

/** One APIService for each group version, except for the group of APIService itself. */
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

/** Shared by all versions of custom groups, which are ordered by name. */
const customVersionPriority = 100

const stockVersionPriorities: Readonly<Record<string, number>> = {
  '/v1': 1,
  'autoscaling/v2': 30,
  'autoscaling/v2beta2': 1,
  'admissionregistration.k8s.io/v1beta1': 12,
  'admissionregistration.k8s.io/v1alpha1': 9,
  'coordination.k8s.io/v1beta1': 13,
  'coordination.k8s.io/v1alpha2': 12,
  'discovery.k8s.io/v1beta1': 12,
  'events.k8s.io/v1beta1': 5,
  'extensions/v1beta1': 1,
  'flowcontrol.apiserver.k8s.io/v1': 21,
  'flowcontrol.apiserver.k8s.io/v1beta3': 18,
  'flowcontrol.apiserver.k8s.io/v1beta2': 15,
  'flowcontrol.apiserver.k8s.io/v1beta1': 12,
  'flowcontrol.apiserver.k8s.io/v1alpha1': 9,
  'internal.apiserver.k8s.io/v1alpha1': 9,
  'resource.k8s.io/v1beta2': 15,
  'storagemigration.k8s.io/v1alpha1': 9,
}

function versionPriority(group: string, version: string): number {
  const name = `${group}/${version}`
  if (Object.hasOwn(stockVersionPriorities, name)) return stockVersionPriorities[name] as number
  return version.includes('alpha') ? 1 : version.includes('beta') ? 9 : 15
}

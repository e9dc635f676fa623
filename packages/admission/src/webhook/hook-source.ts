import type { ApiObject, DeepReadonly, Features, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { AdmissionAttributes, AdmissionContext, ObjectReader } from '../interfaces.ts'
import { reviewResources } from '../review-resources.ts'
import { HookTable } from './hook-table.ts'

export interface HookSourceOptions {
  readonly profile: NamingProfile
  /** Absent: of the default release. */
  readonly features?: Features | undefined
}

/** The webhook configurations of one kind. A request sees every configuration that was stored before it. */
export class HookSource {
  readonly #resource: { readonly group: string; readonly resource: string }
  /** Reviews, where they are excluded. */
  readonly #reviews: ReadonlySet<string>
  #configurations: readonly DeepReadonly<ApiObject>[] = []
  #table = new HookTable([])

  constructor(resource: string, { profile, features }: HookSourceOptions) {
    this.#resource = { group: `admissionregistration.${profile.apiDomain}`, resource }
    const isWithoutReviews = features !== undefined && gateEnabled('ExcludeAdmissionWebhookVirtualResources', features)
    this.#reviews = new Set(isWithoutReviews ? reviewResources(profile) : [])
  }

  /** The current webhooks, rebuilt only when a configuration has changed. Asynchronous until the configurations are cached. */
  table({ reader }: AdmissionContext): HookTable | Promise<HookTable> {
    const cached = reader.listNow?.(this.#resource)
    return cached === undefined ? this.#read(reader) : this.#tableOf(cached)
  }

  async #read(reader: ObjectReader): Promise<HookTable> {
    return this.#tableOf(await reader.list(this.#resource))
  }

  #tableOf(configurations: readonly DeepReadonly<ApiObject>[]): HookTable {
    if (!same(configurations, this.#configurations)) {
      this.#table = new HookTable(configurations)
      this.#configurations = configurations
    }
    return this.#table
  }

  /**
   * Webhooks are not called for webhook and policy configurations, since a broken one could then block its own repair, and from 1.37 on not
   * for reviews of authentication and authorization.
   */
  exempts({ resource }: Pick<AdmissionAttributes, 'resource'>): boolean {
    if (resource.group === this.#resource.group) return exempt.has(resource.resource)
    return this.#reviews.size > 0 && this.#reviews.has(`${resource.group}/${resource.resource}`)
  }
}

const exempt: ReadonlySet<string> = new Set([
  'validatingwebhookconfigurations',
  'mutatingwebhookconfigurations',
  'validatingadmissionpolicies',
  'validatingadmissionpolicybindings',
  'mutatingadmissionpolicies',
  'mutatingadmissionpolicybindings',
])

function same(a: readonly DeepReadonly<ApiObject>[], b: readonly DeepReadonly<ApiObject>[]): boolean {
  if (a === b) return true
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i] && !sameVersion(a[i]?.metadata, b[i]?.metadata)) return false
  return true
}

/** Whether both are the same version of the same object. */
function sameVersion(
  a: DeepReadonly<ApiObject>['metadata'] | undefined,
  b: DeepReadonly<ApiObject>['metadata'] | undefined,
): boolean {
  const version = a?.resourceVersion ?? ''
  return version !== '' && version === b?.resourceVersion && a?.uid === b?.uid
}

import type { ApiObject, DeepReadonly, Features, NamingProfile } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { AdmissionAttributes, AdmissionContext, ObjectReader } from '../interfaces.ts'
import type { StaticObjects } from '../manifests/static-objects.ts'
import { reviewResources } from '../review-resources.ts'
import { HookTable } from './hook-table.ts'

export interface HookSourceOptions {
  readonly profile: NamingProfile
  /** Absent: of the default release. */
  readonly features?: Features | undefined
  readonly manifests?: StaticObjects | undefined
}

/** The webhook configurations of one kind. A request sees every configuration that was stored before it. */
export class HookSource {
  readonly #resource: { readonly group: string; readonly resource: string }
  /** Reviews, where they are excluded. */
  readonly #reviews: ReadonlySet<string>
  readonly #manifests: StaticObjects | undefined
  #static: readonly DeepReadonly<ApiObject>[] = []
  #staticTable = new HookTable([])
  #configurations: readonly DeepReadonly<ApiObject>[] = []
  #table = new HookTable([])

  constructor(resource: string, { profile, features, manifests }: HookSourceOptions) {
    this.#resource = { group: `admissionregistration.${profile.apiDomain}`, resource }
    const isWithoutReviews = features !== undefined && gateEnabled('ExcludeAdmissionWebhookVirtualResources', features)
    this.#manifests = manifests
    this.#reviews = new Set(isWithoutReviews ? reviewResources(profile) : [])
  }

  /**
   * The current webhooks for a target, rebuilt only when a configuration has changed: those of files before those of the API. Asynchronous
   * until the configurations are cached.
   */
  table(target: Target, { reader }: AdmissionContext): HookTable | Promise<HookTable> {
    this.#readManifests()
    if (this.#isConfiguration(target)) return this.#staticTable
    const cached = reader.listNow?.(this.#resource)
    return cached === undefined ? this.#read(reader) : this.#tableOf(cached)
  }

  async #read(reader: ObjectReader): Promise<HookTable> {
    return this.#tableOf(await reader.list(this.#resource))
  }

  /** After a change of the files, all tables are made anew. */
  #readManifests(): void {
    const found = this.#manifests?.list(this.#resource.resource)
    if (found === undefined || found === this.#static) return
    this.#static = found
    this.#staticTable = new HookTable([], found)
    this.#table = new HookTable(this.#configurations, found)
  }

  #tableOf(configurations: readonly DeepReadonly<ApiObject>[]): HookTable {
    if (!same(configurations, this.#configurations)) {
      this.#table = new HookTable(configurations, this.#static)
      this.#configurations = configurations
    }
    return this.#table
  }

  /**
   * Whether webhooks may be called for a target. Those of the API are not called for webhook and policy configurations, since a broken one
   * could then block its own repair. From 1.37 on, no webhook is called for reviews of authentication and authorization.
   */
  handles(target: Target): boolean {
    if (this.#isConfiguration(target)) return this.#manifests !== undefined
    const { group, resource } = target.resource
    return this.#reviews.size === 0 || !this.#reviews.has(`${group}/${resource}`)
  }

  #isConfiguration({ resource }: Target): boolean {
    return resource.group === this.#resource.group && configurations.has(resource.resource)
  }
}

type Target = Pick<AdmissionAttributes, 'resource'>

const configurations: ReadonlySet<string> = new Set([
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

import type { APIService } from '@krmkit/kinds/apiregistration/v1'
import { ApiError, type ApiObject, type DeepReadonly, type NamingProfile } from '@krmkit/meta'
import type { Registry, ResourceStore, WriteContext } from '@krmkit/registry'
import { automanaged, type LocalService, localServices } from './local-services.ts'

type Service = DeepReadonly<APIService>

export interface AutoregisterOptions {
  readonly registry: Registry
  readonly profile: NamingProfile
  /** The store of APIService objects. */
  readonly services: ResourceStore
  readonly context: WriteContext
  /** The current object of a name. */
  readonly get: (name: string) => Service | undefined
  /** Names of all current objects. */
  readonly names: () => readonly string[]
  /** Called with the result of a write, before its watch event arrives. */
  readonly onStored: (service: Service) => void
  readonly onDeleted: (name: string) => void
}

/**
 * Creates an APIService object for each group version that this server serves and that is not assigned to another server, and deletes those
 * of group versions that are no longer served. All servers over one store maintain the same objects.
 */
export class Autoregister {
  readonly #options: AutoregisterOptions

  constructor(options: AutoregisterOptions) {
    this.#options = options
  }

  async sync(): Promise<void> {
    const { registry, profile, services, context, get, names, onDeleted } = this.#options
    const wanted = localServices(registry.definitions, profile)
    for (const service of wanted.values()) await this.#ensure(service)
    for (const name of names()) {
      if (wanted.has(name) || get(name)?.metadata.labels?.[automanaged] === undefined) continue
      await ignoreRaces(async () => {
        await services.delete(context, { namespace: '', name, options: {} })
        onDeleted(name)
      })
    }
  }

  async #ensure({ name, label, spec }: LocalService): Promise<void> {
    const { services, context, get, onStored } = this.#options
    const { group, version, kind } = services.definition
    const before = get(name)
    const labels = { [automanaged]: label }
    if (before === undefined) {
      const object = { apiVersion: `${group}/${version}`, kind: kind.kind, metadata: { name, labels }, spec }
      await ignoreRaces(async () => {
        const stored = await services.create(context, { namespace: '', object: object as unknown as ApiObject })
        onStored(stored.object as unknown as Service)
      })
      return
    }
    // An object without the label, or assigned to another server, is managed by users.
    if (before.metadata.labels?.[automanaged] === undefined || sameSpec(before.spec, spec)) return
    await ignoreRaces(async () => {
      const { object } = await services.updateStored(context, {
        namespace: '',
        name,
        subresource: '',
        change: (current) => ({ ...(structuredClone(current) as ApiObject), spec: { ...spec } }) as ApiObject,
      })
      onStored(object as unknown as Service)
    })
  }
}

/** Ignores conflicts with another server over the same store that wrote first. */
export async function ignoreRaces(work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!ApiError.is(error) || !['AlreadyExists', 'Conflict', 'NotFound'].includes(error.reason)) throw error
  }
}

function sameSpec(a: Service['spec'], b: LocalService['spec']): boolean {
  return (
    a?.service === undefined &&
    (a?.group ?? '') === (b.group ?? '') &&
    a?.version === b.version &&
    a.groupPriorityMinimum === b.groupPriorityMinimum &&
    a.versionPriority === b.versionPriority
  )
}

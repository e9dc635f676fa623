import type { ResourceDefinition } from '@krmkit/kinds'
import type { APIService } from '@krmkit/kinds/apiregistration/v1'
import { ApiError, type ApiObject, type DeepReadonly } from '@krmkit/meta'
import { createObject, deleteObject, type Registry, updateObject, type WriteContext } from '@krmkit/registry'
import { withDefaults } from '../request-body.ts'
import { automanaged, type LocalService, localServices } from './local-services.ts'

type Service = DeepReadonly<APIService>

export interface KeeperOptions {
  readonly registry: Registry
  readonly own: ResourceDefinition
  readonly context: WriteContext
  /** The objects that there are, by name. */
  readonly known: (name: string) => Service | undefined
  readonly names: () => readonly string[]
  /** Told of what was stored or deleted, before a watch tells. */
  readonly onStored: (service: Service) => void
  readonly onDeleted: (name: string) => void
}

/**
 * Keeps objects for all that is served here and that nobody gave to another server; those of what is not served any more go. A second
 * server over the same store keeps the same objects.
 */
export class Autoregister {
  readonly #options: KeeperOptions

  constructor(options: KeeperOptions) {
    this.#options = options
  }

  async keep(): Promise<void> {
    const { registry, own, context, known, names, onDeleted } = this.#options
    const wanted = localServices(registry.definitions, registry.environment.profile)
    for (const each of wanted.values()) await this.#ensure(each)
    for (const name of names()) {
      if (wanted.has(name) || known(name)?.metadata.labels?.[automanaged] === undefined) continue
      await ignoringRaces(async () => {
        await deleteObject(registry, own, context, { namespace: '', name, options: {} })
        onDeleted(name)
      })
    }
  }

  async #ensure({ name, label, spec }: LocalService): Promise<void> {
    const { registry, own, context, known, onStored } = this.#options
    const before = known(name)
    const labels = { [automanaged]: label }
    if (before === undefined) {
      const object = { apiVersion: `${own.group}/${own.version}`, kind: own.kind.kind, metadata: { name, labels }, spec }
      await ignoringRaces(async () => {
        const given = withDefaults(object as unknown as ApiObject, own, registry.environment.profile)
        const stored = await createObject(registry, own, context, { namespace: '', object: given })
        onStored(stored.object as unknown as Service)
      })
      return
    }
    // Somebody took the label away, or gave the group version to another server: it is theirs.
    if (before.metadata.labels?.[automanaged] === undefined || sameSpec(before.spec, spec)) return
    await ignoringRaces(async () => {
      const { object } = await updateObject(registry, own, context, {
        namespace: '',
        name,
        subresource: '',
        change: (current) => ({ ...(structuredClone(current) as ApiObject), spec: { ...spec } }) as ApiObject,
      })
      onStored(object as unknown as Service)
    })
  }
}

/** Another server over the same store may have been first. */
export async function ignoringRaces(work: () => Promise<void>): Promise<void> {
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

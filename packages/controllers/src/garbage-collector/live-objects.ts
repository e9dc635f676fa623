import type { Client } from '@krmkit/client'
import { ApiError, type ApiObject } from '@krmkit/meta'
import { ControllersError } from '../controllers-error.ts'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { DiscoveredResource } from '../framework/discovery.ts'
import type { Monitors } from '../framework/monitors.ts'
import type { Identity } from './node.ts'

const conflictTries = 5

export interface LiveObjectsOptions {
  /** Client that returns only metadata. */
  readonly client: Client
  readonly monitors: Monitors
  readonly fieldManager: string
  readonly signal: AbortSignal
}

/** Reads and changes the metadata of live objects of any kind. */
export class LiveObjects {
  readonly #options: LiveObjectsOptions

  constructor(options: LiveObjectsOptions) {
    this.#options = options
  }

  /** @throws ControllersError `UnknownKind` for a kind that is not served */
  async resourceOf(identity: Pick<Identity, 'apiVersion' | 'kind'>): Promise<DiscoveredResource> {
    const { apiVersion, kind } = identity
    const resource = (await this.#options.monitors.discovered()).ofKind(apiVersion, kind)
    if (resource !== undefined) return resource
    throw new ControllersError({ code: 'UnknownKind', message: `no resource is served for ${kind} of ${apiVersion}` })
  }

  /** Returns the live object, if it exists. */
  async get(identity: Identity): Promise<ApiObject | undefined> {
    const { client, signal } = this.#options
    const resource = await this.resourceOf(identity)
    return ignoreNotFound(client.get(resource, identity.name, { namespace: identity.namespace, signal }))
  }

  async delete(
    identity: Identity,
    options: { readonly uid: string; readonly resourceVersion?: string; readonly policy: 'Orphan' | 'Background' | 'Foreground' },
  ): Promise<void> {
    const { client, signal } = this.#options
    const { policy, ...preconditions } = options
    const resource = await this.resourceOf(identity)
    const { name, namespace } = identity
    await ignoreNotFound(client.delete(resource, name, { namespace, signal, propagationPolicy: policy, preconditions }))
  }

  /**
   * Changes the metadata of the object with a uid. `change` returns the fields to set, or undefined for no change; after a
   * conflict it is called again with the new live object.
   */
  async change(
    identity: Identity,
    uid: string,
    change: (metadata: ApiObject['metadata']) => Pick<ApiObject['metadata'], 'finalizers' | 'ownerReferences'> | undefined,
  ): Promise<void> {
    const { client, signal, fieldManager } = this.#options
    const { name, namespace } = identity
    const resource = await this.resourceOf(identity)
    for (let tries = 1; ; tries++) {
      const live = await this.get(identity)
      if (live === undefined || live.metadata.uid !== uid) return
      const wanted = change(live.metadata)
      if (wanted === undefined) return
      const { resourceVersion = '' } = live.metadata
      const metadata = { uid, resourceVersion, ...emptyAsNull(wanted) }
      try {
        await ignoreNotFound(
          client.patch(resource, name, { type: 'merge', patch: { metadata }, namespace, signal, fieldManager }),
        )
        return
      } catch (error) {
        if (tries === conflictTries || !(ApiError.is(error) && error.reason === 'Conflict')) throw error
      }
    }
  }
}

function emptyAsNull(members: Pick<ApiObject['metadata'], 'finalizers' | 'ownerReferences'>) {
  const { finalizers, ownerReferences } = members
  return {
    ...(finalizers === undefined ? {} : { finalizers: finalizers.length === 0 ? null : finalizers }),
    ...(ownerReferences === undefined
      ? {}
      : { ownerReferences: ownerReferences.length === 0 ? null : ownerReferences.map((reference) => ({ ...reference })) }),
  }
}

import type { Informer } from '@krmkit/client'
import { ignoreNotFound } from '../framework/api-errors.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import type { ControllerContext } from '../interfaces.ts'
import { isNamespaceTerminating } from '../workloads/pod-control.ts'
import { type EndpointSlice, endpointSlices, type ReadonlySlice, sliceLabelsOf } from './objects.ts'
import type { SlicePlan } from './plan.ts'

/** A write whose event the informer has not delivered yet. */
type Pending = { readonly kind: 'created' | 'deleted' } | { readonly kind: 'updated'; readonly replacedVersion: string }

/** The slices of one controller by service, and the writes that the informer has not delivered yet. */
export class SliceStore {
  readonly #context: ControllerContext
  readonly #informer: Informer<EndpointSlice>
  readonly #index: ObjectIndex<EndpointSlice>
  readonly #managedBy: string
  /** By service and uid. */
  readonly #pending = new Map<string, Map<string, Pending>>()

  /** @param managedBy value of the label with which the controller marks its slices */
  constructor(context: ControllerContext, managedBy: string) {
    const labels = sliceLabelsOf(context.profile)
    this.#context = context
    this.#managedBy = managedBy
    this.#informer = context.informers.of(endpointSlices)
    this.#index = context.informers.index(endpointSlices, 'service', ({ metadata }) => [
      `${metadata.labels?.[labels.managedBy] ?? ''}/${metadata.namespace}/${metadata.labels?.[labels.service] ?? ''}`,
    ])
  }

  /** @param changed called with the key of the service of a slice */
  subscribe(changed: (key: string) => void): () => void {
    const labels = sliceLabelsOf(this.#context.profile)
    const report = ({ metadata }: ReadonlySlice) => {
      const service = metadata.labels?.[labels.service]
      if (service !== undefined && metadata.labels?.[labels.managedBy] === this.#managedBy)
        changed(`${metadata.namespace ?? ''}/${service}`)
    }
    return this.#informer.on({
      added: report,
      updated(slice, previous) {
        report(previous)
        report(slice)
      },
      deleted: (slice) => {
        for (const pending of this.#pending.values()) pending.delete(slice.metadata.uid ?? '')
        report(slice)
      },
    })
  }

  async synced(): Promise<void> {
    if (!this.#informer.hasSynced) await this.#informer.synced
  }

  /** Returns the slices of a service that are not being deleted; undefined until the informer has delivered all writes. */
  of(key: string): readonly ReadonlySlice[] | undefined {
    const slices = this.#index.get(`${this.#managedBy}/${key}`)
    const byUid = new Map(slices.map((slice) => [slice.metadata.uid ?? '', slice]))
    for (const [uid, pending] of this.#pending.get(key) ?? []) {
      const slice = byUid.get(uid)
      const isStale =
        pending.kind === 'updated'
          ? slice?.metadata.resourceVersion === pending.replacedVersion
          : (slice === undefined) === (pending.kind === 'created')
      if (isStale) return undefined
    }
    this.#pending.delete(key)
    return slices.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  }

  /** Carries out a plan. @param mayCreate whether new slices may be created */
  async apply(key: string, plan: SlicePlan, { mayCreate }: { readonly mayCreate: boolean }): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    const pending = this.#pending.get(key) ?? new Map<string, Pending>()
    if (plan.create.length + plan.update.length + plan.delete.length > 0) this.#pending.set(key, pending)
    for (const slice of mayCreate ? plan.create : []) {
      try {
        const { metadata } = await client.create(endpointSlices, slice, { fieldManager, signal })
        const { name = '', namespace = '', uid = '' } = metadata
        if (this.#informer.get(name, namespace) === undefined) pending.set(uid, { kind: 'created' })
      } catch (error) {
        if (isNamespaceTerminating(error)) return
        throw error
      }
    }
    for (const slice of plan.update) {
      const { uid = '', resourceVersion = '' } = slice.metadata
      await client.update(endpointSlices, slice, { fieldManager, signal })
      pending.set(uid, { kind: 'updated', replacedVersion: resourceVersion })
    }
    for (const { metadata } of plan.delete) {
      const { name = '', namespace = '', uid = '' } = metadata
      await ignoreNotFound(client.delete(endpointSlices, name, { namespace, signal }))
      if (this.#informer.get(name, namespace)?.metadata.uid === uid) pending.set(uid, { kind: 'deleted' })
    }
  }
}

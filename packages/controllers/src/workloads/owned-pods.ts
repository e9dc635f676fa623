import type { Informer, ResourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { LabelSelector } from '@krmkit/meta/selectors'
import { controllerOf } from '@krmkit/meta/validation'
import { sameJson } from '../framework/same-json.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import type { ControllerContext } from '../interfaces.ts'
import { type ClaimOptions, claim } from './claims.ts'
import { type Pod, pods, queueKey, type ReadonlyPod } from './objects.ts'

export interface OwnedPodsOptions<O extends ApiObject> {
  readonly context: ControllerContext
  readonly owners: Informer<O>
  readonly resource: ResourceType<O>
  /** Undefined: the owner selects no pods. */
  selectorOf(owner: DeepReadonly<O>): LabelSelector | undefined
  /** Called with the owner of a pod that changed, or with each owner that may adopt the pod. */
  changed(owner: DeepReadonly<O>): void
  /** Called when a pod of an owner appeared. */
  created?(key: string, pod: ReadonlyPod): void
  /** Called when a pod of an owner began to terminate, or is gone. */
  deleted?(key: string, pod: ReadonlyPod): void
  /** Called for each change of a pod of an owner. */
  updated?(key: string, pod: ReadonlyPod, previous: ReadonlyPod): void
}

/** Returns the index of pods: by the uid of their controller, or by `orphan/NAMESPACE` without one. */
export function podsByController({ informers }: ControllerContext): ObjectIndex<Pod> {
  return informers.index(pods, 'controller', byController)
}

/** Index function: the uid of the controller of an object, or `orphan/NAMESPACE` without a controller. */
export function byController({ metadata }: DeepReadonly<ApiObject>): readonly string[] {
  return [controllerOf(metadata.ownerReferences)?.uid ?? orphansOf(metadata.namespace)]
}

export const orphansOf = (namespace = ''): string => `orphan/${namespace}`

/** Finds the pods of owners of one kind by index, and reports changes of these pods. */
export class OwnedPods<O extends ApiObject> {
  readonly informer: Informer<Pod>
  readonly #options: OwnedPodsOptions<O>
  readonly #index: ObjectIndex<Pod>

  constructor(options: OwnedPodsOptions<O>) {
    this.#options = options
    this.informer = options.context.informers.of(pods)
    this.#index = podsByController(options.context)
  }

  /** Starts reporting changes. @returns a function that unsubscribes */
  subscribe(): () => void {
    return this.informer.on({
      added: (pod) => this.#added(pod),
      updated: (pod, previous) => this.#updated(pod, previous),
      deleted: (pod) => this.#deleted(pod),
    })
  }

  /** Resolves when owners and pods are listed. */
  async synced(): Promise<void> {
    if (!this.informer.hasSynced) await this.informer.synced
    if (!this.#options.owners.hasSynced) await this.#options.owners.synced
  }

  /** Returns the pods that an owner controls. */
  of(owner: DeepReadonly<ApiObject>): readonly ReadonlyPod[] {
    return this.#index.get(owner.metadata.uid ?? '')
  }

  /** Returns the pods of an owner among those that `filter` accepts, after adoption and release. */
  claim(
    owner: DeepReadonly<O>,
    filter: (pod: ReadonlyPod) => boolean = () => true,
    options: Pick<ClaimOptions<Pod>, 'accepts' | 'finalizer'> = {},
  ): Promise<ReadonlyPod[]> {
    const { context, resource, selectorOf } = this.#options
    const selector = selectorOf(owner)
    if (selector === undefined) return Promise.resolve([])
    const { metadata } = owner as DeepReadonly<ApiObject>
    const candidates = [...this.of(owner as DeepReadonly<ApiObject>), ...this.#index.get(orphansOf(metadata.namespace))]
    return claim(owner as DeepReadonly<ApiObject>, candidates.filter(filter), {
      context,
      ownerResource: resource as ResourceType,
      resource: pods,
      selector,
      ...options,
    })
  }

  #added(pod: ReadonlyPod): void {
    if (pod.metadata.deletionTimestamp !== undefined) {
      this.#deleted(pod)
      return
    }
    const owner = this.#ownerOf(pod)
    if (owner === undefined) {
      this.#offer(pod)
      return
    }
    this.#options.created?.(queueKey(owner as DeepReadonly<ApiObject>), pod)
    this.#options.changed(owner)
  }

  #updated(pod: ReadonlyPod, previous: ReadonlyPod): void {
    const { changed, deleted, updated } = this.#options
    const before = this.#ownerOf(previous)
    const owner = this.#ownerOf(pod)
    if (before !== undefined && before !== owner) changed(before)
    if (owner !== undefined) {
      const key = queueKey(owner as DeepReadonly<ApiObject>)
      if (pod.metadata.deletionTimestamp !== undefined) deleted?.(key, pod)
      updated?.(key, pod, previous)
      changed(owner)
    } else if (
      !sameJson(pod.metadata.labels ?? {}, previous.metadata.labels ?? {}) ||
      controllerOf(previous.metadata.ownerReferences) !== undefined
    ) {
      this.#offer(pod)
    }
  }

  #deleted(pod: ReadonlyPod): void {
    const owner = this.#ownerOf(pod)
    if (owner === undefined) return
    this.#options.deleted?.(queueKey(owner as DeepReadonly<ApiObject>), pod)
    this.#options.changed(owner)
  }

  #ownerOf({ metadata }: ReadonlyPod): DeepReadonly<O> | undefined {
    const { owners, resource } = this.#options
    const reference = controllerOf(metadata.ownerReferences)
    if (reference?.kind !== resource.kind) return undefined
    const owner = owners.get(reference.name, metadata.namespace ?? '')
    return (owner as DeepReadonly<ApiObject> | undefined)?.metadata.uid === reference.uid ? owner : undefined
  }

  /** Reports a pod without a controller to the owners that select it. */
  #offer({ metadata }: ReadonlyPod): void {
    if (controllerOf(metadata.ownerReferences) !== undefined) return
    const { owners, selectorOf, changed } = this.#options
    for (const owner of owners.list({ namespace: metadata.namespace ?? '' }))
      if (selectorOf(owner)?.matches(metadata.labels ?? {})) changed(owner)
  }
}

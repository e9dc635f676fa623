import { isEmptyObject } from '@krmkit/base/work'
import type { Informer } from '@krmkit/client'
import { ApiError } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import { labelSelectorFromObject } from '@krmkit/meta/selectors'
import { controllerOf } from '@krmkit/meta/validation'
import { errorText, ObjectEvents } from '../events/object-events.ts'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { sameJson } from '../framework/same-json.ts'
import type { ObjectIndex } from '../framework/shared-informers.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { mergeMaps, sameMaps } from '../workloads/merge-maps.ts'
import { type Pod, pods, type ReadonlyPod } from '../workloads/objects.ts'
import { byController, orphansOf, podsByController } from '../workloads/owned-pods.ts'
import { isNamespaceTerminating } from '../workloads/pod-control.ts'
import { isFinished } from '../workloads/pod-state.ts'
import { claimSets } from './claim-replica-sets.ts'
import {
  type AnnotationKeys,
  actualReplicas,
  annotationKeysOf,
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  deployments,
  desiredReplicas,
  isRolling,
  type ReadonlyDeployment,
  type ReadonlyReplicaSet,
  type ReplicaSet,
  replicaSets,
} from './objects.ts'
import {
  buildReplicaSet,
  findNewSet,
  newestRevision,
  replicaAnnotations,
  revisionOf,
  sameTemplate,
  withRevision,
} from './replica-set-template.ts'
import { requestedRollback, rollBackTo } from './rollback.ts'
import {
  type DeploymentReplicaSets,
  isScalingEvent,
  newSetReplicas,
  oldSetTargets,
  type ScaleTarget,
  scalingTargets,
  setsToCleanUp,
} from './scaling.ts'
import {
  conditionOf,
  countStatus,
  deadlineMs,
  hasDeadline,
  isComplete,
  rolloutStatus,
  type StatusOptions,
  withCondition,
} from './status.ts'

/**
 * Rolls out deployments: creates one replica set per template and moves replicas from the old sets to the new one as the strategy
 * allows. Does not create pods.
 */
export const deploymentController: Controller = {
  name: 'deployment-controller',
  start: (context) => disposeSubscriptions(new DeploymentController(context).subscriptions),
}

class DeploymentController {
  readonly #context: ControllerContext
  readonly #annotationKeys: AnnotationKeys
  readonly #deployments: Informer<Deployment>
  readonly #events: ObjectEvents<Deployment>
  readonly #sets: Informer<ReplicaSet>
  readonly #setsByController: ObjectIndex<ReplicaSet>
  readonly #enqueue: (deployment: ReadonlyDeployment) => void
  readonly subscriptions: (() => void)[]
  #pods: ObjectIndex<Pod> | undefined

  constructor(context: ControllerContext) {
    this.#context = context
    this.#annotationKeys = annotationKeysOf(context.profile)
    this.#events = new ObjectEvents(context, deployments, 'deployment-controller')
    this.#deployments = context.informers.of(deployments)
    this.#sets = context.informers.of(replicaSets)
    this.#setsByController = context.informers.index(replicaSets, 'controller', byController)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), rateLimit: context.rateLimit })
    const enqueue = ({ metadata: { namespace, name } }: ReadonlyDeployment) => queue.add(`${namespace}/${name}`)
    this.#enqueue = enqueue
    const enqueueOwnersOf = (set: ReadonlyReplicaSet) => {
      for (const deployment of this.#ownersOf(set)) enqueue(deployment)
    }
    this.subscriptions = [
      this.#deployments.on({ added: enqueue, updated: enqueue }),
      this.#sets.on({
        added: enqueueOwnersOf,
        updated(set, before) {
          enqueueOwnersOf(set)
          if (controllerOf(before.metadata.ownerReferences)?.uid !== controllerOf(set.metadata.ownerReferences)?.uid)
            enqueueOwnersOf(before)
        },
        deleted: enqueueOwnersOf,
      }),
    ]
  }

  /** Returns the deployment that controls a set, or those that may adopt it. */
  #ownersOf(set: ReadonlyReplicaSet): readonly ReadonlyDeployment[] {
    const { namespace = '', ownerReferences, labels = {} } = set.metadata
    const owner = controllerOf(ownerReferences)
    if (owner !== undefined) {
      const deployment = owner.kind === 'Deployment' ? this.#deployments.get(owner.name, namespace) : undefined
      return deployment?.metadata.uid === owner.uid ? [deployment] : []
    }
    return this.#deployments.list({ namespace }).filter(({ spec }) => {
      return !isEmptySelector(spec?.selector) && labelSelectorFromObject(spec?.selector ?? {}).matches(labels)
    })
  }

  /** Returns the sets that a deployment controls, and those of its namespace without a controller. */
  #candidates({ metadata }: ReadonlyDeployment): readonly ReadonlyReplicaSet[] {
    return [...this.#setsByController.get(metadata.uid ?? ''), ...this.#setsByController.get(orphansOf(metadata.namespace))]
  }

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    if (!this.#sets.hasSynced) await this.#sets.synced
    const [namespace = '', name = ''] = key.split('/')
    const known = this.#deployments.get(name, namespace)
    if (known === undefined) return undefined
    if (isEmptySelector(known.spec?.selector)) {
      const message = 'This deployment is selecting all pods. A non-empty selector is required.'
      this.#events.warning(known, 'SelectingAll', message)
      const observedGeneration = known.metadata.generation ?? 0
      await this.#writeStatus(known, { ...(known.status as DeploymentStatus), observedGeneration })
      return undefined
    }
    const claimed = await claimSets(known, this.#candidates(known), this.#context)
    if (known.metadata.deletionTimestamp !== undefined) {
      await this.#writeStatus(known, countStatus(known, await split(known, claimed), this.#statusOptions()))
      return undefined
    }
    const deployment = await this.#recordPause(known)
    const status = await this.#rollOut(deployment, claimed)
    const deadline = deadlineMs(deployment, status)
    return deadline === undefined ? undefined : { requeueAfterMs: Math.max(1, deadline - this.#context.clock.now() + 1) }
  }

  async #rollOut(known: ReadonlyDeployment, claimed: readonly ReadonlyReplicaSet[]): Promise<ReadonlyDeployment['status']> {
    const present = await split(known, claimed)
    const targetRevision = known.spec?.paused === true ? undefined : requestedRollback(known, this.#annotationKeys)
    if (targetRevision !== undefined) return this.#rollBack(known, present, targetRevision)
    const isFixed = known.spec?.paused === true || isScalingEvent(known, present, this.#annotationKeys)
    const { deployment, sets } = await this.#withRevisions(known, present, { create: !isFixed && isRolling(known) })
    if (isFixed) {
      await this.#scaleAll(deployment, scalingTargets(deployment, sets, this.#annotationKeys))
      if (deployment.spec?.paused === true) await this.#cleanUp(deployment, sets)
      return this.#writeStatus(deployment, countStatus(deployment, sets, this.#statusOptions()))
    }
    if (!isRolling(deployment)) return this.#recreate(deployment, sets)
    const { current } = sets
    if (current !== undefined) {
      const target = { set: current, replicas: newSetReplicas(deployment, { ...sets, current }) }
      const grows = target.replicas !== desiredReplicas(current)
      await this.#scaleAll(deployment, grows ? [target] : oldSetTargets(deployment, { ...sets, current }))
    }
    return this.#finish(deployment, sets)
  }

  /** Writes the template of an earlier revision, which is then rolled out like any other change. */
  async #rollBack(
    known: ReadonlyDeployment,
    present: DeploymentReplicaSets,
    targetRevision: bigint,
  ): Promise<ReadonlyDeployment['status']> {
    const { client, fieldManager, signal } = this.#context
    const { deployment, sets } = await this.#withRevisions(known, present, { create: true })
    const { current, old } = sets
    const all = current === undefined ? old : [...old, current]
    await client.update(deployments, await rollBackTo(deployment, all, targetRevision, this.#annotationKeys), {
      fieldManager,
      signal,
    })
    return known.status
  }

  /** Removes all old pods before the first new one is created. */
  async #recreate(known: ReadonlyDeployment, present: DeploymentReplicaSets): Promise<ReadonlyDeployment['status']> {
    const scaleDowns = present.old.filter((set) => desiredReplicas(set) > 0).map((set) => ({ set, replicas: 0 }))
    await this.#scaleAll(known, scaleDowns)
    if (scaleDowns.length > 0 || actualReplicas(present.old) > 0 || (await this.#isRunning(present.old)))
      return this.#finish(known, present)
    const { deployment, sets } = await this.#withRevisions(known, present, { create: true })
    const { current } = sets
    const wanted = desiredReplicas(deployment)
    if (current !== undefined && desiredReplicas(current) !== wanted)
      await this.#scaleAll(deployment, [{ set: current, replicas: wanted }])
    return this.#finish(deployment, sets)
  }

  /** Whether any pod of the sets has not ended; terminating pods count. The first call starts the informer of pods. */
  async #isRunning(sets: readonly ReadonlyReplicaSet[]): Promise<boolean> {
    const { informers } = this.#context
    if (this.#pods === undefined) {
      this.#pods = podsByController(this.#context)
      const changed = ({ metadata: { namespace = '', ownerReferences } }: ReadonlyPod) => {
        const set = this.#sets.get(controllerOf(ownerReferences)?.name ?? '', namespace)
        if (set === undefined) return
        for (const deployment of this.#ownersOf(set)) if (!isRolling(deployment)) this.#enqueue(deployment)
      }
      this.subscriptions.push(informers.of(pods).on({ updated: changed, deleted: changed }))
    }
    await informers.of(pods).synced
    return sets.some(({ metadata }) => this.#pods?.get(metadata.uid ?? '').some((pod) => !isFinished(pod)))
  }

  async #finish(deployment: ReadonlyDeployment, sets: DeploymentReplicaSets): Promise<ReadonlyDeployment['status']> {
    const status = rolloutStatus(deployment, sets, this.#statusOptions())
    if (isComplete(deployment, status)) await this.#cleanUp(deployment, sets)
    return this.#writeStatus(deployment, status)
  }

  /** Ensures that the set of the template exists and that set and deployment have its revision. */
  async #withRevisions(
    known: ReadonlyDeployment,
    sets: DeploymentReplicaSets,
    { create }: { readonly create: boolean },
  ): Promise<{ deployment: ReadonlyDeployment; sets: DeploymentReplicaSets }> {
    const revision = newestRevision(sets.old, this.#annotationKeys) + 1n
    const current = sets.current === undefined ? undefined : await this.#updateSet(known, sets.current, revision)
    if (current !== undefined) {
      const deployment = await this.#writeRevision(known, revisionOf(current, this.#annotationKeys))
      const message = `Found new replica set "${current.metadata.name}"`
      const isReported = !hasDeadline(known) || conditionOf(known.status, 'Progressing') !== undefined
      return {
        deployment: isReported ? deployment : withProgress(deployment, { reason: 'FoundNewReplicaSet', message }, this.#context),
        sets: { ...sets, current },
      }
    }
    if (!create) return { deployment: known, sets }
    const created = await this.#createSet(known, sets, revision)
    const deployment = await this.#writeRevision(known, revision)
    const message = `Created new replica set "${created.metadata.name}"`
    return {
      deployment: hasDeadline(known)
        ? withProgress(deployment, { reason: 'NewReplicaSetCreated', message }, this.#context)
        : deployment,
      sets: { ...sets, current: created },
    }
  }

  async #createSet(deployment: ReadonlyDeployment, sets: DeploymentReplicaSets, revision: bigint): Promise<ReadonlyReplicaSet> {
    const { client, fieldManager, signal } = this.#context
    const set = await buildReplicaSet(deployment, this.#annotationKeys, revision)
    set.spec = { ...set.spec, replicas: newSetReplicas(deployment, { old: sets.old, current: set }) }
    try {
      const created = await client.create(replicaSets, set, { fieldManager, signal })
      this.#recordScaling(deployment, set, { from: 0, to: desiredReplicas(set) })
      return created
    } catch (error) {
      if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) {
        if (!isNamespaceTerminating(error)) await this.#reportFailedCreate(deployment, set, error)
        throw error
      }
      const { name = '', namespace = '' } = set.metadata
      const other = await client.get(replicaSets, name, { namespace, signal })
      const isOurs = controllerOf(other.metadata.ownerReferences)?.uid === deployment.metadata.uid
      if (isOurs && (await sameTemplate(other, deployment))) return other
      // Another object has the name: the next attempt uses another hash.
      const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
      await this.#writeStatus(deployment, { ...(deployment.status as DeploymentStatus), collisionCount })
      throw error
    }
  }

  async #reportFailedCreate(deployment: ReadonlyDeployment, set: ReplicaSet, error: unknown): Promise<void> {
    const message = `Failed to create new replica set "${set.metadata.name}": ${errorText(error)}`
    const reason = 'FailedCreate'
    if (hasDeadline(deployment)) {
      const failed = withProgress(deployment, { reason, message }, this.#context, 'False')
      await ignoreReasons(this.#writeStatus(failed, failed.status as DeploymentStatus), ['Conflict'])
    }
    this.#events.warning(deployment, reason, message)
  }

  #recordScaling(
    deployment: ReadonlyDeployment,
    { metadata }: ReadonlyReplicaSet,
    { from, to }: { readonly from: number; readonly to: number },
  ): void {
    if (from === to) return
    const direction = from < to ? 'up' : 'down'
    const message = `Scaled ${direction} replica set ${metadata.name} from ${from} to ${to}`
    this.#events.normal(deployment, 'ScalingReplicaSet', message)
  }

  async #updateSet(deployment: ReadonlyDeployment, set: ReadonlyReplicaSet, revision: bigint): Promise<ReadonlyReplicaSet> {
    const annotations = await withRevision(deployment, set, this.#annotationKeys, revision)
    const minReadySeconds = deployment.spec?.minReadySeconds
    if (set.spec?.minReadySeconds === minReadySeconds && (await sameMaps(annotations, set.metadata.annotations ?? {}))) return set
    const { client, fieldManager, signal } = this.#context
    const { minReadySeconds: _, ...spec } = set.spec ?? {}
    const changed = {
      ...set,
      metadata: { ...set.metadata, annotations },
      spec: minReadySeconds === undefined ? spec : { ...spec, minReadySeconds },
    } as ReplicaSet
    return client.update(replicaSets, changed, { fieldManager, signal })
  }

  async #scaleAll(deployment: ReadonlyDeployment, targets: readonly ScaleTarget[]): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    for (const { set, replicas } of targets) {
      const annotations = await mergeMaps(set.metadata.annotations, replicaAnnotations(deployment, this.#annotationKeys))
      const changed = { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } } as ReplicaSet
      const written = await ignoreNotFound(client.update(replicaSets, changed, { fieldManager, signal }))
      if (written !== undefined) this.#recordScaling(deployment, set, { from: desiredReplicas(set), to: replicas })
    }
  }

  async #cleanUp(deployment: ReadonlyDeployment, sets: DeploymentReplicaSets): Promise<void> {
    const { client, signal } = this.#context
    for (const { metadata } of setsToCleanUp(deployment, sets.old, (set) => revisionOf(set, this.#annotationKeys))) {
      await ignoreNotFound(client.delete(replicaSets, metadata.name ?? '', { namespace: metadata.namespace ?? '', signal }))
    }
  }

  /** Records in the status that the deployment is paused or resumed. The progress deadline does not count while it is paused. */
  async #recordPause(deployment: ReadonlyDeployment): Promise<ReadonlyDeployment> {
    if (!hasDeadline(deployment)) return deployment
    const condition = conditionOf(deployment.status, 'Progressing')
    if (condition?.reason === 'ProgressDeadlineExceeded') return deployment
    const isRecorded = condition?.reason === 'DeploymentPaused'
    if ((deployment.spec?.paused === true) === isRecorded) return deployment
    const next = isRecorded
      ? { reason: 'DeploymentResumed', message: 'Deployment is resumed' }
      : { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    return withProgress(deployment, next, this.#context, 'Unknown')
  }

  async #writeRevision(deployment: ReadonlyDeployment, revision: bigint): Promise<ReadonlyDeployment> {
    const text = String(revision)
    if (deployment.metadata.annotations?.[this.#annotationKeys.revision] === text) return deployment
    const { client, fieldManager, signal } = this.#context
    const annotations = await mergeMaps(deployment.metadata.annotations, { [this.#annotationKeys.revision]: text })
    const changed = { ...deployment, metadata: { ...deployment.metadata, annotations } } as Deployment
    // Written through the status subresource, because a write of the annotation to the main resource would increment the
    // generation.
    return client.update(deployments, changed, { subresource: 'status', fieldManager, signal })
  }

  /** Writes the status against the version that it was computed from. A conflicting change causes another sync. */
  async #writeStatus(deployment: ReadonlyDeployment, status: DeploymentStatus): Promise<ReadonlyDeployment['status']> {
    const { name = '', namespace = '' } = deployment.metadata
    if (sameJson(this.#deployments.get(name, namespace)?.status ?? {}, status)) return status
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(deployment as Deployment), status }
    await ignoreNotFound(client.update(deployments, changed, { subresource: 'status', fieldManager, signal }))
    return status
  }

  #statusOptions(): StatusOptions {
    const { clock, features } = this.#context
    return { now: clock.now(), countsTerminating: gateEnabled('DeploymentReplicaSetTerminatingReplicas', features) }
  }
}

async function split(deployment: ReadonlyDeployment, claimed: readonly ReadonlyReplicaSet[]): Promise<DeploymentReplicaSets> {
  const current = await findNewSet(deployment, claimed)
  return { current, old: claimed.filter((set) => set !== current) }
}

function withProgress(
  deployment: ReadonlyDeployment,
  progress: { readonly reason: string; readonly message: string },
  { clock }: ControllerContext,
  status = 'True',
): ReadonlyDeployment {
  const conditions = (deployment.status?.conditions ?? []) as readonly DeploymentCondition[]
  const next = withCondition(conditions, { type: 'Progressing', status, ...progress }, clock.now())
  return { ...deployment, status: { ...deployment.status, conditions: next } } as ReadonlyDeployment
}

/** Whether a selector is empty: it would match every replica set of the namespace. */
function isEmptySelector(selector: NonNullable<ReadonlyDeployment['spec']>['selector']): boolean {
  return isEmptyObject(selector?.matchLabels ?? {}) && (selector?.matchExpressions ?? []).length === 0
}

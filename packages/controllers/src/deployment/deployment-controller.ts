import type { Informer } from '@krmkit/client'
import { ApiError, controllerOf, labelSelectorFromObject } from '@krmkit/meta'
import { ignoreNotFound } from '../framework/outcomes.ts'
import type { RequeueAfter } from '../framework/work-queue.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import { claimSets } from './claim.ts'
import {
  actualReplicas,
  type D,
  type Deployment,
  type DeploymentCondition,
  type DeploymentStatus,
  deployments,
  isRolling,
  type Marks,
  marksOf,
  type R,
  type ReplicaSet,
  replicaSets,
  wantedReplicas,
} from './objects.ts'
import { findNewSet, newestRevision, newSet, replicasMarks, revisionOf, templateText, withRevision } from './replica-set-form.ts'
import { rollbackOf, rolledBack } from './rollback.ts'
import { isScaled, outdated, type Sets, type Target, targetOfNew, targetsOfOld, targetsOfScaling } from './scaling.ts'
import { conditionOf, countStatus, deadlineMs, hasDeadline, isComplete, rolloutStatus, withCondition } from './status.ts'

/**
 * Rolls deployments out: one replica set for each template they had, moved from the old to the new one as the strategy allows.
 * Making pods of replica sets is the business of another controller.
 */
export const deploymentController: Controller = {
  name: 'deployment-controller',
  start: (context) => new Deployments(context),
}

class Deployments implements AsyncDisposable {
  readonly #context: ControllerContext
  readonly #marks: Marks
  readonly #deployments: Informer<Deployment>
  readonly #sets: Informer<ReplicaSet>
  readonly #leaves: readonly (() => void)[]

  constructor(context: ControllerContext) {
    this.#context = context
    this.#marks = marksOf(context.profile)
    this.#deployments = context.informers.of(deployments)
    this.#sets = context.informers.of(replicaSets)
    const queue = context.queue<string>({ sync: (key) => this.#sync(key), pace: context.pace })
    const look = ({ metadata: { namespace, name } }: D) => queue.add(`${namespace}/${name}`)
    const lookAtSet = (set: R) => {
      for (const deployment of this.#ownersOf(set)) look(deployment)
    }
    this.#leaves = [
      this.#deployments.on({ added: look, updated: look }),
      this.#sets.on({
        added: lookAtSet,
        updated(set, before) {
          lookAtSet(set)
          if (controllerOf(before.metadata.ownerReferences)?.uid !== controllerOf(set.metadata.ownerReferences)?.uid)
            lookAtSet(before)
        },
        deleted: lookAtSet,
      }),
    ]
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const leave of this.#leaves) leave()
  }

  /** Who controls the set; for one that nobody controls, who may adopt it. */
  #ownersOf(set: R): readonly D[] {
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

  async #sync(key: string): Promise<RequeueAfter | undefined> {
    if (!this.#sets.hasSynced) await this.#sets.synced
    const [namespace = '', name = ''] = key.split('/')
    const known = this.#deployments.get(name, namespace)
    if (known === undefined) return undefined
    if (isEmptySelector(known.spec?.selector)) {
      const observedGeneration = known.metadata.generation ?? 0
      await this.#writeStatus(known, { ...(known.status as DeploymentStatus), observedGeneration })
      return undefined
    }
    const claimed = await claimSets(known, this.#sets.list({ namespace }), this.#context)
    if (known.metadata.deletionTimestamp !== undefined) {
      await this.#writeStatus(known, countStatus(known, split(known, claimed), this.#time()))
      return undefined
    }
    const deployment = await this.#notePause(known)
    const status = await this.#rollOut(deployment, claimed)
    const late = deadlineMs(deployment, status)
    return late === undefined ? undefined : { againAfterMs: Math.max(1, late - this.#context.clock.now() + 1) }
  }

  async #rollOut(known: D, claimed: readonly R[]): Promise<D['status']> {
    const present = split(known, claimed)
    const goal = known.spec?.paused === true ? undefined : rollbackOf(known, this.#marks)
    if (goal !== undefined) return this.#rollBack(known, present, goal)
    const isHeld = known.spec?.paused === true || isScaled(known, present, this.#marks)
    const waits = !isRolling(known) && present.current === undefined && actualReplicas(present.old) > 0
    const { deployment, sets } = await this.#withRevisions(known, present, { create: !isHeld && !waits && isRolling(known) })
    if (isHeld) {
      await this.#scaleAll(deployment, targetsOfScaling(deployment, sets, this.#marks))
      if (deployment.spec?.paused === true) await this.#cleanUp(deployment, sets)
      return this.#writeStatus(deployment, countStatus(deployment, sets, this.#time()))
    }
    if (!isRolling(deployment)) return this.#recreate(deployment, sets)
    const { current } = sets
    if (current !== undefined) {
      const target = { set: current, replicas: targetOfNew(deployment, { ...sets, current }) }
      const grows = target.replicas !== wantedReplicas(current)
      await this.#scaleAll(deployment, grows ? [target] : targetsOfOld(deployment, { ...sets, current }))
    }
    return this.#finish(deployment, sets)
  }

  /** The change is told soon, and then rolled out as any other. */
  async #rollBack(known: D, present: Sets, goal: bigint): Promise<D['status']> {
    const { client, fieldManager, signal } = this.#context
    const { deployment, sets } = await this.#withRevisions(known, present, { create: true })
    const { current, old } = sets
    const all = current === undefined ? old : [...old, current]
    await client.update(deployments, rolledBack(deployment, all, goal, this.#marks), { fieldManager, signal })
    return known.status
  }

  /** All old pods go before the first new one comes. */
  async #recreate(known: D, present: Sets): Promise<D['status']> {
    const leaving = present.old.filter((set) => wantedReplicas(set) > 0).map((set) => ({ set, replicas: 0 }))
    await this.#scaleAll(known, leaving)
    if (leaving.length > 0 || actualReplicas(present.old) > 0) return this.#finish(known, present)
    const { deployment, sets } = await this.#withRevisions(known, present, { create: true })
    const { current } = sets
    const wanted = wantedReplicas(deployment)
    if (current !== undefined && wantedReplicas(current) !== wanted)
      await this.#scaleAll(deployment, [{ set: current, replicas: wanted }])
    return this.#finish(deployment, sets)
  }

  async #finish(deployment: D, sets: Sets): Promise<D['status']> {
    const status = rolloutStatus(deployment, sets, this.#time())
    if (isComplete(deployment, status)) await this.#cleanUp(deployment, sets)
    return this.#writeStatus(deployment, status)
  }

  /** The set of the template is there, knows its revision, and so does the deployment. */
  async #withRevisions(known: D, sets: Sets, { create }: { readonly create: boolean }): Promise<{ deployment: D; sets: Sets }> {
    const revision = newestRevision(sets.old, this.#marks) + 1n
    const current = sets.current === undefined ? undefined : await this.#updateSet(known, sets.current, revision)
    if (current !== undefined) {
      const deployment = await this.#writeRevision(known, revisionOf(current, this.#marks))
      const message = `Found new replica set "${current.metadata.name}"`
      const isTold = !hasDeadline(known) || conditionOf(known.status, 'Progressing') !== undefined
      return {
        deployment: isTold ? deployment : withProgress(deployment, { reason: 'FoundNewReplicaSet', message }, this.#context),
        sets: { ...sets, current },
      }
    }
    if (!create) return { deployment: known, sets }
    const made = await this.#createSet(known, sets, revision)
    const deployment = await this.#writeRevision(known, revision)
    const message = `Created new replica set "${made.metadata.name}"`
    return {
      deployment: hasDeadline(known)
        ? withProgress(deployment, { reason: 'NewReplicaSetCreated', message }, this.#context)
        : deployment,
      sets: { ...sets, current: made },
    }
  }

  async #createSet(deployment: D, sets: Sets, revision: bigint): Promise<R> {
    const { client, fieldManager, signal } = this.#context
    const set = newSet(deployment, this.#marks, revision)
    set.spec = { ...set.spec, replicas: targetOfNew(deployment, { old: sets.old, current: set }) }
    try {
      return await client.create(replicaSets, set, { fieldManager, signal })
    } catch (error) {
      if (!(ApiError.is(error) && error.reason === 'AlreadyExists')) throw error
      const { name = '', namespace = '' } = set.metadata
      const other = await client.get(replicaSets, name, { namespace, signal })
      const isOurs = controllerOf(other.metadata.ownerReferences)?.uid === deployment.metadata.uid
      if (isOurs && templateText(other.spec?.template) === templateText(deployment.spec?.template)) return other
      // The name is somebody else's: the next try takes another.
      const collisionCount = (deployment.status?.collisionCount ?? 0) + 1
      await this.#writeStatus(deployment, { ...(deployment.status as DeploymentStatus), collisionCount })
      throw error
    }
  }

  async #updateSet(deployment: D, set: R, revision: bigint): Promise<R> {
    const annotations = withRevision(deployment, set, this.#marks, revision)
    const minReadySeconds = deployment.spec?.minReadySeconds
    if (sameJson(annotations, set.metadata.annotations ?? {}) && set.spec?.minReadySeconds === minReadySeconds) return set
    const { client, fieldManager, signal } = this.#context
    const changed = structuredClone(set) as ReplicaSet
    changed.metadata.annotations = annotations
    changed.spec = { ...changed.spec }
    if (minReadySeconds === undefined) delete changed.spec.minReadySeconds
    else changed.spec.minReadySeconds = minReadySeconds
    return client.update(replicaSets, changed, { fieldManager, signal })
  }

  async #scaleAll(deployment: D, targets: readonly Target[]): Promise<void> {
    const { client, fieldManager, signal } = this.#context
    for (const { set, replicas } of targets) {
      const changed = structuredClone(set) as ReplicaSet
      changed.spec = { ...changed.spec, replicas }
      changed.metadata.annotations = { ...changed.metadata.annotations, ...replicasMarks(deployment, this.#marks) }
      await ignoreNotFound(client.update(replicaSets, changed, { fieldManager, signal }))
    }
  }

  async #cleanUp(deployment: D, sets: Sets): Promise<void> {
    const { client, signal } = this.#context
    for (const { metadata } of outdated(deployment, sets.old, (set) => revisionOf(set, this.#marks))) {
      await ignoreNotFound(client.delete(replicaSets, metadata.name ?? '', { namespace: metadata.namespace ?? '', signal }))
    }
  }

  /** Tells in the status that the deployment is held, or goes on: meanwhile no deadline counts. */
  async #notePause(deployment: D): Promise<D> {
    if (!hasDeadline(deployment)) return deployment
    const condition = conditionOf(deployment.status, 'Progressing')
    if (condition?.reason === 'ProgressDeadlineExceeded') return deployment
    const isNoted = condition?.reason === 'DeploymentPaused'
    if ((deployment.spec?.paused === true) === isNoted) return deployment
    const next = isNoted
      ? { reason: 'DeploymentResumed', message: 'Deployment is resumed' }
      : { reason: 'DeploymentPaused', message: 'Deployment is paused' }
    return withProgress(deployment, next, this.#context, 'Unknown')
  }

  async #writeRevision(deployment: D, revision: bigint): Promise<D> {
    const text = String(revision)
    if (deployment.metadata.annotations?.[this.#marks.revision] === text) return deployment
    const { client, fieldManager, signal } = this.#context
    const changed = structuredClone(deployment) as Deployment
    changed.metadata.annotations = { ...changed.metadata.annotations, [this.#marks.revision]: text }
    // By the sub-resource: otherwise an annotation would count as a new generation.
    return client.update(deployments, changed, { subresource: 'status', fieldManager, signal })
  }

  /** Against the version that was worked on; another writer's change is told soon, and then all is worked out again. */
  async #writeStatus(deployment: D, status: DeploymentStatus): Promise<D['status']> {
    const { name = '', namespace = '' } = deployment.metadata
    if (sameJson(this.#deployments.get(name, namespace)?.status ?? {}, status)) return status
    const { client, fieldManager, signal } = this.#context
    const changed = { ...(structuredClone(deployment) as Deployment), status }
    await ignoreNotFound(client.update(deployments, changed, { subresource: 'status', fieldManager, signal }))
    return status
  }

  #time(): { readonly now: number } {
    return { now: this.#context.clock.now() }
  }
}

function split(deployment: D, claimed: readonly R[]): Sets {
  const current = findNewSet(deployment, claimed)
  return { current, old: claimed.filter((set) => set !== current) }
}

function withProgress(
  deployment: D,
  told: { readonly reason: string; readonly message: string },
  { clock }: ControllerContext,
  status = 'True',
): D {
  const conditions = (deployment.status?.conditions ?? []) as readonly DeploymentCondition[]
  const next = withCondition(conditions, { type: 'Progressing', status, ...told }, clock.now())
  return { ...deployment, status: { ...deployment.status, conditions: next } } as D
}

/** Would take every replica set of the namespace. */
function isEmptySelector(selector: NonNullable<D['spec']>['selector']): boolean {
  return Object.keys(selector?.matchLabels ?? {}).length === 0 && (selector?.matchExpressions ?? []).length === 0
}

function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const keys = Object.keys(a)
  if (keys.length !== Object.keys(b).length) return false
  return keys.every(
    (key) => Object.hasOwn(b, key) && sameJson((a as Record<string, unknown>)[key], (b as Record<string, unknown>)[key]),
  )
}

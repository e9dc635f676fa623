import { resourceType } from '@krmkit/client'
import type { DeepReadonly } from '@krmkit/meta'
import { formatMicroTime } from '@krmkit/meta/time'
import { ControllersError } from '../controllers-error.ts'
import { ignoreNotFound, ignoreReasons } from '../framework/api-errors.ts'
import { disposeSubscriptions } from '../framework/subscriptions.ts'
import type { Controller, ControllerContext } from '../interfaces.ts'
import {
  candidateMs,
  electionMs,
  electionStep,
  hasAnswered,
  isExpiredCandidate,
  isExpiredLease,
  type LeaderLease,
  type LeaseCandidate,
} from './election.ts'
import { leases } from './leader-lease.ts'

const group = 'coordination.k8s.io'
export const candidates = resourceType<LeaseCandidate>({
  ...{ group, version: 'v1beta1' },
  resource: 'leasecandidates',
  kind: 'LeaseCandidate',
})

/** Duration of Leases that elections create. */
const leaseSeconds = 5

/**
 * Elects the leaders of Leases whose candidates announce themselves by LeaseCandidate objects: pings the candidates, waits
 * for their renewals and gives the Lease to the best candidate.
 */
export const leaderElectionController: Controller = {
  name: 'leader-election-controller',
  start(context) {
    const { informers, queue } = context
    const knownLeases = informers.of(leases)
    const knownCandidates = informers.of(candidates)
    const work = queue<string>({
      async sync(key) {
        if (!knownLeases.hasSynced || !knownCandidates.hasSynced) {
          work.addAfterSync(
            key,
            Promise.all([knownLeases.synced, knownCandidates.synced]).then(() => undefined),
          )
          return undefined
        }
        const [namespace = '', name = ''] = key.split('/')
        const own = knownCandidates
          .list()
          .filter(({ metadata, spec }) => metadata.namespace === namespace && spec?.leaseName === name)
        return reconcile(context, { namespace, name }, { lease: knownLeases.get(name, namespace), candidates: own })
      },
    })
    const add = (namespace: string | undefined, name: string | undefined) => work.add(`${namespace ?? ''}/${name ?? ''}`)
    const ofLease = ({ metadata }: DeepReadonly<LeaderLease>) => add(metadata.namespace, metadata.name)
    const ofCandidate = (candidate: DeepReadonly<LeaseCandidate>) => {
      // A candidate that was pinged and has not renewed yet belongs to a running election, which is requeued anyway.
      if (hasAnswered(candidate)) add(candidate.metadata.namespace, candidate.spec?.leaseName)
    }
    return disposeSubscriptions([
      knownLeases.on({ added: ofLease, updated: ofLease, deleted: ofLease }),
      knownCandidates.on({ added: ofCandidate, updated: ofCandidate, deleted: ofCandidate }),
    ])
  },
}

/** Deletes candidates that have not renewed for half an hour. Runs every half hour. */
export const leaseCandidateCleaner: Controller = {
  name: 'leasecandidate-garbage-collector',
  start({ client, clock, informers, queue, signal }) {
    const known = informers.of(candidates)
    const work = queue<'round'>({
      async sync(key) {
        if (!known.hasSynced) {
          work.addAfterSync(key, known.synced)
          return undefined
        }
        for (const candidate of known.list()) {
          if (!isExpiredCandidate(candidate, clock.now())) continue
          const { name = '', namespace = '', uid = '', resourceVersion = '' } = candidate.metadata
          const preconditions = { uid, resourceVersion }
          await ignoreReasons(client.delete(candidates, name, { namespace, preconditions, signal }), ['NotFound', 'Conflict'])
        }
        return { requeueAfterMs: candidateMs }
      },
    })
    work.add('round')
    return disposeSubscriptions([])
  },
}

interface LeaseName {
  readonly namespace: string
  readonly name: string
}

interface ElectionState {
  readonly lease: DeepReadonly<LeaderLease> | undefined
  readonly candidates: readonly DeepReadonly<LeaseCandidate>[]
}

const again = { requeueAfterMs: electionMs }

async function reconcile(context: ControllerContext, target: LeaseName, state: ElectionState) {
  const { client, clock, fieldManager, signal } = context
  const now = clock.now()
  const step = electionStep(state.lease, state.candidates, now)
  switch (step.kind) {
    case 'wait':
      return step.again ? again : undefined
    case 'failed':
      context.onError(
        new ControllersError({ code: 'NotElected', message: `Lease ${target.namespace}/${target.name}: ${step.message}` }),
      )
      return again
    case 'ping':
      for (const candidate of step.candidates) {
        const next = structuredClone(candidate) as LeaseCandidate
        if (next.spec !== undefined) next.spec.pingTime = formatMicroTime(now)
        await ignoreNotFound(client.update(candidates, next, { fieldManager, signal }))
      }
      return again
    case 'elect':
      await handOver(context, target, step)
      return again
  }
}

/**
 * Creates the Lease for the elected candidate; for a Lease with an unexpired holder only sets `preferredHolder`, and the
 * holder gives way.
 */
async function handOver(
  { client, clock, fieldManager, signal }: ControllerContext,
  { namespace, name }: LeaseName,
  { strategy, holder }: { readonly strategy: string; readonly holder: string | undefined },
): Promise<void> {
  const held = () => ({
    leaseDurationSeconds: leaseSeconds,
    renewTime: formatMicroTime(clock.now()),
    ...(holder === undefined ? {} : { holderIdentity: holder }),
  })
  const current = await ignoreNotFound(client.get(leases, name, { namespace, signal }))
  if (current === undefined) {
    const lease = { metadata: { namespace, name }, spec: { strategy, ...held() } }
    await ignoreReasons(client.create(leases, lease, { fieldManager, signal }), ['AlreadyExists'])
    return
  }
  const { preferredHolder: _preferred, acquireTime: _acquired, ...spec } = current.spec ?? {}
  const { holderIdentity = '' } = spec
  const takesOver =
    holder !== undefined && holder !== holderIdentity && (holderIdentity === '' || isExpiredLease(current, clock.now()))
  const asks = holder !== undefined && holder !== holderIdentity && !takesOver
  const next = takesOver
    ? { ...spec, strategy, ...held() }
    : { ...current.spec, strategy, ...(asks ? { preferredHolder: holder } : {}) }
  if (JSON.stringify(next) === JSON.stringify(current.spec)) return
  await client.update(leases, { ...current, spec: next }, { fieldManager, signal })
}

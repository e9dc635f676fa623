/** Statuses of the containers of a pod. */

import type { Features } from '@krmkit/meta'
import { gateEnabled } from '@krmkit/meta/feature-gates'
import type { Container, ContainerStatus, PodSpec, PodStatus, ResourceStatus } from '../../../types/core-v1.generated.ts'
import { validateEnum } from '../../shared/enums.ts'
import type { FieldPath } from '../../shared/field-path.ts'
import { allCouldRestart, shouldRestart } from '../../shared/restart-rules.ts'
import { validateId } from '../../shared/security-context.ts'
import { firstByName, isEmpty, isSet, own, type R } from '../../shared/values.ts'

const lists = ['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'] as const

/** Finally terminated containers must not run again. @param spec of the stored pod */
export function validateTransitions(status: R<PodStatus>, old: R<PodStatus>, spec: R<PodSpec>, at: FieldPath): void {
  const { features } = at.errors.context
  const byContainer = features.release.atLeast('1.34') && gateEnabled('ContainerRestartRules', features)
  if (byContainer) validateOwnTransitions(status, old, spec, at)
  const sidecars = new Set((spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name))
  for (const name of lists) {
    // Nothing restarts an ephemeral container.
    const restartPolicy = name === 'ephemeralContainerStatuses' ? 'Never' : spec.restartPolicy
    if (restartPolicy === 'Always' || (byContainer && judgedByContainer(name, features))) continue
    const running = countRunning(status[name] ?? [])
    for (const [i, before] of (old[name] ?? []).entries()) {
      const ended = before.state?.terminated
      if (!isSet(ended) || (ended.exitCode !== 0 && restartPolicy === 'OnFailure')) continue
      if (name === 'initContainerStatuses' && sidecars.has(before.name)) continue
      for (let left = running.get(before.name) ?? 0; left > 0; left--)
        at.child(name).index(i).child('state').forbidden('may not be transitioned to non-terminated state')
    }
  }
}

/** Since 1.35 init containers have policies of their own, too. */
function judgedByContainer(list: (typeof lists)[number], { release }: Features): boolean {
  return list === 'containerStatuses' || (list === 'initContainerStatuses' && release.atLeast('1.35'))
}

/** The transitions of containers that may restart by their own policies and rules. */
function validateOwnTransitions(status: R<PodStatus>, old: R<PodStatus>, spec: R<PodSpec>, at: FieldPath): void {
  const { features } = at.errors.context
  if (allCouldRestart(spec, features)) return
  for (const name of lists) {
    if (!judgedByContainer(name, features)) continue
    const containers = firstByName((name === 'containerStatuses' ? spec.containers : spec.initContainers) ?? [])
    const running = countRunning(status[name] ?? [])
    for (const [i, before] of (old[name] ?? []).entries()) {
      const exitCode = before.state?.terminated?.exitCode
      if (!isSet(exitCode) || !running.has(before.name)) continue
      const container = containers.get(before.name)
      if (container === undefined || !shouldRestart(container, spec, { exitCode, features }))
        at.child(name).index(i).child('state').forbidden('may not be transitioned to non-terminated state')
    }
  }
}

function isSidecar({ restartPolicy }: R<Container>): boolean {
  return restartPolicy === 'Always'
}

/** Number of statuses of containers that have not ended, by name. */
function countRunning(statuses: readonly R<ContainerStatus>[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const { name, state } of statuses) if (!isSet(state?.terminated)) counts.set(name, (counts.get(name) ?? 0) + 1)
  return counts
}

/** The users that containers run as, and the health of their resources. */
export function validateContainerStatuses(status: R<PodStatus>, spec: R<PodSpec>, at: FieldPath): void {
  const system = spec.os?.name ?? 'linux'
  for (const list of lists)
    for (const [i, { user }] of (status[list] ?? []).entries()) validateUser(user, system, at.child(list).index(i).child('user'))
  for (const [list, containers] of [
    ['containerStatuses', spec.containers],
    ['initContainerStatuses', spec.initContainers],
  ] as const) {
    const byName = firstByName(containers ?? [])
    for (const [i, { name, allocatedResourcesStatus }] of (status[list] ?? []).entries()) {
      const here = at.child(list).index(i).child('allocatedResourcesStatus')
      for (const [j, allocated] of (allocatedResourcesStatus ?? []).entries())
        validateAllocated(allocated, byName.get(name), here.index(j))
    }
  }
  for (const [i, { allocatedResourcesStatus }] of (status.ephemeralContainerStatuses ?? []).entries()) {
    if (isEmpty(allocatedResourcesStatus)) continue
    const here = at.child('ephemeralContainerStatuses').index(i).child('allocatedResourcesStatus')
    here.forbidden('must not be specified in container status')
  }
}

function validateUser(user: R<ContainerStatus['user']>, system: string, at: FieldPath): void {
  const linux = user?.linux
  if (!isSet(linux)) return
  const here = at.child('linux')
  if (system === 'windows') here.forbidden('cannot be set for a windows pod')
  if (system !== 'linux') return
  validateId(linux.uid, here.child('uid'))
  validateId(linux.gid, here.child('gid'))
  for (const [i, group] of (linux.supplementalGroups ?? []).entries())
    validateId(group, here.child('supplementalGroups').index(i))
}

const healths = ['Healthy', 'Unhealthy', 'Unknown']

/** @param container that has the resource; absent when the pod has none of this name */
function validateAllocated({ name, resources }: R<ResourceStatus>, container: R<Container> | undefined, at: FieldPath): void {
  if (container !== undefined) {
    const isClaim = name.startsWith('claim:')
    const claims = (container.resources?.claims ?? []).map((claim) => `claim:${claim.name}${withSlash(claim.request)}`)
    const isKnown = isClaim ? claims.includes(name) : own(container.resources?.requests, name) !== undefined
    const expected = isClaim
      ? "must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty"
      : "must match one of the container's resource requests"
    if (!isKnown) at.child('name').invalid(name, expected)
  }
  const ids = new Set<string>()
  for (const [i, { resourceID, health = '' }] of (resources ?? []).entries()) {
    const here = at.child('resources').index(i)
    validateEnum(health, here.child('health'), healths)
    if (ids.has(resourceID)) here.child('resourceID').duplicate(resourceID)
    ids.add(resourceID)
  }
}

function withSlash(request: string | undefined): string {
  return isEmpty(request) ? '' : `/${request}`
}

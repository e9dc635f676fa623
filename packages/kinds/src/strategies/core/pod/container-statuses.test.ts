import { describe, expect, it } from 'vitest'
import type { ContainerStatus, PodSpec, PodStatus } from '../../../types/core-v1.generated.ts'
import { ContextErrorList, type FieldPath } from '../../shared/field-path.ts'
import { testContext } from '../../testing/context.ts'
import { validateContainerStatuses, validateTransitions } from './container-statuses.ts'

function problems(validate: (at: FieldPath) => void): string[] {
  const errors = new ContextErrorList(testContext())
  validate(errors.child('status'))
  return errors.map(({ field, message }) => `${field}: ${message}`)
}

const transitions = (status: PodStatus, old: PodStatus, spec: PodSpec) =>
  problems((at) => validateTransitions(status, old, spec, at))
const statuses = (status: PodStatus, spec: PodSpec) => problems((at) => validateContainerStatuses(status, spec, at))

const status = (name: string, members: Partial<ContainerStatus> = {}): ContainerStatus =>
  ({ name, ...members }) as ContainerStatus
const ended = { state: { terminated: { exitCode: 0 } } }

describe('validateTransitions', () => {
  it('lets nothing restart ephemeral containers', () => {
    const old = { ephemeralContainerStatuses: [status('e', ended)] }
    expect(transitions({ ephemeralContainerStatuses: [status('e')] }, old, { containers: [], restartPolicy: 'Always' })).toEqual([
      'status.ephemeralContainerStatuses[0].state: Forbidden: may not be transitioned to non-terminated state',
    ])
  })

  it('lets init containers restart that always do', () => {
    const initContainers = [{ name: 'i', restartPolicy: 'Always' }, { name: 'j' }]
    const old = { initContainerStatuses: [status('i', ended), status('j', ended)] }
    const now = { initContainerStatuses: [status('i'), status('j')] }
    expect(transitions(now, old, { containers: [], initContainers, restartPolicy: 'Never' })).toEqual([
      'status.initContainerStatuses[1].state: Forbidden: may not be transitioned to non-terminated state',
    ])
  })
})

describe('validateContainerStatuses', () => {
  const user = { linux: { uid: -1, gid: 0, supplementalGroups: [1, 4294967296] } }

  it('validates the users of containers', () => {
    expect(statuses({ initContainerStatuses: [status('i', { user })] }, { containers: [] })).toEqual([
      'status.initContainerStatuses[0].user.linux.uid: Invalid value: -1: must be between 0 and 2147483647, inclusive',
      'status.initContainerStatuses[0].user.linux.supplementalGroups[1]: Invalid value: 4294967296: must be between 0 and 2147483647, inclusive',
    ])
  })

  it('a pod of Windows has no users of Linux', () => {
    expect(statuses({ containerStatuses: [status('c', { user })] }, { containers: [], os: { name: 'windows' } })).toEqual([
      'status.containerStatuses[0].user.linux: Forbidden: cannot be set for a windows pod',
    ])
  })

  it('validates the health of the resources that a container has', () => {
    const containers = [{ name: 'c', resources: { requests: { 'example.com/gpu': '1' }, claims: [{ name: 'a', request: 'b' }] } }]
    const allocated = (name: string, ...resources: { resourceID: string; health?: string }[]) => ({ name, resources })
    const healthy = { resourceID: 'x', health: 'Healthy' }
    const allocatedResourcesStatus = [
      allocated('example.com/gpu', healthy, healthy),
      allocated('claim:a/b', { resourceID: 'x', health: 'Good' }),
      allocated('claim:a'),
      allocated('cpu'),
    ]
    const at = 'status.containerStatuses[0].allocatedResourcesStatus'
    expect(statuses({ containerStatuses: [status('c', { allocatedResourcesStatus })] }, { containers })).toEqual([
      `${at}[0].resources[1].resourceID: Duplicate value: "x"`,
      `${at}[1].resources[0].health: Unsupported value: "Good": supported values: "Healthy", "Unhealthy", "Unknown"`,
      `${at}[2].name: Invalid value: "claim:a": must match one of the container's resource claims in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty`,
      `${at}[3].name: Invalid value: "cpu": must match one of the container's resource requests`,
    ])
  })
})

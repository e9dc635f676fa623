import { describe, expect, it } from 'vitest'
import type { Pod, PodSpec } from '../../../types/core-v1.generated.ts'
import { chosenContainer } from './containers.ts'

function pod(spec: PodSpec): Pod {
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec }
}

const two = [{ name: 'a' }, { name: 'b' }]
const full = pod({ containers: two, initContainers: [{ name: 'i' }], ephemeralContainers: [{ name: 'e' }] })

describe('chosenContainer', () => {
  it('accepts every container of the pod by name, and the only one without', () => {
    for (const name of ['a', 'b', 'i', 'e']) expect(chosenContainer(full, name)).toBe(name)
    expect(chosenContainer(pod({ containers: [{ name: 'a' }] }), '')).toBe('a')
  })

  it.each([
    [full, 'x', 'container x is not valid for pod p'],
    [full, '', 'a container name must be specified for pod p, choose one of: [i a b e]'],
    [pod({ containers: two }), '', 'a container name must be specified for pod p, choose one of: [a b]'],
    [pod({ containers: [] }), '', 'a container name must be specified for pod p'],
  ])('refuses unknown and ambiguous names', (subject, name, message) => {
    expect(() => chosenContainer(subject, name)).toThrow(expect.objectContaining({ reason: 'BadRequest', message }))
  })
})

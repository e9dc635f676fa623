import { describe, expect, it } from 'vitest'
import { collectionPrefix, isStorableName, objectKey } from './keys.ts'

const pods = { storage: { group: '', version: 'v1', resource: 'pods' } }
const leases = { storage: { group: 'coordination.k8s.io', version: 'v1', resource: 'leases' } }

describe('keys', () => {
  it('are inside their collection, with and without a namespace [P138]', () => {
    expect(objectKey(pods, 'default', 'a')).toBe('/core/pods/default/a')
    expect(collectionPrefix(pods)).toBe('/core/pods/')
    expect(collectionPrefix(leases, 'kube-system')).toBe('/coordination.k8s.io/leases/kube-system/')
  })

  it.each(['', '.', '..', 'a/b', 'a\0b'])('refuses the object name %j', (name) => {
    expect(isStorableName(name)).toBe(false)
  })
})

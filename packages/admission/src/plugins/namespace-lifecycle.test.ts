import { type ApiError, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import type { AdmissionAttributes } from '../interfaces.ts'
import { attributesOf, contextOf } from '../testing/request.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'

const plugin = namespaceLifecycle(stockProfile)
const context = contextOf({
  'namespaces//shop': { status: { phase: 'Active' } },
  'namespaces//leaving': { status: { phase: 'Terminating' } },
  'namespaces//marked': { metadata: { name: 'marked', deletionTimestamp: '2024-01-01T00:00:00Z' }, status: { phase: 'Active' } },
})

function outcome(attributes: AdmissionAttributes, on = plugin): ApiError | undefined {
  expect(on.handles(attributes)).toBe(true)
  try {
    on.check?.(attributes, context)
    return undefined
  } catch (error) {
    return error as ApiError
  }
}

describe('NamespaceLifecycle', () => {
  it.each(['leaving', 'marked'])('refuses creation in a terminating namespace (%s) [P129, P279]', (namespace) => {
    const refused = outcome(attributesOf('configmaps', { namespace }))
    expect(refused?.status).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message: `configmaps "a" is forbidden: unable to create new content in namespace ${namespace} because it is being terminated`,
      details: {
        name: 'a',
        kind: 'configmaps',
        causes: [
          {
            reason: 'NamespaceTerminating',
            message: `namespace ${namespace} is being terminated`,
            field: 'metadata.namespace',
          },
        ],
      },
    })
  })

  it('allows updates and deletions in a terminating namespace [P279]', () => {
    for (const operation of ['UPDATE', 'DELETE'] as const)
      expect(outcome(attributesOf('configmaps', { operation, namespace: 'leaving' }))).toBeUndefined()
  })

  it('refuses creation and updates in a missing namespace, and allows deletions [P279]', () => {
    const update = attributesOf('configmaps', { operation: 'UPDATE', namespace: 'none' })
    expect(outcome(update)?.status.message).toBe('namespaces "none" not found')
    expect(outcome(attributesOf('configmaps', { operation: 'DELETE', namespace: 'none' }))).toBeUndefined()
    expect(outcome(attributesOf('configmaps', { namespace: 'none' }))?.status).toMatchObject({
      code: 404,
      message: 'namespaces "none" not found',
    })
    expect(outcome(attributesOf('configmaps', { namespace: 'shop' }))).toBeUndefined()
    expect(outcome(attributesOf('nodes'))).toBeUndefined()
  })

  it('allows local access reviews in a missing namespace', () => {
    const resource = { group: 'authorization.k8s.io', version: 'v1', resource: 'localsubjectaccessreviews' }
    expect(outcome(attributesOf('x', { resource, namespace: 'none' }))).toBeUndefined()
  })

  it.each(['default', 'kube-system', 'kube-public'])('refuses deletion of %s [P130, P279]', (name) => {
    const refused = outcome(attributesOf('namespaces', { operation: 'DELETE', name, namespace: name }))
    expect(refused?.status).toMatchObject({
      code: 403,
      message: `namespaces "${name}" is forbidden: this namespace may not be deleted`,
    })
  })

  it('allows deletion of other namespaces and updates of reserved ones [P130]', () => {
    expect(outcome(attributesOf('namespaces', { operation: 'DELETE', name: 'shop' }))).toBeUndefined()
    expect(outcome(attributesOf('namespaces', { operation: 'UPDATE', name: 'default' }))).toBeUndefined()
    expect(outcome(attributesOf('configmaps', { operation: 'DELETE', name: 'default', namespace: 'shop' }))).toBeUndefined()
  })

  it('reserves the namespaces of the naming profile', () => {
    const own = namespaceLifecycle({ ...stockProfile, systemNamespace: 'our-system', publicNamespace: 'our-public' })
    const remove = (name: string) => attributesOf('namespaces', { operation: 'DELETE', name })
    expect(outcome(remove('our-system'), own)?.code).toBe(403)
    expect(outcome(remove('kube-system'), own)).toBeUndefined()
  })

  it('does not handle CONNECT', () => {
    expect(plugin.handles(attributesOf('pods', { operation: 'CONNECT' }))).toBe(false)
  })
})

import { ApiError, stockProfile } from '@krmkit/meta'
import { describe, expect, it } from 'vitest'
import { clusterOf, refusalOf, runAdmission } from '../testing/run-admission.ts'
import { namespaceAutoProvision } from './namespace-auto-provision.ts'
import { namespaceExists } from './namespace-exists.ts'
import { namespaceLifecycle } from './namespace-lifecycle.ts'

const namespaces = { group: '', resource: 'namespaces' }

describe('NamespaceExists', () => {
  const plugin = namespaceExists()
  const cluster = clusterOf({ 'namespaces//ns': {} })

  it.each(['CREATE', 'UPDATE', 'DELETE'] as const)('refuses %s in a missing namespace [P278]', async (operation) => {
    const answer = await runAdmission(plugin, 'configmaps', { object: {}, operation, namespace: 'none' }, cluster)
    expect(answer.status).toMatchObject({ code: 404, reason: 'NotFound', message: 'namespaces "none" not found' })
  })

  it('allows writes in existing namespaces and of cluster-scoped objects [P278]', async () => {
    expect(refusalOf(await runAdmission(plugin, 'configmaps', { object: {} }, cluster))).toBe('')
    expect(refusalOf(await runAdmission(plugin, 'nodes', { object: {}, namespace: '' }, cluster))).toBe('')
    expect(refusalOf(await runAdmission(plugin, 'namespaces', { object: {}, namespace: 'new' }, cluster))).toBe('')
  })
})

describe('NamespaceAutoProvision', () => {
  const plugins = [namespaceAutoProvision(), namespaceLifecycle(stockProfile)]

  it('creates the missing namespace of a new object [P277]', async () => {
    const cluster = clusterOf()
    for (const name of ['a', 'b']) {
      const answer = await runAdmission(plugins, 'configmaps', { object: { metadata: { name } }, namespace: 'new' }, cluster, {
        writer: cluster,
      })
      expect(answer.allowed).toBe(true)
    }
    expect(cluster.get(namespaces, '', 'new')).toMatchObject({ kind: 'Namespace', metadata: { name: 'new' } })
  })

  it('creates no namespace in a dry run or for updates [P277]', async () => {
    const cluster = clusterOf()
    const options = { writer: cluster }
    expect(refusalOf(await runAdmission(plugins, 'configmaps', { object: {}, dryRun: true }, cluster, options))).toBe(
      'namespaces "ns" not found',
    )
    await runAdmission(plugins, 'configmaps', { object: {}, oldObject: {} }, cluster, options)
    expect(cluster.get(namespaces, '', 'ns')).toBeUndefined()
  })

  it('reports why the namespace could not be created [P277]', async () => {
    const cluster = clusterOf()
    let failure = ApiError.badRequest('no')
    const writer = {
      create: () => Promise.reject(failure),
      update: () => Promise.reject(new Error('unused')),
    }
    const answer = await runAdmission(plugins, 'configmaps', { object: {} }, cluster, { writer })
    expect(answer.status).toMatchObject({ code: 403, message: 'configmaps "a" is forbidden: no' })
    failure = ApiError.forbidden(namespaces, 'ns', 'no')
    const refused = await runAdmission(plugins, 'configmaps', { object: {} }, cluster, { writer })
    expect(refused.status).toMatchObject({ message: 'namespaces "ns" is forbidden: no' })
  })
})

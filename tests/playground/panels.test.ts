import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerAccess } from '../../playground/src/access.ts'
import { Cluster } from '../../playground/src/cluster.ts'
import { diagnose } from '../../playground/src/diagnostics.ts'
import { readFragment, writeFragment } from '../../playground/src/link.ts'
import { ownedLines, previewApply } from '../../playground/src/ownership.ts'

/** The panels of the playground, without its page. */

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.start()
})
afterAll(() => cluster.close())

const configMap = (color: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: shop }\ndata: { color: ${color} }\n`

async function applyAs(manager: string, color: string): Promise<number> {
  const path = `/api/v1/namespaces/default/configmaps/shop?fieldManager=${manager}`
  return (await cluster.request({ method: 'PATCH', path, contentType: 'application/apply-patch+yaml', body: configMap(color) }))
    .status
}

describe('the editor', () => {
  it('shows problems with line and column', async () => {
    const text = 'apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: Web\nspec:\n  replicas: two\n'
    const found = await diagnose(text, '1.33')
    expect(found).toContainEqual({
      severity: 'error',
      line: 6,
      column: 13,
      message: 'Deployment Web: spec.replicas: expected an integer of 32 bits, found string',
    })
    expect(found.some(({ line, column }) => line === 4 && column === 9)).toBe(true)
    expect(await diagnose('a: [', '1.33')).toMatchObject([{ severity: 'error', line: 1 }])
    expect(await diagnose(configMap('red'), '1.33')).toEqual([])
  })

  it('knows the versions of a release', async () => {
    const text = 'apiVersion: batch/v1beta1\nkind: CronJob\nmetadata: { name: a }\n'
    expect((await diagnose(text, '1.33'))[0]?.message).toContain('was removed in Kubernetes 1.25')
    expect((await diagnose(text, '1.24'))[0]?.message).not.toContain('was removed')
  })
})

describe('ownership', () => {
  it('previews an apply, shows its conflicts and the owner of each line', async () => {
    const options = { manager: 'ci', namespace: 'default', force: false }
    const [created] = await previewApply(cluster, configMap('red'), options)
    expect(created).toMatchObject({ object: 'ConfigMap default/shop', conflicts: [] })
    expect(created?.lines.map(({ mark }) => mark)).not.toContain('-')
    expect(await applyAs('ci', 'red')).toBe(201)
    const [refused] = await previewApply(cluster, configMap('blue'), { ...options, manager: 'jane' })
    expect(refused?.conflicts).toEqual([{ field: '.data.color', message: 'conflict with "ci"' }])
    const [forced] = await previewApply(cluster, configMap('blue'), { ...options, manager: 'jane', force: true })
    const changed = forced?.lines.filter(({ mark }) => mark === '-' || mark === '+').map(({ mark, text }) => `${mark}${text}`)
    expect(changed).toEqual(['-  color: red', '+  color: blue'])
    const lines = await ownedLines(cluster, { type: 'cm', name: 'shop', namespace: 'default' })
    expect(lines).toContainEqual({ text: '  color: red', owners: ['ci'] })
    expect(lines).toContainEqual({ text: 'kind: ConfigMap', owners: [] })
  })
})

describe('access', () => {
  it('explains a permission by its binding and role, and names all subjects that have it', async () => {
    const question = { user: 'jane', groups: [], verb: 'get', resource: 'secrets', namespace: 'default', name: '' }
    const before = await answerAccess(cluster, question)
    expect(before).toMatchObject({ allowed: false })
    const binding = {
      metadata: { name: 'jane' },
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'edit' },
      subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'jane' }],
    }
    const path = '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings'
    expect((await cluster.request({ method: 'POST', path, body: JSON.stringify(binding) })).status).toBe(201)
    await expect.poll(async () => (await answerAccess(cluster, question)).allowed).toBe(true)
    const { reasons, holders } = await answerAccess(cluster, question)
    expect(reasons[0]).toContain('RoleBinding "jane/default" gives ClusterRole "edit"; rule ')
    expect(holders).toContain('User "jane" by RoleBinding "jane/default" of ClusterRole "edit"')
  })
})

describe('links', () => {
  it('carry the state, and damaged ones are refused', async () => {
    const state = { release: '1.33', namespace: 'shop', manifests: configMap('ü'.repeat(500)), journal: cluster.journal }
    const fragment = await writeFragment(state)
    expect(fragment).toMatch(/^#1[\w-]+$/)
    expect(fragment.length).toBeLessThan(1000)
    expect(await readFragment(fragment)).toEqual(state)
    expect(await readFragment('')).toBeUndefined()
    await expect(readFragment('#2abc')).rejects.toThrow('the link has an unknown format')
    await expect(readFragment('#1abc')).rejects.toThrow()
  })

  it('refuse requests that are not requests', async () => {
    const journal = [{ path: 'https://elsewhere.example/' }] as never
    const fragment = await writeFragment({ release: '1.33', namespace: 'default', manifests: '', journal })
    await expect(readFragment(fragment)).rejects.toThrow('the link is damaged')
  })
})

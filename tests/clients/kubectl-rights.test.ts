import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bystanderToken,
  type Kubectl,
  type KubectlWorld,
  kubectlMissing,
  skipNote,
  startKubectlWorld,
} from './support/kubectl.ts'

/** Stock kubectl with roles: creation, access reviews and impersonation. */

const suite = describe.skipIf(kubectlMissing !== undefined)
let world: KubectlWorld
let shop: Kubectl
let bystander: Kubectl
beforeAll(async () => {
  if (kubectlMissing !== undefined) return
  world = await startKubectlWorld(['--authorization-mode=Node,RBAC'])
  shop = await world.namespace('rights')
  bystander = shop.with(`--token=${bystanderToken}`)
})
afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
})

suite(`kubectl and roles${skipNote}`, () => {
  it('makes roles and bindings, which are in force at once', async () => {
    expect(await bystander.refused('get configmaps')).toContain('User "bystander" cannot list resource "configmaps"')
    await shop.run('create role reader --verb=get,list --resource=configmaps')
    await shop.run('create rolebinding readers --role=reader --user=bystander')
    expect(await bystander.run('get configmaps -o name')).toContain('configmap/kube-root-ca.crt')
    await shop.run('create clusterrole nodes --verb=get --resource=nodes,pods/log --non-resource-url=/metrics')
    await shop.run('create clusterrolebinding watchers --clusterrole=nodes --group=watchers')
    expect(await bystander.run('get --raw /metrics')).toContain('apiserver')
    expect(await shop.run('describe clusterrole nodes')).toMatch(/nodes +\[\] +\[\] +\[get\]/)
    expect(await shop.run('get rolebindings -o wide')).toMatch(/readers +Role\/reader +\S+ +bystander/)
  })

  it('reconciles roles from a file', async () => {
    const apiVersion = 'rbac.authorization.k8s.io/v1'
    const rules = [{ apiGroups: ['apps'], resources: ['deployments'], verbs: ['get'] }]
    const path = await shop.file('reconciled.json', {
      apiVersion,
      kind: 'Role',
      metadata: { name: 'reconciled', namespace: 'rights' },
      rules,
    })
    expect(await shop.run(`auth reconcile -f ${path}`)).toContain('reconciled')
    expect(await shop.json('get role reconciled')).toMatchObject({ rules })
  })

  it('asks what it may: can-i', async () => {
    expect(await bystander.run('auth can-i list configmaps')).toBe('yes')
    const no = await bystander.try(['auth', 'can-i', 'delete', 'configmaps'])
    expect([no.code, no.stdout.trim()]).toEqual([1, 'no'])
    expect(await shop.run('auth can-i * *')).toBe('yes')
    expect(await shop.run('auth can-i get configmaps --as=bystander')).toBe('yes')
    expect(await shop.run('auth can-i get nodes --as=someone-else --as-group=watchers')).toContain('yes')
    expect(await bystander.run('auth can-i get /metrics')).toBe('yes')
    expect((await bystander.try(['auth', 'can-i', 'get', 'secrets', '--as=root'])).stderr).toContain(
      'cannot impersonate resource "users"',
    )
  })

  it('acts as others [P250, P251, P253]', async () => {
    const groups = ['--as-group=a', '--as-group=b']
    const { status } = await shop.json(`auth whoami --as=carl ${groups.join(' ')} --as-uid=7`)
    expect(status.userInfo).toEqual({ username: 'carl', uid: '7', groups: ['a', 'b', 'system:authenticated'] })
    expect(await shop.refused('get secrets --as=carl')).toContain('User "carl" cannot list resource "secrets"')
    expect(await shop.run('get configmaps -o name --as=bystander')).toContain('configmap/')
    expect(await bystander.refused('get pods --as=kubernetes-admin')).toContain('cannot impersonate resource "users"')
    expect(await shop.run('get secrets --as=carl --as-group=system:masters')).toBe('')
  })

  it('lists what it may: can-i --list', async () => {
    const list = await bystander.run('auth can-i --list')
    expect(list).toMatch(/configmaps +\[\] +\[\] +\[get list\]/)
    expect(list).toMatch(/pods\/log +\[\] +\[\] +\[get\]/)
    expect(list).toMatch(/\[\/metrics\] +\[\] +\[get\]/)
    expect(list).toMatch(/selfsubjectaccessreviews\.authorization\.k8s\.io +\[\] +\[\] +\[create\]/)
  })

  it('reports why a role may not be written', async () => {
    await shop.run('create role manager --verb=create,update,patch,get --resource=roles,rolebindings')
    await shop.run('create rolebinding manager --role=manager --user=bystander')
    const refusal = await bystander.refused('create role more --verb=get --resource=secrets')
    expect(refusal).toContain(
      'user "bystander" (groups=["watchers" "system:authenticated"]) is attempting to grant RBAC permissions',
    )
    expect(refusal).toContain('{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}')
    expect(await bystander.refused('create rolebinding more --clusterrole=cluster-admin --user=bystander')).toContain(
      'not currently held',
    )
    expect(await bystander.run('create role same --verb=get --resource=configmaps')).toContain(
      'role.rbac.authorization.k8s.io/same created',
    )
  })

  it('finds the roles of every cluster, with the rules that they gather', async () => {
    expect(await shop.run('get clusterrole view -o name')).toBe('clusterrole.rbac.authorization.k8s.io/view')
    expect(await shop.run('describe clusterrole view')).toMatch(/deployments\.apps +\[\] +\[\] +\[get list watch\]/)
  })
})

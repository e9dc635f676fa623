import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { parseAccessRequest, resourcesOfRelease } from './access-request.ts'

const folder = temporaryFolder()
writeFileSync(
  join(folder, 'roles.yaml'),
  `apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: keys, namespace: shop}
rules:
- {apiGroups: [""], resources: [configmaps], verbs: [get]}
- {apiGroups: [""], resources: [secrets], resourceNames: [tls], verbs: [get, update]}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: unrelated}
---
apiVersion: v1
kind: List
items:
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: keys, namespace: shop}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: keys}
  subjects: [{kind: User, name: jane}, {kind: ServiceAccount, name: till}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: RoleBinding
  metadata: {name: viewers, namespace: shop}
  roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
  subjects: [{kind: Group, name: dev}]
`,
)

const run = async (line: string, ...files: string[]) => {
  const from = (files.length === 0 ? [folder] : files).flatMap((file) => ['-f', file])
  return runCommand([...line.split(' '), ...from])
}

describe('who-can', () => {
  it('lists subjects with binding, role and rule', async () => {
    const { out, code } = await run('who-can update secret/tls -n shop --no-bootstrap-roles')
    expect(code).toBe(0)
    expect(out.split('\n').map((line) => line.split(/ {3,}/))).toEqual([
      ['SUBJECT', 'BINDING', 'ROLE', 'RULE'],
      ...['User "jane"', 'ServiceAccount "till/shop"'].map((subject) => [
        subject,
        'RoleBinding "keys/shop"',
        'Role "keys"',
        'rule 2: {APIGroups:[""], Resources:["secrets"], ResourceNames:["tls"], Verbs:["get" "update"]}',
      ]),
      [''],
    ])
  })

  it('includes the bootstrap roles and their aggregation', async () => {
    const { out } = await run('who-can list deploy -n shop -o json')
    const names = (JSON.parse(out) as { subject: { name: string }; role: { name: string } }[]).map((each) => [
      each.subject.name,
      each.role.name,
    ])
    expect(names).toContainEqual(['dev', 'view'])
    expect(names).toContainEqual(['system:masters', 'cluster-admin'])
  })

  it('reports when no subject is allowed', async () => {
    const { out, err, code } = await run('who-can delete secrets -n shop --no-bootstrap-roles')
    expect([out, code]).toEqual(['', 1])
    expect(err).toContain('No binding allows delete secrets in the namespace "shop"')
  })
})

describe('can-i', () => {
  it('prints yes with the reason of kube-apiserver', async () => {
    expect(await run('can-i get secret/tls -n shop --as jane')).toMatchObject({
      out: 'yes - RBAC: allowed by RoleBinding "keys/shop" of Role "keys" to User "jane"\n',
      code: 0,
    })
  })

  it.each([
    ['get secrets -n shop --as jane', 'no\n', 1],
    ['get secret/tls -n other --as jane', 'no\n', 1],
    ['get secret/tls -A --as jane', 'no\n', 1],
    ['get configmaps -n shop --as system:serviceaccount:shop:till', 'yes', 0],
    ['get pods -n shop --subresource log --as joe --as-group dev', 'yes', 0],
    ['get /healthz --as system:anonymous', 'yes', 0],
    ['get /api --as system:anonymous', 'no\n', 1],
    ['get /api --as joe', 'yes', 0],
    ['* * --as root --as-group system:masters', 'yes', 0],
    ['impersonate users/jane --as jane', 'no\n', 1],
  ])('%s', async (line, out, code) => {
    const printed = await run(`can-i ${line}`)
    expect(printed.out.startsWith(out)).toBe(true)
    expect(printed.code).toBe(code)
  })

  it('prints JSON, or reports by the exit code alone', async () => {
    expect(JSON.parse((await run('can-i get secret/tls -n shop --as jane -o json')).out)).toMatchObject({ allowed: true })
    expect(await run('can-i get secrets -q -n shop --as jane')).toMatchObject({ out: '', code: 1 })
  })

  it('lists all permissions, one line per resource', async () => {
    const { out } = await run('can-i --list -n shop --as jane --no-bootstrap-roles')
    expect(out.split('\n').map((line) => line.split(/ {3,}/))).toEqual([
      ['Resources', 'Non-Resource URLs', 'Resource Names', 'Verbs'],
      ['configmaps', '[]', '[]', '[get]'],
      ['secrets', '[]', '[tls]', '[get update]'],
      [''],
    ])
    expect((await run('can-i --list -n shop --as joe --as-group dev')).out).toContain('deployments.apps/scale')
  })

  it.each([
    ['get pods', 'missing flag: --as USER'],
    ['--as jane', 'missing arguments: VERB RESOURCE'],
    ['get --as jane', 'missing argument: VERB RESOURCE'],
    ['get pods --list --as jane', '--list takes no verb'],
  ])('rejects %s with a message', async (line, sentence) => {
    const { err, code } = await run(`can-i ${line}`)
    expect(err).toContain(sentence)
    expect(code).toBe(2)
  })
})

describe('explain-access', () => {
  it('shows the binding and the rule', async () => {
    const { out, code } = await run('explain-access get secret/tls -n shop --as jane')
    expect(code).toBe(0)
    expect(out).toBe(
      [
        'yes: jane (groups system:authenticated) may get secrets "tls" in the namespace "shop"',
        '  RoleBinding "keys/shop" gives Role "keys" to User "jane";',
        '    rule 2: {APIGroups:[""], Resources:["secrets"], ResourceNames:["tls"], Verbs:["get" "update"]}',
        '',
      ].join('\n'),
    )
  })

  it('shows why the request is denied, and the allowed subjects', async () => {
    const { out, code } = await run('explain-access get secret/tls -n shop --as joe --as-group dev --no-bootstrap-roles')
    expect(code).toBe(1)
    expect(out).toBe(
      [
        'no: joe (groups dev, system:authenticated) may not get secrets "tls" in the namespace "shop"',
        '  Bindings of this user that do not allow it:',
        '    RoleBinding "viewers/shop" of ClusterRole "view": clusterrole.rbac.authorization.k8s.io "view" not found',
        '  Allowed subjects:',
        '    User "jane", by RoleBinding "keys/shop" of Role "keys"',
        '    ServiceAccount "till/shop", by RoleBinding "keys/shop" of Role "keys"',
        '',
      ].join('\n'),
    )
  })

  it('reports that administrators are always allowed', async () => {
    const { out } = await run('explain-access delete nodes --as root --as-group system:masters --no-bootstrap-roles -o json')
    expect(JSON.parse(out)).toMatchObject({ allowed: true, privilegedGroup: 'system:masters', grants: [] })
  })
})

describe('files', () => {
  it('exits with 2 for files that cannot be read', async () => {
    expect(await run('who-can get pods', join(folder, 'none.yaml'))).toMatchObject({ code: 2 })
  })

  it('warns about files without roles', async () => {
    const path = join(folder, 'empty.json')
    writeFileSync(path, '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"}}')
    expect((await run('who-can get pods', path)).err).toContain('no roles or bindings found')
    rmSync(path)
  })
})

describe('the release of bootstrap roles', () => {
  const editors = join(folder, 'editors.txt')
  writeFileSync(
    editors,
    `apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: editors, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: Group, name: editors}]
`,
  )

  it.each([
    ['1.21', 'no'],
    ['1.33', 'no'],
    ['1.35', 'yes'],
  ])('of %s decides whether editors create events of events.k8s.io: %s', async (release, answer) => {
    const { out } = await run(
      `can-i create events.events.k8s.io -n shop --as jo --as-group editors --release ${release}`,
      editors,
    )
    expect(out.split(' ')[0]?.trim()).toBe(answer)
  })

  it('resolves the names of resources', async () => {
    const { out } = await run('explain-access get deviceclasses --as jo --release 1.34', editors)
    expect(out).toContain('deviceclasses.resource.k8s.io')
  })

  it('is one that can be emulated', async () => {
    expect(await run('can-i get pods --as jo --release 1.12', editors)).toMatchObject({ code: 2 })
  })
})

describe('parseAccessRequest', async () => {
  const resources = await resourcesOfRelease('1.33')
  const questionOf = (resource: string, flags: object = {}) =>
    parseAccessRequest('get', resource, { allNamespaces: false, namespace: 'ns', resources, ...flags })

  it.each([
    ['deploy', { group: 'apps', resource: 'deployments', namespace: 'ns' }],
    ['Deployment', { group: 'apps', resource: 'deployments' }],
    ['deployments.apps/web', { group: 'apps', resource: 'deployments', name: 'web' }],
    ['events.events.k8s.io', { group: 'events.k8s.io', resource: 'events' }],
    ['nodes', { group: '', resource: 'nodes', namespace: '' }],
    ['ns/shop', { group: '', resource: 'namespaces', namespace: 'shop', name: 'shop' }],
    ['widgets.example.com', { group: 'example.com', resource: 'widgets', namespace: 'ns' }],
    ['userextras', { group: 'authentication.k8s.io', resource: 'userextras', namespace: '' }],
    ['constructor', { group: '', resource: 'constructor' }],
  ])('%s', (resource, question) => {
    expect(questionOf(resource)).toMatchObject(question)
  })

  it('parses paths as non-resource requests', () => {
    expect(questionOf('/metrics')).toMatchObject({ isResource: false, path: '/metrics', resource: '' })
  })
})

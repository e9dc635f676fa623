import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'

const folder = temporaryFolder()

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const admit = (...args: string[]) => runCommand(['admit', ...args])

const cluster = file(
  'cluster.yaml',
  `
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: baseline}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: usual, namespace: shop}
spec: {limits: [{type: Container, default: {cpu: 200m}, defaultRequest: {cpu: 100m}, max: {cpu: "1"}}]}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: few, namespace: shop}
spec: {hard: {pods: "2"}}
---
apiVersion: v1
kind: Pod
metadata: {name: running, namespace: shop}
spec: {hostNetwork: true, containers: [{name: c, image: i}]}
status: {phase: Running}
`,
)
const pod = (name: string, spec = '') => `
apiVersion: v1
kind: Pod
metadata: {name: ${name}, namespace: shop}
spec: {containers: [{name: c, image: i}]${spec}}
`

describe('krmkit admit', () => {
  it('shows the changes of each plugin', async () => {
    const { out, code, err } = await admit(file('one.yaml', pod('web')), '--config', cluster)
    expect(err).toBe('')
    expect(code).toBe(0)
    expect(out).toContain('Pod shop/web would be created')
    expect(out).toMatch(
      /ServiceAccount: the pod names no service account; .*\n(?: {4}.*\n)* {4}\+ \/spec\/serviceAccountName "default"/,
    )
    expect(out).toMatch(
      /LimitRanger: limit range usual has defaults\n(?: {4}.*\n)* {4}\+ \/spec\/containers\/0\/resources\/requests /,
    )
    expect(out).toContain('+ /spec/priority 0')
    expect(out).toContain('1 would be accepted, 0 refused')
  })

  it('refuses as the cluster would, and includes accepted objects in quotas', async () => {
    const { out, code } = await admit(
      file('many.yaml', [pod('web'), pod('more'), pod('host', ', hostPID: true')].join('---')),
      '--config',
      cluster,
    )
    expect(code).toBe(1)
    expect(out).toContain('Pod shop/more would not be created')
    expect(out).toContain(
      'refused by ResourceQuota: pods "more" is forbidden: exceeded quota: few, requested: pods=1, used: pods=2, limited: pods=2',
    )
    expect(out).toContain(
      'refused by PodSecurity: pods "host" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)',
    )
    expect(out).toContain('1 would be accepted, 2 refused')
  })

  it('prints JSON and YAML', async () => {
    const path = file('one.yaml', pod('web'))
    const [answer] = JSON.parse((await admit(path, '--config', cluster, '-o', 'json')).out) as {
      allowed: boolean
      decisions: { plugin: string }[]
      object: { spec: { priority: number } }
    }[]
    expect(answer).toMatchObject({
      kind: 'Pod',
      namespace: 'shop',
      operation: 'CREATE',
      allowed: true,
      object: { spec: { priority: 0 } },
    })
    expect(answer?.decisions.map(({ plugin }) => plugin)).toEqual([
      'LimitRanger',
      'ServiceAccount',
      'Priority',
      'DefaultTolerationSeconds',
      'PodSecurity',
    ])
    expect((await admit(path, '--config', cluster, '-o', 'yaml')).out).toContain('serviceAccountName: default')
  })

  it('runs the plugins that flags select, with their configuration', async () => {
    const configuration = file(
      'admission.yaml',
      `
apiVersion: apiserver.config.k8s.io/v1
kind: AdmissionConfiguration
plugins:
- name: PodNodeSelector
  configuration: {podNodeSelectorPluginConfig: {clusterDefaultNodeSelector: disk=ssd}}
- name: PodSecurity
  path: security.yaml
`,
    )
    file(
      'security.yaml',
      'apiVersion: pod-security.admission.config.k8s.io/v1\nkind: PodSecurityConfiguration\ndefaults: {warn: restricted}\n',
    )
    const { out } = await admit(
      file('one.yaml', pod('web')),
      '--config',
      cluster,
      '--enable-admission-plugins=PodNodeSelector',
      '--disable-admission-plugins=LimitRanger',
      `--admission-control-config-file=${configuration}`,
    )
    expect(out).toContain('+ /spec/nodeSelector {"disk":"ssd"}')
    expect(out).not.toContain('LimitRanger')
    expect(out).toContain('warning: would violate PodSecurity "restricted:latest"')
  })

  it('authorizes the user by the roles of the cluster', async () => {
    const roles = file(
      'roles.yaml',
      `
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: editors, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}]
`,
    )
    const path = file('one.yaml', pod('web'))
    const ask = async (user: string) => (await admit(path, '--config', cluster, '--config', roles, `--as=${user}`)).code
    expect([await ask('alice'), await ask('bob')]).toEqual([0, 1])
  })

  it('updates existing objects of the cluster', async () => {
    const { out, code } = await admit(
      file(
        'label.yaml',
        'apiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: restricted}}\n',
      ),
      '--config',
      cluster,
    )
    expect(code).toBe(0)
    expect(out).toContain('Namespace shop would be updated')
    expect(out).toContain(
      'warning: existing pods in namespace "shop" violate the new PodSecurity enforce level "restricted:latest"',
    )
  })

  it('finds definitions of custom resources in both sets of files', async () => {
    const definition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}}
`
    const widget = 'apiVersion: example.com/v1\nkind: Widget\nmetadata: {name: a}\nsize: '
    const path = file('widget.yaml', `${widget}1\n`)
    expect((await admit(path, '--config', file('definition.yaml', definition))).code).toBe(0)
    const both = await admit(file('both.yaml', `${widget}x\n---${definition}`))
    expect(both.code).toBe(1)
    expect(both.out).toContain('Widget default/a would not be created')
    expect(both.out).toContain('1 would be accepted, 1 refused')
  })

  it('reports invalid files', async () => {
    const { err, code } = await admit(file('odd.yaml', 'apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: a}\n'))
    expect(code).toBe(2)
    expect(err).toContain('the cluster does not serve Thing of example.com/v1')
  })
})

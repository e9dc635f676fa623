import { readFile } from 'node:fs/promises'
import { parseYaml } from '@krmkit/schema'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  bystanderToken,
  type Json,
  type Kubectl,
  type KubectlWorld,
  kubectlMissing,
  rows,
  skipNote,
  startKubectlWorld,
} from './support/kubectl.ts'
import { configMap, deployment, pod } from './support/manifests.ts'

/** Stock kubectl reads: get in all its forms, describe, explain, discovery, events, raw paths, permissions. */

const suite = describe.skipIf(kubectlMissing !== undefined).concurrent
let world: KubectlWorld
let shop: Kubectl

const running = {
  phase: 'Running',
  podIP: '10.1.2.3',
  podIPs: [{ ip: '10.1.2.3' }],
  startTime: '2026-01-01T00:00:00Z',
  conditions: [{ type: 'Ready', status: 'True' }],
  containerStatuses: [
    {
      name: 'main',
      image: 'registry.example.com/main:1',
      imageID: '',
      ready: true,
      restartCount: 2,
      state: { running: { startedAt: '2026-01-01T00:00:00Z' } },
    },
  ],
}

beforeAll(async () => {
  if (kubectlMissing !== undefined) return
  world = await startKubectlWorld()
  shop = await world.namespace('shop')
  const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-1', labels: { zone: 'a' } } }
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'front' },
    spec: { selector: { app: 'front' }, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
  }
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' }, stringData: { password: 'hidden' } }
  const maps = Array.from({ length: 25 }, (_, i) =>
    configMap(`map-${String(i).padStart(2, '0')}`, { i: `${i}` }, { parity: i % 2 === 0 ? 'even' : 'odd' }),
  )
  await shop.create(node, pod('front', { node: 'node-1' }), pod('back'), service, deployment('web'), secret, ...maps)
  const { uid } = (await shop.json('get pod front')).metadata
  const event = {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: 'front.1' },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', name: 'front', namespace: 'shop', uid },
    type: 'Warning',
    reason: 'BackOff',
    message: 'it fell over',
    source: { component: 'kubelet' },
    count: 3,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:05:00Z',
  }
  await shop.create(event)
  await shop.run('patch pod front --subresource=status --type=merge -p', { more: [JSON.stringify({ status: running })] })
})

afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
})

suite(`kubectl reads${skipNote}`, () => {
  it('get prints the columns of the kind [P31, P32, P193]', async () => {
    const [back, front] = rows(await shop.run('get pods'))
    expect(back).toMatchObject({ NAME: 'back', READY: '0/1', STATUS: 'Pending', RESTARTS: '0' })
    expect(front).toMatchObject({ NAME: 'front', READY: '1/1', STATUS: 'Running', RESTARTS: '2' })
    expect(Object.keys(front ?? {})).toEqual(['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'])
    expect(front?.['AGE']).toMatch(/^\d+s$/)
    expect(rows(await shop.run('get deployment web'))).toMatchObject([
      { NAME: 'web', READY: '0/2', 'UP-TO-DATE': '0', AVAILABLE: '0' },
    ])
    expect(rows(await shop.run('get secret keys'))).toMatchObject([{ NAME: 'keys', TYPE: 'Opaque', DATA: '1' }])
    expect(rows(await shop.run('get node node-1'))).toMatchObject([{ NAME: 'node-1', STATUS: 'Unknown', ROLES: '<none>' }])
  })

  it('get -o wide adds the columns of lower priority [P31]', async () => {
    const [, front] = rows(await shop.run('get pods -o wide'))
    expect(front).toMatchObject({
      NAME: 'front',
      IP: '10.1.2.3',
      NODE: 'node-1',
      'NOMINATED NODE': '<none>',
      'READINESS GATES': '<none>',
    })
    expect(rows(await shop.run('get deploy -o wide'))).toMatchObject([
      { NAME: 'web', CONTAINERS: 'main', IMAGES: 'registry.example.com/main:1', SELECTOR: 'app=web' },
    ])
    const [service] = rows(await shop.run('get service front -o wide'))
    expect(service).toMatchObject({
      NAME: 'front',
      TYPE: 'ClusterIP',
      'EXTERNAL-IP': '<none>',
      'PORT(S)': '80/TCP',
      SELECTOR: 'app=front',
    })
    expect(service?.['CLUSTER-IP']).toMatch(/^10\.\d+\.\d+\.\d+$/)
  })

  it('get -o json and -o yaml print complete objects [P21, P140, P189]', async () => {
    const one = await shop.json('get pod front --show-managed-fields')
    expect(one).toMatchObject({
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'front', namespace: 'shop' },
      status: { phase: 'Running', podIP: '10.1.2.3' },
    })
    expect(one.metadata.managedFields.map(({ manager, subresource }: Json) => [manager, subresource])).toEqual([
      ['kubectl-create', undefined],
      ['kubectl-patch', 'status'],
    ])
    const list = await shop.json('get configmaps')
    expect([list.apiVersion, list.kind, list.items.length]).toEqual(['v1', 'List', 26])
    const yaml = parseYaml(Buffer.from(await shop.run('get pod front -o yaml --show-managed-fields')))
    expect(yaml.value).toEqual(one)
  })

  it('get -o name, custom-columns, jsonpath and go-template [P140]', async () => {
    const [name, columns, path, template, noHead] = await Promise.all([
      shop.run('get pods,services -o name'),
      shop.run('get pods -o custom-columns=WHO:.metadata.name,IMAGE:.spec.containers[0].image,IP:.status.podIP'),
      shop.run('get pods -o', { more: ['jsonpath={range .items[*]}{.metadata.name}={.status.phase};{end}'] }),
      shop.run('get pod back -o', { more: ['go-template={{.metadata.name}}/{{len .spec.containers}}'] }),
      shop.run('get pods --no-headers -L app --sort-by=.metadata.creationTimestamp'),
    ])
    expect(name.split('\n')).toEqual(['pod/back', 'pod/front', 'service/front'])
    expect(rows(columns)).toEqual([
      { WHO: 'back', IMAGE: 'registry.example.com/main:1', IP: '<none>' },
      { WHO: 'front', IMAGE: 'registry.example.com/main:1', IP: '10.1.2.3' },
    ])
    expect(path).toBe('back=Pending;front=Running;')
    expect(template).toBe('back/1')
    expect(noHead.split('\n').map((line) => line.split(/ {2,}/).at(-1))).toEqual(expect.arrayContaining(['front', 'back']))
  })

  it('get -A shows all namespaces [P139]', async () => {
    const found = rows(await shop.run('get serviceaccounts -A'))
    expect(found.map((row) => row['NAMESPACE'])).toEqual(expect.arrayContaining(['default', 'kube-system', 'shop']))
    expect(rows(await shop.run('get all -A')).find((row) => row['NAME'] === 'pod/front')).toMatchObject({ NAMESPACE: 'shop' })
  })

  it('get -l selects by label, in every form of selector [P158]', async () => {
    const count = async (selector: string) =>
      (await shop.run('get configmaps -o name', { more: ['-l', selector] })).split('\n').filter(Boolean).length
    const counts = await Promise.all(
      [
        'parity=even',
        'parity!=even',
        'parity in (odd,none)',
        'parity',
        '!parity',
        'parity notin (odd),parity',
        'parity=none',
      ].map(count),
    )
    expect(counts).toEqual([13, 13, 12, 25, 1, 13, 0])
    expect(
      rows(await shop.run('get configmaps -l parity=odd --show-labels')).every((row) => row['LABELS'] === 'parity=odd'),
    ).toBe(true)
    expect(await shop.refused('get configmaps -l', { more: ['a in b'] })).toMatch(
      /^Error from server \(BadRequest\): .*unable to parse requirement|^error: /,
    )
  })

  it('get --field-selector selects by field [P157]', async () => {
    expect(await shop.run('get pods --field-selector status.phase=Running -o name')).toBe('pod/front')
    expect(await shop.run('get pods --field-selector status.phase!=Running,spec.nodeName= -o name')).toBe('pod/back')
    expect(await shop.run('get configmaps --field-selector metadata.name=map-07 -o name')).toBe('configmap/map-07')
    expect(await shop.run('get events --field-selector involvedObject.name=front,reason=BackOff -o name')).toBe('event/front.1')
    expect(await shop.refused('get configmaps --field-selector data.i=1')).toContain('Error from server (BadRequest)')
  })

  it('get --chunk-size reads in chunks of one snapshot [P156, P24]', async ({ expect }) => {
    expect(rows(await shop.run('get configmaps --chunk-size=7')).length).toBe(26)
    const chunks = () =>
      world.requests().filter((line) => line.includes('/namespaces/shop/configmaps?') && line.includes('limit=7'))
    await expect.poll(() => chunks().length, { timeout: 5000 }).toBe(4)
    expect(chunks().filter((line) => line.includes('continue=')).length).toBe(3)
  })

  it('get -w follows changes [P141, P301]', async ({ expect }) => {
    const watched = await world.namespace('watched')
    const plain = watched.follow('get pods -w -l app=watched')
    const events = watched.follow(
      'get configmaps -l app=watched --watch-only --output-watch-events -o custom-columns=EVENT:.type,NAME:.object.metadata.name',
    )
    const watches = () => world.requests().filter((line) => /\/watched\/(pods|configmaps)\?.*watch=true/.test(line))
    await expect.poll(() => watches().length, { timeout: 15_000, interval: 20 }).toBe(2)
    await watched.create(pod('watched', { node: 'node-1' }), configMap('watched', {}, { app: 'watched' }))
    await watched.run('patch pod watched --subresource=status --type=merge -p', { more: [JSON.stringify({ status: running })] })
    await watched.run('label configmap watched other=1')
    await watched.run('delete pod watched --grace-period=0 --force')
    await watched.run('delete configmap watched')
    await expect.poll(() => plain.text, { timeout: 15_000 }).toMatch(/watched +0\/1 +Pending[\s\S]*watched +1\/1 +Running/)
    await expect.poll(() => events.lines.length, { timeout: 15_000 }).toBeGreaterThanOrEqual(4)
    expect(events.lines.map((line) => line.split(/ +/))).toEqual([
      ['EVENT', 'NAME'],
      ['ADDED', 'watched'],
      ['MODIFIED', 'watched'],
      ['DELETED', 'watched'],
    ])
    await Promise.all([plain.stop(), events.stop()])
  })

  it('get -w of one object starts with its state [P142]', async ({ expect }) => {
    const following = shop.follow('get configmap map-03 -w -o name')
    await expect.poll(() => following.lines, { timeout: 15_000 }).toEqual(['configmap/map-03'])
    await shop.run('annotate configmap map-03 seen=yes')
    await shop.run('annotate configmap map-04 seen=yes')
    await expect.poll(() => following.lines, { timeout: 15_000 }).toEqual(['configmap/map-03', 'configmap/map-03'])
    await following.stop()
  })

  it('get of a missing object [P140]', async () => {
    expect(await shop.refused('get pod missing')).toBe('Error from server (NotFound): pods "missing" not found')
    expect(await shop.run('get pod missing --ignore-not-found')).toBe('')
    expect(await shop.refused('get nonsense')).toBe('error: the server doesn\'t have a resource type "nonsense"')
    const { stdout, stderr } = await shop.try(['get', 'cronjobs'])
    expect([stdout, stderr.trim()]).toEqual(['', 'No resources found in shop namespace.'])
  })

  it('describe shows objects and their events [P140, P157]', async () => {
    const [podText, deploymentText, serviceText, nodeText, mapText, secretText, namespaceText] = await Promise.all(
      ['pod front', 'deployment web', 'service front', 'node node-1', 'configmap map-01', 'secret keys', 'namespace shop'].map(
        (what) => shop.run(`describe ${what}`),
      ),
    )
    expect(podText).toMatch(/^Name: +front\n/)
    expect(podText).toMatch(/\nNode: +node-1/)
    expect(podText).toMatch(/\nStatus: +Running\n/)
    expect(podText).toMatch(/Service Account: +default/)
    expect(podText).toMatch(/Warning +BackOff .*kubelet +it fell over/)
    expect(deploymentText).toMatch(/Replicas: +2 desired \| 0 updated \| 0 total \| 0 available \| 0 unavailable/)
    expect(deploymentText).toMatch(/StrategyType: +RollingUpdate/)
    expect(deploymentText).toMatch(/RollingUpdateStrategy: +25% max unavailable, 25% max surge/)
    expect(serviceText).toMatch(/Port: +http {2}80\/TCP\nTargetPort: +http\/TCP/)
    expect(serviceText).toMatch(/Session Affinity: +None/)
    expect(nodeText).toMatch(/Non-terminated Pods: +\(\d+ in total\)[\s\S]*shop +front/)
    expect(mapText).toMatch(/Data\n====\ni:\n----\n1\n/)
    expect(secretText).toMatch(/password: +6 bytes/)
    expect(secretText).not.toContain('hidden')
    expect(namespaceText).toMatch(/Status: +Active/)
  })

  it('events shows what was reported, newest last [P342]', async () => {
    expect(rows(await shop.run('events'))).toMatchObject([
      { TYPE: 'Warning', REASON: 'BackOff', OBJECT: 'Pod/front', MESSAGE: 'it fell over' },
    ])
    expect((await shop.json('events --for pod/front --types=Warning')).items).toMatchObject([{ metadata: { name: 'front.1' } }])
    expect((await shop.try(['events', '--types=Normal'])).stderr.trim()).toBe('No events found in shop namespace.')
    expect(rows(await shop.run('get events'))).toMatchObject([{ TYPE: 'Warning', REASON: 'BackOff', OBJECT: 'pod/front' }])
    expect(await shop.run('get events.v1.events.k8s.io front.1 -o', { more: ['jsonpath={.regarding.name} {.note}'] })).toBe(
      'front it fell over',
    )
  })

  it('explain, --recursive too, tells the fields of every kind', async () => {
    const [one, field, recursive, version, error] = await Promise.all([
      shop.run('explain deployments'),
      shop.run('explain pod.spec.containers.image'),
      shop.run('explain deployment.spec --recursive'),
      shop.run('explain hpa.spec.metrics --api-version=autoscaling/v2'),
      shop.refused('explain pod.spec.nonsense'),
    ])
    expect(one).toMatch(/^GROUP: +apps\nKIND: +Deployment\nVERSION: +v1\n/)
    expect(one).toMatch(/\n {2}spec\t<DeploymentSpec>\n/)
    expect(field).toMatch(/FIELD: image <string>/)
    expect(recursive).toMatch(/\n {2}replicas\t<integer>\n/)
    expect(recursive).toMatch(
      /\n {2}selector\t<LabelSelector> -required-\n {4}matchExpressions\t<\[\]LabelSelectorRequirement>\n/,
    )
    expect(recursive).toMatch(/\n {6}containers\t<\[\]Container> -required-\n/)
    expect(version).toMatch(/FIELD: metrics <\[\]MetricSpec>/)
    expect(error).toBe('error: field "nonsense" does not exist')
  })

  it('explain --recursive works for every kind that can be created', async () => {
    const names = (await shop.run('api-resources --verbs=create,list -o name')).split('\n')
    expect(names.length).toBeGreaterThan(50)
    // One process for each kind would be slow: each release of kubectl tests another third.
    const chosen = names.filter((_, i) => i % 3 === 0)
    const texts = await Promise.all(chosen.map(async (name) => [name, await shop.run(`explain ${name} --recursive`)] as const))
    for (const [name, text] of texts)
      expect([name, text]).toEqual([
        name,
        expect.stringMatching(/\n {2}metadata\t<ObjectMeta>\n {4}annotations\t<map\[string\]string>\n/),
      ])
  })

  it('api-resources and api-versions tell what is served [P1, P137]', async () => {
    const all = rows(await shop.run('api-resources --cached'))
    expect(all.find((row) => row['NAME'] === 'pods')).toEqual({
      NAME: 'pods',
      SHORTNAMES: 'po',
      APIVERSION: 'v1',
      NAMESPACED: 'true',
      KIND: 'Pod',
    })
    expect(all.find((row) => row['NAME'] === 'clusterroles')).toMatchObject({
      APIVERSION: 'rbac.authorization.k8s.io/v1',
      NAMESPACED: 'false',
      KIND: 'ClusterRole',
    })
    expect((await shop.run('api-resources --api-group=apps -o name')).split('\n')).toEqual([
      'controllerrevisions.apps',
      'daemonsets.apps',
      'deployments.apps',
      'replicasets.apps',
      'statefulsets.apps',
    ])
    const wide = rows(await shop.run('api-resources -o wide --namespaced=false --api-group='))
    expect(wide.find((row) => row['NAME'] === 'namespaces')?.['VERBS']).toBe('create,delete,get,list,patch,update,watch')
    const versions = (await shop.run('api-versions')).split('\n')
    expect(versions).toEqual(
      expect.arrayContaining(['v1', 'apps/v1', 'autoscaling/v1', 'autoscaling/v2', 'events.k8s.io/v1', 'networking.k8s.io/v1']),
    )
    expect(versions).toEqual([...versions].sort())
  })

  it('cluster-info, its dump, version and raw paths [P189]', async () => {
    const info = await shop.run('cluster-info')
    expect(info).toContain('Kubernetes control plane')
    expect(info).toContain(world.server.url)
    const dump = await shop.file('dump', '').then((path) => `${path}-all`)
    await shop.run(`cluster-info dump --namespaces shop --output-directory ${dump}`)
    expect(JSON.parse(await readFile(`${dump}/shop/pods.json`, 'utf8'))).toMatchObject({ kind: 'PodList', items: [{}, {}] })
    const { serverVersion } = await shop.json('version')
    expect(serverVersion).toMatchObject({
      major: '1',
      minor: '33',
      gitVersion: expect.stringMatching(/^v1\.33\.\d+\+krmkit\./),
    })
    const [healthz, readyz, livez, apis, maps] = await Promise.all(
      ['/healthz', '/readyz?verbose', '/livez', '/apis/apps/v1', '/api/v1/namespaces/shop/configmaps?limit=2'].map((path) =>
        shop.run(`get --raw ${path}`),
      ),
    )
    expect([healthz, livez]).toEqual(['ok', 'ok'])
    expect(readyz).toMatch(/\[\+\]\S+ ok\n[\s\S]*readyz check passed$/)
    expect(JSON.parse(apis ?? '')).toMatchObject({ kind: 'APIResourceList', groupVersion: 'apps/v1' })
    expect(JSON.parse(maps ?? '')).toMatchObject({
      kind: 'ConfigMapList',
      metadata: { remainingItemCount: 24 },
      items: [{}, {}],
    })
    expect(await shop.run('get --raw /metrics')).toContain('# TYPE apiserver_request_total counter')
    expect(await shop.refused('get --raw /nowhere')).toBe(
      'Error from server (NotFound): the server could not find the requested resource',
    )
  })

  it('auth can-i and whoami [P3, P38, P236, P312]', async () => {
    const other = shop.with('--token', bystanderToken)
    const [me, they, may, mayNot, everything] = await Promise.all([
      shop.json('auth whoami'),
      other.json('auth whoami'),
      shop.run('auth can-i create deployments.apps --subresource=scale'),
      other.try(['auth', 'can-i', 'delete', 'pods', '--quiet']),
      shop.run('auth can-i * *'),
    ])
    expect(me.status.userInfo).toMatchObject({
      username: 'kubernetes-admin',
      groups: ['system:masters', 'system:authenticated'],
    })
    expect(they.status.userInfo).toMatchObject({ username: 'bystander', groups: ['watchers', 'system:authenticated'] })
    expect([may, mayNot.code, everything]).toEqual(['yes', 1, 'yes'])
    expect(await other.refused('get pods')).toMatch(
      /^Error from server \(Forbidden\): pods is forbidden: User "bystander" cannot list resource "pods" in API group "" in the namespace "shop"/,
    )
    expect(await shop.with('--token', 'missing').refused('get pods')).toMatch(/^error: You must be logged in to the server/)
  })
})

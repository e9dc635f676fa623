import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type Json,
  type Kubectl,
  type KubectlWorld,
  kubectlMinor,
  kubectlMissing,
  rows,
  skipNote,
  startKubectlWorld,
} from './support/kubectl.ts'
import { configMap, deployment, pod, rolledOut } from './support/manifests.ts'

/** Stock kubectl over the lifecycle of objects: run, scale, expose, rollouts, waiting, and all kinds of deletion. */

const suite = describe.skipIf(kubectlMissing !== undefined).concurrent
let world: KubectlWorld

beforeAll(async () => {
  if (kubectlMissing === undefined) world = await startKubectlWorld()
})

afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
})

/** A ReplicaSet with a pod, as the controllers of a cluster would create them for a deployment. */
async function grow(kubectl: Kubectl, parent: Json, revision = '1', image = 'registry.example.com/main:1'): Promise<void> {
  const { name, uid } = parent.metadata
  const owner = (kind: string, apiVersion: string, of: { name: string; uid: string }) => [
    { apiVersion, kind, ...of, controller: true, blockOwnerDeletion: true },
  ]
  const labels = { app: name, 'pod-template-hash': `h${revision}` }
  const child = `${name}-h${revision}`
  await kubectl.create({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name: child,
      labels,
      annotations: { 'deployment.kubernetes.io/revision': revision },
      ownerReferences: owner('Deployment', 'apps/v1', { name, uid }),
    },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } },
    },
  })
  const set = await kubectl.json(`get replicaset ${child}`)
  const ownerReferences = owner('ReplicaSet', 'apps/v1', { name: child, uid: set.metadata.uid })
  await kubectl.create(pod(`${child}-1`, { labels, metadata: { ownerReferences } }))
}

suite(`kubectl over the life of objects${skipNote}`, () => {
  it('scale sets replicas of every workload, with --current-replicas as a precondition [P1, P2]', async () => {
    const kubectl = await world.namespace('scale')
    await kubectl.create(deployment('web'), { ...deployment('db'), kind: 'StatefulSet' })
    expect(await kubectl.run('scale deployment web --replicas=5')).toBe('deployment.apps/web scaled')
    expect(await kubectl.run('scale deployment/web statefulset/db --current-replicas=5 --replicas=1').catch(String)).toContain(
      'Expected replicas to be 5, was 2',
    )
    expect(await kubectl.run('scale statefulset db --replicas=3')).toBe('statefulset.apps/db scaled')
    expect(await kubectl.run('get deployment,statefulset -o', { more: ['jsonpath={.items[*].spec.replicas}'] })).toBe('1 3')
    expect(JSON.parse(await kubectl.run('get --raw /apis/apps/v1/namespaces/scale/deployments/web/scale'))).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 1 },
      status: { selector: 'app=web' },
    })
    expect(await kubectl.run('autoscale deployment web --min=2 --max=9 --cpu-percent=70')).toBe(
      'horizontalpodautoscaler.autoscaling/web autoscaled',
    )
    expect(rows(await kubectl.run('get hpa'))).toMatchObject([
      { NAME: 'web', REFERENCE: 'Deployment/web', MINPODS: '2', MAXPODS: '9', REPLICAS: '0' },
    ])
    expect((await kubectl.json('get horizontalpodautoscalers.v1.autoscaling web')).spec).toMatchObject({
      maxReplicas: 9,
      targetCPUUtilizationPercentage: 70,
    })
    expect(await kubectl.refused('scale configmap kube-root-ca.crt --replicas=1')).toContain(
      'could not find the requested resource',
    )
  })

  it('run and expose [P143]', async () => {
    const kubectl = await world.namespace('expose')
    expect(await kubectl.run('run one --image=registry.example.com/one:1 --port=8080 --labels=app=one --env=A=b')).toBe(
      'pod/one created',
    )
    expect(await kubectl.run('expose pod one --port=80 --target-port=8080 --name=front')).toBe('service/front exposed')
    await kubectl.create(deployment('web'))
    expect(await kubectl.run('expose deployment web --type=NodePort --port=8080')).toBe('service/web exposed')
    const [front, web] = (await kubectl.json('get services')).items
    expect(front.spec).toMatchObject({
      type: 'ClusterIP',
      selector: { app: 'one' },
      ports: [{ port: 80, targetPort: 8080, protocol: 'TCP' }],
      ipFamilies: ['IPv4'],
      sessionAffinity: 'None',
    })
    expect(web.spec.ports[0].nodePort).toBeGreaterThanOrEqual(30_000)
    expect(front.spec.clusterIP).not.toBe(web.spec.clusterIP)
    expect(await kubectl.refused('expose pod missing --port=1')).toBe('Error from server (NotFound): pods "missing" not found')
    expect(rows(await kubectl.run('get services'))).toMatchObject([
      { NAME: 'front', TYPE: 'ClusterIP', 'PORT(S)': '80/TCP' },
      { NAME: 'web', TYPE: 'NodePort', 'PORT(S)': `8080:${web.spec.ports[0].nodePort}/TCP` },
    ])
  })

  it('rollout status waits for the status, pause, resume, restart, history and undo [P141, P184]', async ({ expect }) => {
    const kubectl = await world.namespace('rollout')
    await kubectl.create(deployment('web'))
    const status = kubectl.follow('rollout status deployment/web --timeout=30s')
    await expect
      .poll(() => status.text, { timeout: 15_000 })
      .toMatch(/^Waiting for deployment (spec update to be observed|"web" rollout to finish)/)
    const report = (replicas: number, generation: number) =>
      kubectl.run('patch deployment web --subresource=status --type=merge -p', { more: [rolledOut(replicas, generation)] })
    await report(1, 1)
    await expect.poll(() => status.text, { timeout: 15_000 }).toContain('1 out of 2 new replicas have been updated')
    await report(2, 1)
    expect(await status.ended).toBe(0)
    expect(status.text).toMatch(/\ndeployment "web" successfully rolled out\n$/)

    expect(await kubectl.run('rollout pause deployment/web')).toBe('deployment.apps/web paused')
    expect(await kubectl.refused('rollout pause deployment/web')).toContain('is already paused')
    expect(await kubectl.refused('rollout restart deployment/web')).toContain("can't restart paused deployment")
    expect(await kubectl.run('rollout resume deployment/web')).toBe('deployment.apps/web resumed')
    expect(await kubectl.run('rollout restart deployment/web')).toBe('deployment.apps/web restarted')
    const restarted = await kubectl.json('get deployment web')
    expect(restarted.spec.template.metadata.annotations['kubectl.kubernetes.io/restartedAt']).toMatch(/^20/)
    expect(restarted.metadata.generation).toBe(4)
    expect(await kubectl.refused('rollout status deployment/web --timeout=1s')).toBe('error: timed out waiting for the condition')

    await grow(kubectl, restarted, '1', 'registry.example.com/main:1')
    await grow(kubectl, restarted, '2', 'registry.example.com/main:2')
    await kubectl.run('set image deployment/web main=registry.example.com/main:2')
    expect(
      rows((await kubectl.run('rollout history deployment/web')).split('\n').slice(1).join('\n')).map((row) => row['REVISION']),
    ).toEqual(['1', '2'])
    expect(await kubectl.run('rollout history deployment/web --revision=1')).toMatch(/Image:\s+registry.example.com\/main:1/)
    expect(await kubectl.run('rollout undo deployment/web --to-revision=1')).toBe('deployment.apps/web rolled back')
    expect((await kubectl.json('get deployment web')).spec.template.spec.containers[0].image).toBe('registry.example.com/main:1')
  })

  it('wait for a condition, a value and deletion [P141]', async ({ expect }) => {
    const kubectl = await world.namespace('wait')
    await kubectl.create(pod('p'), configMap('m', { phase: 'new' }))
    const waiting = {
      ready: kubectl.follow('wait pod/p --for=condition=Ready --timeout=30s'),
      value: kubectl.follow('wait configmap/m --for=jsonpath={.data.phase}=done --timeout=30s'),
      gone: kubectl.follow('wait pod/p --for=delete --timeout=30s'),
    }
    const watches = () =>
      world.requests().filter((line) => /\/namespaces\/wait\/(pods|configmaps)\?.*watch=true/.test(line)).length
    await expect.poll(watches, { timeout: 20_000 }).toBeGreaterThanOrEqual(3)
    await kubectl.run('patch pod p --subresource=status --type=merge -p', {
      more: ['{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'],
    })
    expect([await waiting.ready.ended, waiting.ready.text]).toEqual([0, 'pod/p condition met\n'])
    await kubectl.run('patch configmap m -p', { more: ['{"data":{"phase":"done"}}'] })
    expect([await waiting.value.ended, waiting.value.text]).toEqual([0, 'configmap/m condition met\n'])
    await kubectl.run('delete pod p --force --grace-period=0')
    expect([await waiting.gone.ended, waiting.gone.text]).toEqual([0, 'pod/p condition met\n'])
    expect(await kubectl.refused('wait configmap/m --for=delete --timeout=1s')).toBe(
      'error: timed out waiting for the condition on configmaps/m',
    )
  })

  it.skipIf(kubectlMinor < 31)('wait --for=create, since kubectl 1.31 [P141]', async ({ expect }) => {
    const kubectl = await world.namespace('wait-create')
    const waiting = kubectl.follow('wait configmap/later --for=create --timeout=30s')
    const request = () =>
      world.requests().some((line) => line.includes('/namespaces/wait-create/configmaps') && line.includes('later'))
    await expect.poll(request, { timeout: 20_000 }).toBe(true)
    await kubectl.create(configMap('later'))
    expect([await waiting.ended, waiting.text]).toEqual([0, 'configmap/later condition met\n'])
  })

  it('delete by name, file, label and all [P147, P148]', async () => {
    const kubectl = await world.namespace('delete')
    await kubectl.create(
      ...['a', 'b', 'c', 'd', 'e'].map((name) => configMap(name, {}, { half: name < 'c' ? 'first' : 'second' })),
    )
    expect(await kubectl.run('delete configmap a --dry-run=server')).toBe('configmap "a" deleted (server dry run)')
    expect(await kubectl.run('delete configmap a')).toBe('configmap "a" deleted')
    expect(await kubectl.refused('delete configmap a')).toBe('Error from server (NotFound): configmaps "a" not found')
    expect(await kubectl.run('delete configmap a --ignore-not-found')).toBe('')
    expect(await kubectl.run('delete -f -', { stdin: JSON.stringify(configMap('b')) })).toBe('configmap "b" deleted')
    expect(await kubectl.run('delete configmap -l half=second --field-selector=metadata.name!=e')).toBe(
      'configmap "c" deleted\nconfigmap "d" deleted',
    )
    expect(await kubectl.run('delete configmap e -o name')).toBe('configmap/e')
    await kubectl.create(configMap('x'), configMap('y'))
    expect(await kubectl.run('delete configmaps --all')).toContain('configmap "x" deleted\nconfigmap "y" deleted')
    await kubectl.create(configMap('raw'))
    expect(JSON.parse(await kubectl.run('delete --raw /api/v1/namespaces/delete/configmaps/raw'))).toMatchObject({
      kind: 'Status',
      status: 'Success',
      details: { name: 'raw' },
    })
  })

  it('delete --wait returns after the last finalizer is removed [P125, P127]', async ({ expect }) => {
    const kubectl = await world.namespace('finalizers')
    await kubectl.create({ ...configMap('held'), metadata: { name: 'held', finalizers: ['example.com/hold'] } })
    expect(await kubectl.run('delete configmap held --wait=false')).toBe('configmap "held" deleted')
    expect((await kubectl.json('get configmap held')).metadata.deletionTimestamp).toMatch(/^20/)
    expect(await kubectl.refused('delete configmap held --timeout=1s')).toBe(
      'error: timed out waiting for the condition on configmaps/held',
    )
    const waiting = kubectl.follow('delete configmap held --wait')
    await expect.poll(() => waiting.text, { timeout: 15_000 }).toBe('configmap "held" deleted\n')
    await kubectl.run('patch configmap held --type=json -p', { more: ['[{"op":"remove","path":"/metadata/finalizers"}]'] })
    expect(await waiting.ended).toBe(0)
    expect(await kubectl.run('get configmap held --ignore-not-found')).toBe('')
  })

  it('delete --force and --grace-period delete pods without a kubelet [P165]', async () => {
    const kubectl = await world.namespace('grace')
    await kubectl.create(pod('slow', { node: 'nowhere' }), pod('unscheduled'))
    expect(await kubectl.run('delete pod unscheduled')).toBe('pod "unscheduled" deleted')
    expect(await kubectl.run('delete pod slow --wait=false')).toBe('pod "slow" deleted')
    expect((await kubectl.json('get pod slow')).metadata.deletionGracePeriodSeconds).toBe(30)
    expect(rows(await kubectl.run('get pods'))).toMatchObject([{ NAME: 'slow', STATUS: 'Terminating' }])
    await kubectl.run('delete pod slow --grace-period=29 --wait=false')
    expect((await kubectl.json('get pod slow')).metadata.deletionGracePeriodSeconds).toBe(29)
    const forced = await kubectl.try(['delete', 'pod', 'slow', '--grace-period=0', '--force'])
    expect([forced.code, forced.stdout]).toEqual([0, 'pod "slow" force deleted\n'])
    expect(await kubectl.run('get pods -o name')).toBe('')
  })

  it('delete --cascade=background, foreground and orphan [P166]', async ({ expect }) => {
    const kubectl = await world.namespace('cascade')
    const names = ['background', 'foreground', 'orphan']
    await kubectl.create(...names.map((name) => deployment(name)))
    for (const name of names) await grow(kubectl, await kubectl.json(`get deployment ${name}`))
    const left = async (name: string) =>
      (await kubectl.run(`get deployments,replicasets,pods -l app=${name} -o name`)).split('\n').filter(Boolean)
    expect(await left('orphan')).toEqual(['deployment.apps/orphan', 'replicaset.apps/orphan-h1', 'pod/orphan-h1-1'])

    expect(await kubectl.run('delete deployment background --cascade=background')).toBe('deployment.apps "background" deleted')
    await expect.poll(() => left('background'), { timeout: 20_000 }).toEqual([])

    // Returns only after all dependents are deleted.
    expect(await kubectl.run('delete deployment foreground --cascade=foreground')).toBe('deployment.apps "foreground" deleted')
    expect(await left('foreground')).toEqual([])

    expect(await kubectl.run('delete deployment orphan --cascade=orphan')).toBe('deployment.apps "orphan" deleted')
    expect(await left('orphan')).toEqual(['replicaset.apps/orphan-h1', 'pod/orphan-h1-1'])
    const [set, child] = await Promise.all([kubectl.json('get replicaset orphan-h1'), kubectl.json('get pod orphan-h1-1')])
    expect([set.metadata.ownerReferences, child.metadata.ownerReferences.length]).toEqual([undefined, 1])
  })

  it('delete of a namespace deletes its content [P9, P128, P130]', async () => {
    const kubectl = await world.namespace('short-lived')
    await kubectl.create(deployment('web'), pod('p'), configMap('m'))
    await kubectl.run('create secret generic s --from-literal=a=b')
    expect(await kubectl.run('delete namespace short-lived')).toBe('namespace "short-lived" deleted')
    expect(await kubectl.run('get namespace short-lived --ignore-not-found')).toBe('')
    expect(await kubectl.run('get configmaps,pods,deployments,secrets,serviceaccounts -o name')).toBe('')
    expect(await kubectl.refused('create configmap again')).toBe(
      'error: failed to create configmap: namespaces "short-lived" not found',
    )
    const [system, usual] = await Promise.all(
      ['kube-system', 'default'].map((name) => world.kubectl.refused(`delete namespace ${name}`)),
    )
    expect(system).toBe('Error from server (Forbidden): namespaces "kube-system" is forbidden: this namespace may not be deleted')
    expect(usual).toBe('Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted')
    await world.namespace('short-lived')
  })

  it('cordon, taint, and drain with eviction [P4]', async ({ expect }) => {
    const kubectl = await world.namespace('drain')
    await kubectl.create({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'drained' } })
    expect(await kubectl.run('taint node drained example.com/key=v:NoSchedule')).toBe('node/drained tainted')
    expect(await kubectl.run('taint node drained example.com/key-')).toBe('node/drained untainted')
    await kubectl.create(deployment('web'))
    await grow(kubectl, await kubectl.json('get deployment web'))
    const bare = pod('lonely', { node: 'drained' })
    await kubectl.create(bare)
    // The budget counts running and ready pods; other pods may always be evicted.
    const ready = { status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] } }
    await kubectl.run('patch pod lonely --subresource=status --type=merge -p', { more: [JSON.stringify(ready)] })
    expect(await kubectl.refused('drain drained --timeout=5s')).toMatch(/cannot delete Pods (that )?declare no controller/)
    await kubectl.run('create poddisruptionbudget spare --selector=app=lonely --min-available=1')
    await kubectl.run('wait poddisruptionbudget/spare --for=jsonpath={.status.currentHealthy}=1 --timeout=20s')
    const draining = kubectl.follow('drain drained --force --grace-period=0 --timeout=40s')
    await expect
      .poll(() => draining.errors, { timeout: 20_000 })
      .toMatch(/Cannot evict pod as it would violate the pod's disruption budget/)
    await kubectl.run('delete poddisruptionbudget spare')
    expect(await draining.ended).toBe(0)
    expect(draining.text).toContain('pod/lonely evicted')
    expect(rows(await kubectl.run('get node drained'))[0]?.['STATUS']).toContain('SchedulingDisabled')
    expect(await kubectl.run('uncordon drained')).toBe('node/drained uncordoned')
  })

  it('custom resources work like any other kind [P1, P137, P33, P200]', async ({ expect }) => {
    const kubectl = await world.namespace('custom')
    const size = { type: 'integer', minimum: 1, description: 'How big.' }
    const spec = { type: 'object', required: ['size'], properties: { size, colour: { type: 'string', default: 'red' } } }
    const status = { type: 'object', properties: { size: { type: 'integer' } } }
    const version = {
      name: 'v1',
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: 'object', description: 'A thing.', properties: { spec, status } } },
      subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
      additionalPrinterColumns: [{ name: 'Size', type: 'integer', jsonPath: '.spec.size' }],
    }
    const names = { plural: 'widgets', singular: 'widget', kind: 'Widget', shortNames: ['wd'] }
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.shop.example.com' },
      spec: { group: 'shop.example.com', scope: 'Namespaced', names, versions: [version] },
    }
    const widget = { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'a' }, spec: { size: 3 } }
    await kubectl.run('apply -f -', { stdin: JSON.stringify(definition) })
    await kubectl.run('wait crd/widgets.shop.example.com --for=condition=Established --timeout=20s')
    expect(await kubectl.run('apply -f -', { stdin: JSON.stringify(widget) })).toBe('widget.shop.example.com/a created')
    expect(await kubectl.run('apply -f -', { stdin: JSON.stringify(widget) })).toBe('widget.shop.example.com/a unchanged')
    expect(rows(await kubectl.run('get wd'))).toEqual([{ NAME: 'a', SIZE: '3' }])
    expect((await kubectl.json('get widget a')).spec).toEqual({ size: 3, colour: 'red' })
    expect(await kubectl.run('scale widget a --replicas=9')).toBe('widget.shop.example.com/a scaled')
    const { code, stdout } = await kubectl.try(['diff', '-f', '-'], { stdin: JSON.stringify({ ...widget, spec: { size: 4 } }) })
    expect([code, stdout]).toEqual([1, expect.stringMatching(/\n- +size: 9\n\+ +size: 4\n/)])
    expect(await kubectl.run('describe widget a')).toMatch(/\nSpec:\n {2}Colour: {2}red\n {2}Size: {4}9\n/)
    const shared = JSON.stringify({ ...widget, spec: { colour: 'blue', size: 9 } })
    expect(await kubectl.refused('apply --server-side -f -', { stdin: shared })).toContain('conflict')
    expect(await kubectl.run('apply --server-side --force-conflicts -f -', { stdin: shared })).toContain('serverside-applied')
    expect(await kubectl.run('explain widget.spec')).toMatch(/\n {2}size\t<integer> -required-\n {4}How big\.$/)
    expect(await kubectl.refused('patch widget a --type=merge -p', { more: ['{"spec":{"size":0}}'] })).toBe(
      'The Widget "a" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1',
    )
    const unknown = { ...widget, spec: { size: 1, sise: 2 } }
    expect(await kubectl.refused('create -f -', { stdin: JSON.stringify(unknown) })).toContain('unknown field "spec.sise"')
    expect(await kubectl.run('delete crd widgets.shop.example.com')).toContain('"widgets.shop.example.com" deleted')
    await expect.poll(() => kubectl.try(['get', 'widgets']), { timeout: 20_000 }).toMatchObject({ code: 1, stdout: '' })
  })
})

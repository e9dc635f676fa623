import { readFile } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Json, type KubectlWorld, kubectlMissing, rows, skipNote, startKubectlWorld } from './support/kubectl.ts'
import { configMap, deployment, pod } from './support/manifests.ts'

/** Stock kubectl writes: create, apply, diff, replace, edit, patch, label, annotate, set. Each test has its own namespace. */

const suite = describe.skipIf(kubectlMissing !== undefined).concurrent
let world: KubectlWorld

beforeAll(async () => {
  if (kubectlMissing === undefined) world = await startKubectlWorld()
})

afterAll(async () => {
  await world?.[Symbol.asyncDispose]()
})

suite(`kubectl writes${skipNote}`, () => {
  it('create from files, several documents and standard input [P143, P10]', async () => {
    const kubectl = await world.namespace('create')
    const yaml = `# two in one
apiVersion: v1
kind: ConfigMap
metadata:
  name: from-yaml
data:
  text: |
    two
    lines
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: from-yaml}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {containers: [{name: c, image: registry.example.com/c:1}]}
`
    const path = await kubectl.file('create.yaml', yaml)
    expect(await kubectl.run(`create -f ${path}`)).toBe('configmap/from-yaml created\ndeployment.apps/from-yaml created')
    expect((await kubectl.json('get configmap from-yaml')).data).toEqual({ text: 'two\nlines\n' })
    expect(await kubectl.create({ ...configMap(''), metadata: { generateName: 'made-' } })).toMatch(
      /^configmap\/made-[a-z0-9]{5} created$/,
    )
    expect(await kubectl.refused(`create -f ${path}`)).toContain('Error from server (AlreadyExists): error when creating')
    expect(await kubectl.refused(`create -f ${path}`)).toContain('deployments.apps "from-yaml" already exists')
  })

  it('create --dry-run=server stores nothing [P195, P199]', async () => {
    const kubectl = await world.namespace('dry')
    const made = JSON.parse(
      await kubectl.run('create -f - --dry-run=server -o json', { stdin: JSON.stringify(deployment('web')) }),
    )
    expect([made.spec.progressDeadlineSeconds, made.metadata.uid]).toEqual([600, expect.stringMatching(/^[0-9a-f-]{36}$/)])
    expect(await kubectl.run('create configmap m --from-literal=a=b --dry-run=server')).toBe(
      'configmap/m created (server dry run)',
    )
    expect(await kubectl.run('get deployments,configmaps -o name')).toBe('configmap/kube-root-ca.crt')
  })

  it('create reports unknown fields, strictly by default [P205, P206, P208]', async () => {
    const kubectl = await world.namespace('strict')
    const stdin = JSON.stringify({
      ...deployment('web'),
      spec: { ...(deployment('web') as Json).spec, replicaz: 2, template: { spec: { extra: 1 } } },
    })
    expect(await kubectl.refused('create -f -', { stdin })).toMatch(
      /^Error from server \(BadRequest\): error when creating "STDIN": Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: .*unknown field "spec.replicaz", unknown field "spec.template.spec.extra"$/,
    )
    const warned = await kubectl.try(['create', '-f', '-', '--validate=warn'], {
      stdin: JSON.stringify({ ...configMap('w'), extra: 1 }),
    })
    expect([warned.code, warned.stdout, warned.stderr]).toEqual([0, 'configmap/w created\n', 'Warning: unknown field "extra"\n'])
    expect(await kubectl.run('create -f - --validate=ignore', { stdin: JSON.stringify({ ...configMap('i'), extra: 1 }) })).toBe(
      'configmap/i created',
    )
  })

  it('create refuses invalid objects with every cause [P309]', async () => {
    const kubectl = await world.namespace('invalid')
    const bad = { ...configMap('BAD_name', { 'no/key': 'x' }) }
    const text = await kubectl.refused('create -f -', { stdin: JSON.stringify(bad) })
    expect(text).toMatch(
      /^The ConfigMap "BAD_name" is invalid: \n\* metadata.name: Invalid value: "BAD_name": .*\n\* data\[no\/key\]: Invalid value: "no\/key": /,
    )
    expect(await kubectl.refused('create configmap x -n nowhere')).toBe(
      'error: failed to create configmap: namespaces "nowhere" not found',
    )
  })

  it('create supports every subcommand [P143, S104]', async () => {
    const kubectl = await world.namespace('kinds')
    const lines = [
      'configmap settings --from-literal=a=1 --from-literal=b=2',
      'secret generic keys --from-literal=password=x',
      'secret docker-registry pull --docker-server=registry.example.com --docker-username=u --docker-password=p',
      'deployment web --image=registry.example.com/web:1 --replicas=3 --port=80',
      'job once --image=registry.example.com/job:1 -- run it',
      'cronjob nightly --image=registry.example.com/job:1 --schedule=0_0_*_*_*',
      'service clusterip inside --tcp=80:8080',
      'service nodeport outside --tcp=80 --node-port=30080',
      'service loadbalancer balanced --tcp=443',
      'service externalname elsewhere --external-name example.com',
      'serviceaccount robot',
      'role reader --verb=get,list --resource=pods,deployments.apps',
      'rolebinding readers --role=reader --user=bob --serviceaccount=kinds:robot',
      'clusterrole kinds-reader --verb=get --resource=nodes',
      'clusterrolebinding kinds-readers --clusterrole=kinds-reader --group=team',
      'quota limits --hard=pods=10,requests.cpu=4',
      'poddisruptionbudget spare --selector=app=web --min-available=50%',
      'priorityclass kinds-high --value=1000 --description=first',
      'ingress front --rule=shop.example.com/*=inside:80',
    ]
    for (const line of lines) {
      const more = line.split(' ').map((word) => word.replaceAll('_', ' '))
      const output = await kubectl.run('create', { more })
      expect([line, output]).toEqual([line, expect.stringMatching(/^[a-z.0-9]+\/[a-z-]+ created$/)])
    }
    const [job] = (await kubectl.json('get jobs')).items
    expect([
      job.spec.template.spec.containers[0].command,
      job.spec.backoffLimit,
      job.spec.selector.matchLabels['batch.kubernetes.io/controller-uid'],
    ]).toEqual([['run', 'it'], 6, job.metadata.uid])
    expect((await kubectl.json('get cronjob nightly')).spec.schedule).toBe('0 0 * * *')
    expect((await kubectl.json('get service outside')).spec.ports).toEqual([
      { name: '80', nodePort: 30080, port: 80, protocol: 'TCP', targetPort: 80 },
    ])
    expect((await kubectl.json('get secret pull')).type).toBe('kubernetes.io/dockerconfigjson')
    expect((await kubectl.json('get poddisruptionbudget spare')).spec).toEqual({
      minAvailable: '50%',
      selector: { matchLabels: { app: 'web' } },
    })
    expect(rows(await kubectl.run('get ingress front'))).toMatchObject([
      { CLASS: '<none>', HOSTS: 'shop.example.com', PORTS: '80' },
    ])
    const token = await kubectl.run('create token robot --duration=10m')
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    expect(claims).toMatchObject({ sub: 'system:serviceaccount:kinds:robot' })
    expect((await kubectl.with('--token', token).json('auth whoami')).status.userInfo.username).toBe(
      'system:serviceaccount:kinds:robot',
    )
  })

  it('client-side apply merges changes since the last apply [P145, P18]', async () => {
    const kubectl = await world.namespace('apply')
    const first = configMap('m', { a: '1', b: '2' })
    const apply = (object: object, flags = '') => kubectl.run(`apply -f -${flags}`, { stdin: JSON.stringify(object) })
    expect(await apply(first)).toBe('configmap/m created')
    expect(await apply(first)).toBe('configmap/m unchanged')
    await kubectl.run('patch configmap m -p', { more: ['{"data":{"others":"stay"}}'] })
    expect(await apply(configMap('m', { a: '9' }))).toBe('configmap/m configured')
    const now = await kubectl.json('get configmap m')
    expect(now.data).toEqual({ a: '9', others: 'stay' })
    expect(JSON.parse(now.metadata.annotations['kubectl.kubernetes.io/last-applied-configuration'])).toMatchObject({
      data: { a: '9' },
    })
    expect(JSON.parse(await kubectl.run('apply view-last-applied configmap m -o json'))).toMatchObject({ data: { a: '9' } })

    expect(await apply(deployment('web'))).toBe('deployment.apps/web created')
    const two = deployment('web') as Json
    two.spec.template.spec.containers.push({ name: 'side', image: 'registry.example.com/side:1' })
    expect(await apply(two)).toBe('deployment.apps/web configured')
    expect(await apply(two)).toBe('deployment.apps/web unchanged')
    expect(await apply(deployment('web', { image: 'registry.example.com/main:2' }))).toBe('deployment.apps/web configured')
    const web = await kubectl.json('get deployment web')
    expect(web.spec.template.spec.containers.map(({ name, image }: Json) => [name, image])).toEqual([
      ['main', 'registry.example.com/main:2'],
    ])
    expect(web.metadata.generation).toBe(3)
    expect(await apply(configMap('old', {}, { set: 'x' }))).toBe('configmap/old created')
    expect(await apply(configMap('new', {}, { set: 'x' }), ' --prune -l set=x --prune-allowlist=core/v1/ConfigMap')).toBe(
      'configmap/new created\nconfigmap/old pruned',
    )
  })

  it('apply --server-side separates owners [P212, P214, P215, P220]', async () => {
    const kubectl = await world.namespace('server-side')
    const apply = (object: object, flags: string) =>
      kubectl.try(['apply', '--server-side', '-f', '-', ...flags.split(' ').filter(Boolean)], { stdin: JSON.stringify(object) })
    const done = async (...args: Parameters<typeof apply>) => (await apply(...args)).stdout.trim()
    expect(await done(deployment('web'), '--field-manager=alpha')).toBe('deployment.apps/web serverside-applied')
    const refused = await apply(deployment('web', { image: 'registry.example.com/main:2' }), '--field-manager=bravo')
    expect(refused.code).toBe(1)
    expect(refused.stderr).toMatch(
      /^error: Apply failed with 1 conflict: conflict with "alpha": \.spec\.template\.spec\.containers\[name="main"\]\.image\nPlease review the fields above/,
    )
    expect(
      await done(deployment('web', { image: 'registry.example.com/main:2' }), '--field-manager=bravo --force-conflicts'),
    ).toBe('deployment.apps/web serverside-applied')
    const managers = (await kubectl.json('get deployment web --show-managed-fields')).metadata.managedFields
    expect(managers.map(({ manager, operation }: Json) => [manager, operation])).toEqual([
      ['alpha', 'Apply'],
      ['bravo', 'Apply'],
    ])
    expect(await done(configMap('m', { a: '1', b: '2' }), '')).toBe('configmap/m serverside-applied')
    expect(await done(configMap('m', { a: '1' }), '')).toBe('configmap/m serverside-applied')
    expect((await kubectl.json('get configmap m')).data).toEqual({ a: '1' })
    expect(await done(configMap('d', { a: '1' }), '--dry-run=server')).toBe('configmap/d serverside-applied (server dry run)')
    // From client-side to server-side: ownership of applied fields is transferred.
    await kubectl.run('apply -f -', { stdin: JSON.stringify(configMap('moved', { a: '1', b: '2' })) })
    expect(await done(configMap('moved', { a: '1' }), '')).toBe('configmap/moved serverside-applied')
    expect((await kubectl.json('get configmap moved')).data).toEqual({ a: '1' })
  })

  it('diff shows the changes of an apply, and changes nothing [P195]', async () => {
    const kubectl = await world.namespace('diff')
    await kubectl.run('apply -f -', { stdin: JSON.stringify(deployment('web')) })
    const same = await kubectl.try(['diff', '-f', '-'], { stdin: JSON.stringify(deployment('web')) })
    expect([same.code, same.stdout]).toEqual([0, ''])
    const stdin = JSON.stringify(deployment('web', { replicas: 7 }))
    for (const flags of [[], ['--server-side', '--force-conflicts']]) {
      const changed = await kubectl.try(['diff', '-f', '-', ...flags], { stdin })
      expect(changed.code).toBe(1)
      expect(changed.stdout).toMatch(/\n- {2}replicas: 2\n\+ {2}replicas: 7\n/)
      expect(changed.stdout).toMatch(/\n- {2}generation: 1\n\+ {2}generation: 2\n/)
    }
    const made = await kubectl.try(['diff', '-f', '-'], { stdin: JSON.stringify(configMap('new', { a: '1' })) })
    expect(made.stdout).toMatch(/\n\+data:\n\+ {2}a: "1"\n/)
    expect((await kubectl.json('get deployment web')).spec.replicas).toBe(2)
  })

  it('replace replaces an object [P144, P167]', async () => {
    const kubectl = await world.namespace('replace')
    await kubectl.create(configMap('m', { a: '1', b: '2' }))
    const replace = (object: object, flags = '') => kubectl.run(`replace -f -${flags}`, { stdin: JSON.stringify(object) })
    expect(await replace(configMap('m', { c: '3' }))).toBe('configmap/m replaced')
    const now = await kubectl.json('get configmap m')
    expect(now.data).toEqual({ c: '3' })
    const stale = { ...now, metadata: { ...now.metadata, resourceVersion: '1' } }
    expect(await kubectl.refused('replace -f -', { stdin: JSON.stringify(stale) })).toBe(
      'Error from server (Conflict): error when replacing "STDIN": Operation cannot be fulfilled on configmaps "m": the object has been modified; please apply your changes to the latest version and try again',
    )
    expect(await replace(configMap('m', { d: '4' }), ' --force')).toBe('configmap "m" deleted\nconfigmap/m replaced')
    const again = await kubectl.json('get configmap m')
    expect([again.data, again.metadata.uid === now.metadata.uid]).toEqual([{ d: '4' }, false])
    expect(await kubectl.refused('replace -f -', { stdin: JSON.stringify(configMap('none')) })).toContain(
      'configmaps "none" not found',
    )
    const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 's' }, spec: { ports: [{ port: 80 }] } }
    await kubectl.create(service)
    const { clusterIP } = (await kubectl.json('get service s')).spec
    expect(await replace({ ...service, spec: { ports: [{ port: 81 }] } })).toBe('service/s replaced')
    expect((await kubectl.json('get service s')).spec).toMatchObject({
      clusterIP,
      ports: [{ port: 81, protocol: 'TCP', targetPort: 81 }],
    })
  })

  it('edit applies the changes of the editor [P145, S107]', async () => {
    const kubectl = await world.namespace('edit')
    await kubectl.create(configMap('m', { colour: 'red' }), deployment('web'))
    const editor = (name: string, script: string) => kubectl.file(name, `#!/bin/sh\n${script}\n`)
    const [blue, nothing, wrong, status] = await Promise.all([
      editor('blue.sh', `sed -i 's|colour: red|colour: blue|' "$1"`),
      editor('nothing.sh', 'exit 0'),
      // The second time the editor sees the error and gives up.
      editor('wrong.sh', `grep -q 'not valid' "$1" || sed -i 's|colour: blue|no/key: x|' "$1"`),
      editor('status.sh', `sed -i 's|"status": {}|"status": {"replicas": 3}|' "$1"`),
    ])
    expect(await kubectl.run('edit configmap m', { env: { EDITOR: blue } })).toBe('configmap/m edited')
    expect((await kubectl.json('get configmap m')).data).toEqual({ colour: 'blue' })
    const unchanged = await kubectl.try(['edit', 'configmap', 'm'], { env: { KUBE_EDITOR: nothing } })
    expect([unchanged.code, unchanged.stdout, unchanged.stderr]).toEqual([0, '', 'Edit cancelled, no changes made.\n'])
    const refused = await kubectl.try(['edit', 'configmap', 'm'], { env: { EDITOR: wrong } })
    expect([refused.code, refused.stderr]).toEqual([
      1,
      expect.stringMatching(/^error: configmaps "m" is invalid\nA copy of your changes has been stored to /),
    ])
    expect(
      await kubectl.run('edit deployment web --subresource=status -o json', { env: { EDITOR: status } }).then(JSON.parse),
    ).toMatchObject({ status: { replicas: 3 } })
    const created = await editor('create.sh', `sed -i 's|"replicas": 2|"replicas": 9|; s|replicas: 2|replicas: 9|' "$1"`)
    const path = await kubectl.file('edited.json', deployment('made'))
    expect(await kubectl.run(`create -f ${path} --edit`, { env: { EDITOR: created } })).toBe('deployment.apps/made created')
    expect((await kubectl.json('get deployment made')).spec.replicas).toBe(9)
  })

  it('patch supports all types [P145]', async () => {
    const kubectl = await world.namespace('patch')
    await kubectl.create(deployment('web'), configMap('m', { a: '1', b: '2' }), pod('p'))
    const patch = (line: string, body: object) => kubectl.run(`patch ${line} -p`, { more: [JSON.stringify(body)] })
    const containers = [{ name: 'side', image: 'registry.example.com/side:1' }]
    expect(await patch('deployment web', { spec: { template: { spec: { containers } } } })).toBe('deployment.apps/web patched')
    expect((await kubectl.json('get deployment web')).spec.template.spec.containers.map(({ name }: Json) => name)).toEqual([
      'side',
      'main',
    ])
    expect(
      await patch('deployment web', { spec: { template: { spec: { containers: [{ name: 'side', $patch: 'delete' }] } } } }),
    ).toBe('deployment.apps/web patched')
    expect(await patch('deployment web --type=merge', { spec: { template: { spec: { containers } } } })).toBe(
      'deployment.apps/web patched',
    )
    expect((await kubectl.json('get deployment web')).spec.template.spec.containers.map(({ name }: Json) => name)).toEqual([
      'side',
    ])
    expect(await patch('configmap m --type=merge', { data: { a: null, c: '3' } })).toBe('configmap/m patched')
    expect(await patch('configmap m --type=merge', { data: { c: '3' } })).toBe('configmap/m patched (no change)')
    expect(
      await patch('configmap m --type=json', [
        { op: 'test', path: '/data/b', value: '2' },
        { op: 'move', from: '/data/b', path: '/data/d' },
      ]),
    ).toBe('configmap/m patched')
    expect((await kubectl.json('get configmap m')).data).toEqual({ c: '3', d: '2' })
    expect(
      await kubectl.refused('patch configmap m --type=json -p', { more: ['[{"op":"test","path":"/data/d","value":"no"}]'] }),
    ).toContain('The request is invalid')
    expect(await patch('pod p --subresource=status', { status: { phase: 'Failed', reason: 'Evicted' } })).toBe('pod/p patched')
    expect(rows(await kubectl.run('get pod p'))).toMatchObject([{ STATUS: 'Evicted' }])
    expect(await patch('deployment web --dry-run=server', { spec: { replicas: 50 } })).toBe('deployment.apps/web patched')
    expect(await patch('deployment web --subresource=scale --type=merge', { spec: { replicas: 4 } })).toBe(
      'scale.autoscaling/web patched',
    )
    expect((await kubectl.json('get deployment web')).spec.replicas).toBe(4)
    expect(await kubectl.refused('patch pod p -p', { more: ['{"spec":{"nodeName":"other"}}'] })).toMatch(
      /^The Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than/,
    )
  })

  it('label and annotate [P18]', async () => {
    const kubectl = await world.namespace('label')
    await kubectl.create(configMap('a'), configMap('b', {}, { tier: 'x' }))
    expect(await kubectl.run('label configmap a tier=y')).toBe('configmap/a labeled')
    expect(await kubectl.refused('label configmap a tier=z')).toBe(
      "error: 'tier' already has a value (y), and --overwrite is false",
    )
    expect(await kubectl.run('label configmap a tier=z --overwrite')).toBe('configmap/a labeled')
    expect(await kubectl.run('label configmap a tier=z')).toBe('configmap/a not labeled')
    expect(await kubectl.run('label configmap -l tier=x all=selected')).toBe('configmap/b labeled')
    expect(await kubectl.run('label configmap a --list')).toBe('tier=z')
    expect(await kubectl.run('label configmap a tier-')).toBe('configmap/a unlabeled')
    expect(await kubectl.refused('label configmap a --overwrite', { more: ['bad=no good'] })).toContain(
      'a valid label must be an empty string or consist of alphanumeric',
    )
    expect(await kubectl.run('label configmap --all both=1')).toContain('configmap/b labeled')
    expect(await kubectl.refused('label configmap a x=1 --resource-version=1')).toContain('the object has been modified')
    expect(await kubectl.run('annotate configmap a example.com/note=hello')).toBe('configmap/a annotated')
    expect(await kubectl.run('annotate configmap a example.com/note=bye --overwrite')).toBe('configmap/a annotated')
    expect((await kubectl.json('get configmap a')).metadata).toMatchObject({
      labels: { both: '1' },
      annotations: { 'example.com/note': 'bye' },
    })
    expect(await kubectl.run('annotate configmap a example.com/note-')).toBe('configmap/a annotated')
    expect((await kubectl.json('get configmap a')).metadata.annotations).toBe(undefined)
  })

  it('set image, env, resources, selector, serviceaccount and subject [P145]', async () => {
    const kubectl = await world.namespace('set')
    await kubectl.create(deployment('web'))
    await kubectl.run('create service clusterip s --tcp=80')
    await kubectl.run('create rolebinding b --clusterrole=view --user=ann')
    await kubectl.run('create configmap settings --from-literal=MODE=fast')
    expect(await kubectl.run('set image deployment/web main=registry.example.com/main:3')).toBe(
      'deployment.apps/web image updated',
    )
    expect(await kubectl.run('set env deployment/web LEVEL=2 --from=configmap/settings')).toBe('deployment.apps/web env updated')
    expect((await kubectl.run('set env deployment/web --list')).split('\n')).toContain('LEVEL=2')
    expect(await kubectl.run('set resources deployment web --limits=cpu=500m,memory=1Gi --requests=cpu=0.25')).toBe(
      'deployment.apps/web resource requirements updated',
    )
    expect(await kubectl.run('set serviceaccount deployment web robot')).toBe('deployment.apps/web serviceaccount updated')
    expect(await kubectl.run('set selector service s app=web')).toBe('service/s selector updated')
    expect(await kubectl.run('set subject rolebinding b --user=bob')).toBe(
      'rolebinding.rbac.authorization.k8s.io/b subjects updated',
    )
    const { spec } = (await kubectl.json('get deployment web')).spec.template
    expect(spec).toMatchObject({
      serviceAccountName: 'robot',
      containers: [
        {
          image: 'registry.example.com/main:3',
          resources: { limits: { cpu: '500m', memory: '1Gi' }, requests: { cpu: '250m' } },
        },
      ],
    })
    expect((await kubectl.json('get service s')).spec.selector).toEqual({ app: 'web' })
    expect((await kubectl.json('get rolebinding b')).subjects.map(({ name }: Json) => name)).toEqual(['ann', 'bob'])
    expect(await kubectl.refused('set image deployment/web missing=x')).toContain('unable to find container named "missing"')
  })

  it('a failed edit keeps the manifest', async () => {
    const kubectl = await world.namespace('retry')
    await kubectl.create(configMap('m', { a: '1' }))
    const editor = await kubectl.file(
      'garbage.sh',
      '#!/bin/sh\ngrep -q "not valid" "$1" && exit 0; echo "{{{ not valid" > "$1"\n',
    )
    const { code, stderr } = await kubectl.try(['edit', 'configmap', 'm'], { env: { EDITOR: editor } })
    expect(code).toBe(1)
    const [, path = ''] = /A copy of your changes has been stored to "(.*)"/.exec(stderr) ?? []
    expect(await readFile(path, 'utf8')).toContain('not valid')
  })
})

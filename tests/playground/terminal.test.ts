import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Cluster } from '../../playground/src/cluster.ts'
import { runLine } from '../../playground/src/terminal/run.ts'

/** The terminal of the playground against its server. */

let cluster: Cluster
beforeAll(async () => {
  cluster = await Cluster.start()
})
afterAll(() => cluster.close())

const deployment = (replicas: number, image = 'web:1') => `apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  replicas: ${replicas}
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec:
      containers:
      - { name: web, image: ${image} }
`

/** Runs a line and returns everything that it prints; errors come after `!`. */
async function run(line: string, manifests = '', signal = new AbortController().signal): Promise<string> {
  let printed = ''
  const print = (text: string) => {
    printed += text
  }
  const output = { print, warn: (text: string) => print(`!${text}\n`) }
  await runLine(line, { cluster, manifests, namespace: 'default', output, signal })
  return printed
}

describe('the terminal', () => {
  it('creates, gets and deletes', async () => {
    expect(await run('kubectl create configmap game --from-literal=color=red')).toBe('configmap/game created\n')
    expect(await run('get cm game')).toMatch(/^NAME {3}DATA {3}AGE\ngame {3}1 {6}\d+s\n$/)
    expect(await run('get cm game -o yaml')).toContain('data:\n  color: red\n')
    expect(await run('get configmaps -A')).toMatch(/^NAMESPACE +NAME/)
    expect(await run('get cm/game -o name')).toBe('configmap/game\n')
    expect(await run('delete cm game')).toBe('configmap "game" deleted\n')
    expect(await run('get cm game')).toBe('!Error from server (NotFound): configmaps "game" not found\n')
    expect(await run('get secrets')).toBe('!No resources found in default namespace.\n')
  })

  it('applies on the server, refuses conflicts and forces', async () => {
    expect(await run('apply --server-side -f editor --field-manager ci', deployment(1))).toBe(
      'deployment.apps/web serverside-applied\n',
    )
    const refused = await run('apply --server-side -f editor --field-manager me', deployment(2))
    expect(refused).toContain('conflict with "ci": .spec.replicas')
    expect(await run('apply --server-side -f - --field-manager me --force-conflicts', deployment(2))).toContain(
      'serverside-applied',
    )
    expect(await run('get deploy web')).toMatch(/web +0\/2/)
  })

  it('applies on the client with a three-way patch', async () => {
    const manifest = (data: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: three}, data: ${data}}`
    expect(await run('apply -f editor', manifest('{a: "1", b: "2"}'))).toBe('configmap/three created\n')
    await run(`patch cm three --type merge -p '{"data":{"c":"3"}}'`)
    expect(await run('apply -f editor', manifest('{a: "9"}'))).toBe('configmap/three configured\n')
    expect(await run('get cm three -o yaml')).toContain('data:\n  a: "9"\n  c: "3"\n')
    expect(await run('apply -f editor', manifest('{a: "9"}'))).toBe('configmap/three unchanged\n')
  })

  it('scales, labels, annotates and patches', async () => {
    expect(await run('scale deploy web --replicas 4')).toBe('deployment.apps/web scaled\n')
    expect(await run('label deploy web tier=front')).toBe('deployment.apps/web labeled\n')
    expect(await run('label deploy web tier=back')).toContain("'tier' already has a value (front), and --overwrite is false")
    expect(await run('label deploy web tier-')).toBe('deployment.apps/web labeled\n')
    expect(await run('annotate deploy/web note=hello')).toBe('deployment.apps/web annotated\n')
    expect(await run(`patch deploy web --type json -p '[{"op":"replace","path":"/spec/replicas","value":1}]'`)).toContain(
      'patched',
    )
    expect(await run('get deploy web -o json')).toMatch(/"replicas": 1,/)
  })

  it('explains fields from the OpenAPI document', async () => {
    expect(await run('explain deployment.spec.replicas')).toMatch(
      /GROUP: {6}apps[\s\S]*FIELD: replicas <integer>[\s\S]*DESCRIPTION:/,
    )
    expect(await run('explain pods.spec.containers')).toContain('image\t<string>')
    expect(await run('explain pods.nothing')).toBe('!error: field "nothing" does not exist\n')
  })

  it('answers questions about permissions', async () => {
    expect(await run('auth can-i delete pods')).toBe('yes\n')
    expect(await run('auth can-i delete pods --as jane')).toMatch(/^no/)
    expect(await run('get pods --as jane')).toContain('(Forbidden)')
    expect(await run('auth whoami --as jane --as-group dev')).toContain('[dev system:authenticated]')
  })

  it('watches until it is stopped', async () => {
    const abort = new AbortController()
    const watched = run('get cm watched -w', '', abort.signal)
    await new Promise((resolve) => setTimeout(resolve, 200))
    await run('create cm watched')
    await new Promise((resolve) => setTimeout(resolve, 200))
    abort.abort()
    expect(await watched).toMatch(/watched {3}0/)
  })

  it('describes, and lists resources, versions and events', async () => {
    expect(await run('describe deploy web')).toMatch(/Name: +web\n[\s\S]*Events: +<none>/)
    expect(await run('api-resources')).toMatch(/deployments +deploy +apps\/v1 +true +Deployment/)
    expect(await run('api-versions')).toContain('\nbatch/v1\n')
    expect(await run('events')).toContain('No events found in default namespace.')
    expect(await run('version')).toContain('v1.33')
  })

  it('reports mistakes', async () => {
    expect(await run('fetch pods')).toMatch(/^!error: unknown command "fetch"; available: get,/)
    expect(await run('get nothings')).toBe(`!error: the server doesn't have a resource type "nothings"\n`)
    expect(await run('get pods --nope')).toBe('!error: unknown flag: --nope\n')
    expect(await run(`get 'pods`)).toBe('!error: the quote at column 5 is not closed\n')
    expect(await run('create -f editor', 'a: [')).toMatch(/^!error: editor:1:\d+: /)
  })

  it('replays its journal on another server', async () => {
    const other = await Cluster.start()
    expect(await other.replay(cluster.journal)).toBe(0)
    const ownersOf = async (one: Cluster) => {
      const { text } = await one.request({ path: '/apis/apps/v1/namespaces/default/deployments/web' })
      const { metadata } = JSON.parse(text) as { metadata: { managedFields: { manager: string; time: string }[] } }
      return metadata.managedFields.map(({ time: _, ...each }) => each)
    }
    expect(await ownersOf(other)).toEqual(await ownersOf(cluster))
    await other.close()
  })

  it('serves the same objects as another release', async () => {
    await cluster.switchRelease('1.24')
    expect(await run('version')).toContain('v1.24')
    expect(await run('get cm three -o name')).toBe('configmap/three\n')
    await cluster.switchRelease('1.33')
  })
})

describe('with simulated nodes', () => {
  it('runs deployments, prints logs, and keeps nodes over a change of the release', async () => {
    const manifest = deployment(2)
      .replace('image: web:1', 'image: busybox, command: [sh, -c, "echo started; sleep 600"]')
      .replace('name: web\nspec', 'name: living\nspec')
    await cluster.setNodes(2)
    expect(await run('apply -f editor', manifest)).toBe('deployment.apps/living created\n')
    await expect
      .poll(() => run('get pods'), { timeout: 20_000 })
      .toMatch(/^living-\S+ +1\/1 +Running[\s\S]*^living-\S+ +1\/1 +Running/m)
    const [pod = ''] = /living-\S+/.exec(await run('get pods')) ?? []
    expect(await run(`logs ${pod} -c web`)).toBe('started\n')
    expect(await run(`logs ${pod} --previous`)).toContain('!Error from server (BadRequest): previous terminated container')
    await cluster.switchRelease('1.30')
    expect([cluster.release, cluster.nodes]).toEqual(['1.30', 2])
    await run('scale deployment living --replicas 3')
    await expect.poll(() => run('get pods'), { timeout: 20_000 }).toMatch(/(?:^living-\S+ +1\/1 +Running[^\n]*\n){3}/m)
    await cluster.setNodes(0)
    expect(await run(`logs ${pod}`)).toContain('!Error from server')
  })
})

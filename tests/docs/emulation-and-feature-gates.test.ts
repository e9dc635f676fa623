import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Client, createRemoteClient, loadKubeconfig } from '@krmkit/client'
import { builtInFeatureGates } from '@krmkit/meta/feature-gates'
import { afterEach, describe, expect, it } from 'vitest'
import { serve } from '../../packages/cli/src/serve.ts'
import { runCommand, serveOptions } from '../../packages/cli/src/testing/run-command.ts'
import { temporaryFolder } from '../temporary-folder.ts'

/** Runs every command of the pages about emulation and feature gates, in order. */

const folder = temporaryFolder()
const closing: (() => Promise<void>)[] = []
const closeAll = async () => {
  for (const close of closing.splice(0).reverse()) await close()
}
afterEach(closeAll)

const manifests = join(folder, 'manifests')
mkdirSync(manifests)
const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'web', namespace: 'default' } }
writeFileSync(
  join(manifests, 'pod.yaml'),
  JSON.stringify({ ...pod, spec: { resources: { limits: { cpu: '1' } }, containers: [{ name: 'a', image: 'a' }] } }),
)

/** The command lines of a page: indented, or in blocks of shell commands. */
function commandsOf(page: string): string[] {
  const text = readFileSync(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8')
  const shell = text.replace(/^```sh\n([\s\S]*?)^```$/gm, (_, lines: string) => lines.replace(/^/gm, '    '))
  return [...shell.matchAll(/^ {4}((?:krmkit|kubectl) .*)$/gm)].map(([, line = '']) => line.replace(/ +#.*$/, ''))
}

interface Session {
  client: Client | undefined
  kubeconfig: string
  ran: string[]
}

async function start(session: Session, flags: readonly string[]): Promise<Client> {
  await closeAll()
  // Servers with durable storage share a folder: an upgrade in place.
  const data = join(folder, flags.includes('--storage=durable') ? 'durable' : `data-${session.ran.length}`)
  const storage = flags.some((flag) => flag.startsWith('--storage')) ? [] : ['--storage=memory']
  const options = await serveOptions(data, [...storage, '--controllers=', ...flags])
  const serving = await serve(options, { info: () => undefined, error: () => undefined })
  closing.push(() => serving.close())
  const client = createRemoteClient(await loadKubeconfig({ path: serving.kubeconfig! }))
  closing.push(() => client.close())
  session.client = client
  session.kubeconfig = serving.kubeconfig!
  await expect.poll(async () => (await client.request({ path: '/readyz' })).status, { timeout: 20_000 }).toBe(200)
  return client
}

const json = async (client: Client, path: string): Promise<unknown> => (await client.request({ path })).json()

/** Starts the server, and checks what the flags ask for. */
async function runServe(session: Session, flags: readonly string[]): Promise<void> {
  const client = await start(session, flags)
  const value = (name: string) => flags.filter((flag) => flag.startsWith(`--${name}=`)).map((flag) => flag.slice(name.length + 3))
  const [emulated = '1.33'] = value('emulated-version')
  expect(await json(client, '/version')).toMatchObject({ major: '1', minor: emulated.replace('kube=', '').slice(2) })
  const metrics = await (await client.request({ path: '/metrics' })).text()
  for (const setting of value('feature-gates').flatMap((each) => each.split(','))) {
    const [name = '', wanted] = setting.replace('kube:', '').split('=')
    expect(metrics).toMatch(
      new RegExp(`^kubernetes_feature_enabled\\{name="${name}",stage="\\w*"\\} ${wanted === 'true' ? 1 : 0}$`, 'm'),
    )
  }
  for (const key of value('runtime-config').flatMap((each) => each.split(','))) {
    const [path = '', wanted] = key.split('=')
    if (path.startsWith('api/')) continue
    const [group, version, resource] = path.split('/')
    const { status } = await client.request({ path: `/apis/${group}/${version}${resource === undefined ? '' : `/${resource}`}` })
    expect(`${path}: ${status}`).toBe(`${path}: ${wanted === 'true' ? 200 : 404}`)
  }
}

/** The definition whose stored version changes. */
const definition = (stored: string) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'widgets.shop.example.com' },
  spec: {
    group: 'shop.example.com',
    names: { kind: 'Widget', plural: 'widgets' },
    scope: 'Namespaced',
    versions: ['v1', 'v2'].map((name) => ({
      name,
      served: true,
      storage: name === stored,
      schema: { openAPIV3Schema: { type: 'object' } },
    })),
  },
})

async function prepareWidgets(client: Client): Promise<void> {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  await client.request({ method: 'POST', path, body: definition('v1') })
  const widgets = '/apis/shop.example.com/v1/namespaces/default/widgets'
  const widget = { apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name: 'a' } }
  await expect.poll(async () => (await client.request({ method: 'POST', path: widgets, body: widget })).status).toBe(201)
  const headers = { 'content-type': 'application/merge-patch+json' }
  const changed = await client.request({
    method: 'PATCH',
    path: `${path}/widgets.shop.example.com`,
    headers,
    body: definition('v2'),
  })
  expect(await changed.json()).toMatchObject({ status: { storedVersions: ['v1', 'v2'] } })
}

async function run(session: Session, line: string): Promise<void> {
  const [program, command, ...rest] = line.split(' ')
  if (program === 'kubectl') {
    expect(line).toBe('kubectl get cronjobs.v1beta1.batch')
    expect((await session.client!.request({ path: '/apis/batch/v1beta1/cronjobs' })).status).toBe(200)
  } else if (line === 'krmkit serve --help') {
    const { out } = await runCommand(['serve', '--help'])
    expect(out.replace(/\s+/g, ' ')).toContain('kube:HPAScaleToZero=true|false (ALPHA - default=false)')
  } else if (command === 'serve') await runServe(session, rest)
  else if (command === 'storage') {
    const client = session.client!
    await prepareWidgets(client)
    const { code, out } = await runCommand([command, ...rest, '--kubeconfig', session.kubeconfig])
    expect([code, out.includes('widgets')]).toEqual([0, true])
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.shop.example.com'
    expect(await json(client, path)).toMatchObject({ status: { storedVersions: ['v2'] } })
  } else {
    const { code, err } = await runCommand([command ?? '', ...rest.map((word) => (word === 'manifests/' ? manifests : word))])
    expect(`${code} ${err}`).toBe('0 ')
  }
  session.ran.push(line)
}

describe.each([
  ['operate/emulation', 7],
  ['operate/feature-gates', 6],
] as const)('docs/%s.md', (page, least) => {
  it('has commands that work [P332 P334 P335]', async () => {
    const session: Session = { client: undefined, kubeconfig: '', ran: [] }
    const lines = commandsOf(page)
    for (const line of lines) await run(session, line)
    expect(session.ran).toEqual(lines)
    expect(lines.length).toBeGreaterThanOrEqual(least)
  })
})

it('docs/operate/feature-gates.md names gates that exist', () => {
  const text = readFileSync(new URL('../../docs/operate/feature-gates.md', import.meta.url), 'utf8')
  const known = new Set(builtInFeatureGates().map(({ name }) => name))
  const named = [...text.matchAll(/`([A-Z]\w+)`(?=.* \|)/g)].map(([, name = '']) => name)
  expect(named.length).toBeGreaterThan(8)
  expect(named.filter((name) => !known.has(name) && !/^(?:AllAlpha|AllBeta|GROUP|AuthorizeNode\w+)/.test(name))).toEqual([])
})

import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { kubeconfigText } from '@krmkit/client'
import { parseYaml } from '@krmkit/schema'
import { createTestServer } from '@krmkit/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { runCommand } from '../testing/run-command.ts'
import { temporaryFolder } from '../testing/temporary-folder.ts'
import { widgetDefinition } from '../testing/widget-definition.ts'

const folder = temporaryFolder()

let made = 0
function file(text: string, name = 'a.yaml', base = join(folder, `case-${made++}`)): string {
  const path = join(base, name)
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, text)
  return path
}

const widget = (size: number | string) =>
  `apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: a}\nspec: {size: ${size}}\n`
const manifest = file(widget('big'))
const schema = JSON.stringify({
  type: 'object',
  properties: { spec: { type: 'object', properties: { size: { type: 'integer' } }, additionalProperties: false } },
})
const schemaPath = 'shop.example.com/widget_v1.json'
const run = (...flags: string[]) => runCommand(['validate', ...flags])

const servers: Server[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((closed) => server.close(closed))
  }
})

/** A server on a free port that records paths. */
async function serve(respond: RequestListener): Promise<{ readonly url: string; readonly paths: string[] }> {
  const paths: string[] = []
  const server = createServer((request, response) => {
    paths.push(request.url ?? '')
    respond(request, response)
  })
  servers.push(server)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

const catalogAt =
  (path: string): RequestListener =>
  (request, response) => {
    if (request.url === path) response.end(schema)
    else response.writeHead(404).end('absent')
  }

describe('krmkit validate --definitions-from-cluster', () => {
  it('validates with the definitions of a cluster, which it reads over its listener', async () => {
    await using cluster = await createTestServer()
    const crds = {
      group: 'apiextensions.k8s.io',
      version: 'v1',
      resource: 'customresourcedefinitions',
      kind: 'CustomResourceDefinition',
      namespaced: false,
    }
    await cluster.client.create(crds, parseYaml(widgetDefinition).value as never)
    const { path } = await cluster.writeKubeconfig()
    expect(await run(manifest)).toMatchObject({ code: 1, out: expect.stringContaining('[missing-definition]') })
    const found = await run(manifest, '--definitions-from-cluster', '--kubeconfig', path)
    expect(found).toMatchObject({ code: 1, err: '' })
    expect(found.out).toContain(`spec.size in body must be of type integer`)
    const unknown = file('apiVersion: other.example.com/v1\nkind: Thing\nmetadata: {name: a}\n')
    const { out } = await run(unknown, '--definitions-from-cluster', '--kubeconfig', path)
    expect(out).toContain(
      'neither the files nor the cluster of context test defines other.example.com/v1 Thing [missing-definition]',
    )
  })

  it('explains a missing right', async () => {
    await using cluster = await createTestServer({ users: { bob: [] } })
    const { path } = await cluster.writeKubeconfig({ user: 'bob' })
    const found = await run(manifest, '--definitions-from-cluster', '--kubeconfig', path)
    expect(found).toMatchObject({ code: 2, out: '' })
    expect(found.err).toMatch(
      /^krmkit: cannot read the CustomResourceDefinitions of https:\S+: the user has no right to list them: .*"bob"/,
    )
  })

  it('explains a cluster that cannot be reached or does not respond', async () => {
    const silent = await serve(() => undefined)
    const kubeconfig = (server: string) =>
      file(
        kubeconfigText({ server, authority: undefined, token: 'secret', names: { cluster: 'test', user: 'test' } }),
        'kubeconfig',
      )
    const { url } = await serve(() => undefined)
    await new Promise((closed) => servers.pop()?.close(closed))
    const refused = await run(manifest, '--definitions-from-cluster', '--kubeconfig', kubeconfig(url))
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining(`cannot read the CustomResourceDefinitions of ${url}: `),
    })
    expect(refused.err).toContain('ECONNREFUSED')
    const late = await run(
      manifest,
      '--definitions-from-cluster',
      '--kubeconfig',
      kubeconfig(silent.url),
      '--definitions-timeout=200ms',
    )
    expect(late).toMatchObject({
      code: 2,
      err: expect.stringContaining('no complete response within 0.2 s (--definitions-timeout)'),
    })
    expect(`${refused.err}${late.err}`).not.toContain('secret')
  })

  it('needs the flag for a kubeconfig', async () => {
    const message = '--kubeconfig and --context need --definitions-from-cluster'
    expect(await run(manifest, '--context', 'a')).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  })
})

describe('krmkit validate --catalog', () => {
  it('reads schemas of a folder', async () => {
    const base = join(folder, 'catalog')
    file(schema, schemaPath, base)
    expect(await run(manifest, '--catalog', base)).toMatchObject({
      code: 1,
      out: expect.stringContaining('must be of type integer'),
    })
    file(schema, 'flat-v1-widget.json', base)
    const pattern = join(base, 'flat-{version}-{kind}.json')
    expect(await run(manifest, '--catalog', pattern)).toMatchObject({
      code: 1,
      out: expect.stringContaining('must be of type integer'),
    })
    expect(await run(file(widget(1)), '--catalog', base)).toMatchObject({ code: 0, out: '1 object in 1 file: valid\n' })
  })

  it('reports an absent folder, which is not an empty catalog', async () => {
    const found = await run(manifest, '--catalog', join(folder, 'absent'), '--ignore-unknown-kinds')
    expect(found).toMatchObject({ code: 2, out: expect.stringMatching(/ENOENT.*\[unreadable-definition\]/) })
  })

  it('reads schemas of a URL, on demand', async () => {
    const { url, paths } = await serve(catalogAt(`/schemas/${schemaPath}`))
    expect(await run(manifest, '--catalog', `${url}/schemas`)).toMatchObject({
      code: 1,
      out: expect.stringContaining('must be of type integer'),
    })
    expect(await run(manifest, '--catalog', `${url}/schemas/{group}/{kind}_{version}.json`)).toMatchObject({ code: 1 })
    expect(paths).toEqual([`/schemas/${schemaPath}`, `/schemas/${schemaPath}`])
    await run(file('apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n'), '--catalog', url)
    expect(paths).toHaveLength(2)
  })

  it('reports a schema that the catalog does not have, unless unknown kinds are ignored', async () => {
    const { url } = await serve(catalogAt('/other'))
    const found = await run(manifest, '--catalog', url)
    expect(found.out).toContain(
      `neither the files nor the catalog ${url} defines shop.example.com/v1 Widget [missing-definition]`,
    )
    expect(found.code).toBe(1)
    expect(await run(manifest, '--catalog', url, '--ignore-unknown-kinds')).toMatchObject({ code: 0 })
  })

  it('waits once for a server that does not respond', async () => {
    const { url, paths } = await serve(() => undefined)
    const things = file('apiVersion: other.example.com/v1\nkind: Thing\nmetadata: {name: a}\n')
    const found = await run(manifest, things, '--catalog', url, '--definitions-timeout=300ms', '--ignore-unknown-kinds')
    expect(found.code).toBe(2)
    expect(found.out.match(/no complete response within 0.3 s \[unreadable-definition\]/g)).toHaveLength(2)
    expect(paths).toHaveLength(1)
  })

  it('follows redirects, but not for ever', async () => {
    const { url, paths } = await serve((request, response) => {
      if (request.url === '/new.json') response.end(schema)
      else if (request.url?.startsWith('/loop')) response.writeHead(302, { location: request.url }).end()
      else response.writeHead(301, { location: '/new.json' }).end()
    })
    expect(await run(manifest, '--catalog', url)).toMatchObject({
      code: 1,
      out: expect.stringContaining('must be of type integer'),
    })
    expect(paths).toEqual([`/${schemaPath}`, '/new.json'])
    const loop = await run(manifest, '--catalog', `${url}/loop`)
    expect(loop).toMatchObject({ code: 2, out: expect.stringContaining('redirects more than 3 times') })
  })

  it.each([
    ['a status', (_, response) => void response.writeHead(500).end('no'), 'returns status 500'],
    [
      'a body without end',
      (_, response) =>
        void setImmediate(function more() {
          if (!response.destroyed) response.write('x'.repeat(64 * 1024), () => setImmediate(more))
        }),
      'is larger than 4 MiB',
    ],
    ['text', (_, response) => void response.end('<html>'), 'the schema is not JSON'],
  ] as readonly (readonly [string, RequestListener, string])[])('reports %s of a server', async (_, respond, message) => {
    const { url } = await serve(respond)
    const found = await run(manifest, '--catalog', url)
    expect(found).toMatchObject({ code: 2, out: expect.stringContaining(message) })
  })

  it.each([
    ['https://user:secret@127.0.0.1/', 'without credentials'],
    ['http://', 'it must be a URL'],
    ['schemas/{group}/{name}.json', '{name} is not a part of a path'],
  ])('refuses %s', async (location, message) => {
    expect(await run(manifest, '--catalog', location)).toMatchObject({ code: 2, err: expect.stringContaining(message) })
  })
})

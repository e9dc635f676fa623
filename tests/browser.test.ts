import { builtinModules } from 'node:module'
import { createContext, runInContext } from 'node:vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { browserBuild } from './browser-build.ts'

/** Packages for browser tools, bundled as for a browser and run without Node built-ins. */

/** A script that assigns its exports to `bundle`; fails when it imports modules that browsers do not have. */
async function bundleOf(source: string): Promise<string> {
  const build = await browserBuild(source)
  const { output } = await build.generate({ format: 'iife', name: 'bundle', codeSplitting: false })
  await build.close()
  const [chunk] = output
  expect(output).toHaveLength(1)
  expect(chunk.imports.filter(isBuiltIn)).toEqual([])
  return chunk.code
}

const isBuiltIn = (name: string) => name.startsWith('node:') || builtinModules.includes(name)

/** The value that the script assigns to `bundle.answer`, run with browser globals only. */
function run(code: string): unknown {
  return JSON.parse(runInContext(`${code}\n;JSON.stringify(bundle.answer)`, browserContext()) as string)
}

/** The result of the promise that the script assigns to `bundle.answer`. */
async function runAsync(code: string): Promise<unknown> {
  const answer = runInContext(`${code}\n;bundle.answer.then(JSON.stringify)`, browserContext()) as Promise<string>
  return JSON.parse(await answer)
}

/** The globals that scripts in a browser have, too. */
function browserContext(): object {
  return createContext({
    ...{ TextEncoder, TextDecoder, structuredClone, atob, btoa, crypto, URL, URLSearchParams, console, performance },
    ...{ AbortController, AbortSignal, CompressionStream, DecompressionStream, MessageChannel },
    // Those of this realm, which the classes above return.
    ...{ Uint8Array, ArrayBuffer, DataView },
    ...{ setTimeout, clearTimeout, setInterval, clearInterval, queueMicrotask },
  })
}

/** Packages with an entry point for browsers. */
const portable = [
  'base',
  'meta',
  'cel',
  'schema',
  'kinds',
  'fieldmanager',
  'admission',
  'authorization',
  'authentication',
  'storage',
  'registry',
  'apiserver',
  'client',
  'http',
  'controllers',
  'controllers/framework',
  'certificates',
  'certificates/bootstrap',
  'certificates/request',
  'testing',
]

describe('in a browser', () => {
  describe('no Node built-in is imported by', () => {
    const chunks = new Map<string, { readonly imports: readonly string[]; readonly dynamicImports: readonly string[] }>()
    beforeAll(async () => {
      const build = await browserBuild(Object.fromEntries(portable.map((name) => [name, `export * from '@krmkit/${name}'`])))
      const { output } = await build.generate({ format: 'es', entryFileNames: '[name].js' })
      await build.close()
      for (const each of output) if (each.type === 'chunk') chunks.set(each.fileName, each)
    })

    /** What a chunk and those that it imports take from outside of the bundle. */
    function outside(file: string, seen = new Set<string>()): string[] {
      const chunk = chunks.get(file)
      if (chunk === undefined) return [file]
      if (seen.has(file)) return []
      seen.add(file)
      return [...chunk.imports, ...chunk.dynamicImports].flatMap((each) => outside(each, seen))
    }

    it.each(portable)('@krmkit/%s', (name) => {
      expect([...chunks.keys()]).toContain(`${name}.js`)
      expect(outside(`${name}.js`).filter(isBuiltIn)).toEqual([])
    })
  })

  it('@krmkit/fieldmanager applies, explains and blames', async () => {
    const code = await bundleOf(`
      import { apply, blameLines, jsonPatch, strategicMergePatch } from '@krmkit/fieldmanager'
      import { Deployment } from '@krmkit/kinds/apps/v1'
      const object = (replicas) => ({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'a' }, spec: { replicas } })
      const schema = Deployment.type()
      const live = apply({ applied: object(1), manager: 'ci', schema, now: 0 }).object
      const { conflicts } = apply({ live, applied: object(2), manager: 'me', schema, now: 0 })
      export const answer = {
        conflicts: conflicts.map(({ message }) => message),
        owned: blameLines(live, schema).filter(({ owners }) => owners.length > 0).map(({ text }) => text),
        patched: jsonPatch(object(1), [{ op: 'replace', path: '/spec/replicas', value: 3 }]).spec,
        merged: strategicMergePatch(schema, object(1), { spec: { replicas: null } }).spec,
      }
    `)
    expect(run(code)).toEqual({
      conflicts: ['conflict with "ci"'],
      owned: ['  replicas: 1'],
      patched: { replicas: 3 },
      merged: {},
    })
  })

  it('@krmkit/fieldmanager alone is small, and @krmkit/kinds can be imported one kind at a time', async () => {
    const engine = await bundleOf(`export { apply as answer } from '@krmkit/fieldmanager'`)
    expect(engine.length).toBeLessThan(200_000)
    const one = await bundleOf(
      `import { ConfigMap } from '@krmkit/kinds/core/v1'\nexport const answer = ConfigMap.validate(ConfigMap.create({ metadata: { name: 'A' } })).map(({ field }) => field)`,
    )
    expect(run(one)).toEqual(['metadata.name'])
    const all = await bundleOf(`export { builtInKinds as answer } from '@krmkit/kinds'`)
    expect(one.length).toBeLessThan(all.length / 2)
  })

  it('@krmkit/schema parses and prints', async () => {
    const code = await bundleOf(`
      import { parseYaml, printYaml } from '@krmkit/schema'
import { readManifest } from '@krmkit/schema/manifest'
      export const answer = [printYaml(parseYaml('b: [1]\\na: yes').value), readManifest('a: 1\\nb: {c: 2}')[0].range('b.c').column]
    `)
    expect(run(code)).toEqual(['a: true\nb:\n- 1\n', 8])
  })

  it('@krmkit/testing runs controllers and simulated nodes on its clock, and says what needs Node', async () => {
    const code = await bundleOf(`
      import { Deployment } from '@krmkit/kinds/apps/v1'
      import { Pod } from '@krmkit/kinds/core/v1'
      import { createTestServer } from '@krmkit/testing'
      const labels = { app: 'web' }
      const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } }
      async function run() {
        const cluster = await createTestServer({ cluster: { nodes: 1 }, controllers: ['*'] })
        await cluster.client.create(Deployment, { metadata: { name: 'web' }, spec: { replicas: 2, selector: { matchLabels: labels }, template } })
        await cluster.clock.advance({ minutes: 1 })
        await cluster.settle()
        const { items } = await cluster.client.list(Pod)
        const pod = '/api/v1/namespaces/default/pods/' + items[0].metadata.name
        const log = await cluster.client.request({ path: pod + '/log' })
        const codeOf = (promise) => promise.then(() => 'done', ({ code }) => code)
        const refused = [await codeOf(cluster.save('folder')), await codeOf(cluster.writeKubeconfig()), await codeOf(cluster.signingAuthority())]
        const page = await cluster.inspect()
        const fork = cluster.fork()
        const forked = (await fork.client.list(Deployment)).items[0].status.readyReplicas
        await fork.close()
        await cluster.close()
        return { phases: items.map(({ status }) => status.phase), log: log.status, refused, page: page.includes('krmkit inspector'), forked }
      }
      export const answer = run()
    `)
    expect(await runAsync(code)).toEqual({
      phases: ['Running', 'Running'],
      log: 200,
      refused: ['Unsupported', 'Unsupported', 'Unsupported'],
      page: true,
      forked: 2,
    })
  })

  it('krmkit/validate validates manifests, definitions and expressions', async () => {
    const code = await bundleOf(`
      import { validateManifests } from 'krmkit/validate'
      const rule = { rule: 'self.size > 1', message: 'too small' }
      const schema = { type: 'object', properties: { size: { type: 'integer' } }, 'x-kubernetes-validations': [rule] }
      const definition = {
        apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'widgets.example.com' },
        spec: { group: 'example.com', scope: 'Cluster', names: { kind: 'Widget', plural: 'widgets' },
          versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }] },
      }
      const text = 'apiVersion: v1\\nkind: Pod\\nmetadata: {name: a}\\nspec: {container: []}\\n---\\napiVersion: example.com/v1\\nkind: Widget\\nmetadata: {name: a}\\nsize: 1\\n'
      const finding = ({ rule, range, message, suggestion }) => [rule, range.line, message, suggestion?.title]
      export const answer = validateManifests([{ path: 'a.yaml', text }], { definitions: [definition] })
        .then(({ findings }) => findings.map(finding))
    `)
    expect(await runAsync(code)).toEqual([
      ['required', 4, 'Required value', null],
      ['unknown-field', 4, 'unknown field', 'Replace container by containers'],
      ['invalid', 6, 'Invalid value: "object": too small', null],
    ])
  })

  it('@krmkit/apiserver serves objects, documents and watches from memory', async () => {
    const code = await bundleOf(`
      import { createApiServer } from '@krmkit/apiserver'
      import { memoryStorage } from '@krmkit/storage'
      async function run() {
        const server = await createApiServer({ storage: memoryStorage() })
        const call = async (method, path, body) => {
          const response = await server.handle({
            method, path: path.split('?')[0], query: path.split('?')[1] ?? '', headers: { 'content-type': 'application/json' },
            body: async () => new TextEncoder().encode(JSON.stringify(body)), peer: {}, signal: new AbortController().signal,
          })
          return response
        }
        const bytesOf = async ({ body }) => {
          if (body.kind === 'bytes') return body.bytes
          const parts = []
          for await (const part of body.kind === 'list' ? body.parts : body.stream) parts.push(part instanceof Uint8Array ? part : part.bytes())
          return new Uint8Array(parts.flatMap((part) => [...part]))
        }
        const json = async (response) => JSON.parse(new TextDecoder().decode(await bytesOf(response)))
        const path = '/api/v1/namespaces/default/configmaps'
        await call('POST', '/api/v1/namespaces', { metadata: { name: 'default' } })
        const created = await call('POST', path, { metadata: { name: 'a' }, data: { color: 'red' } })
        const listed = (await json(await call('GET', path))).items.map(({ metadata }) => metadata.name)
        const watch = (await call('GET', path + '?watch=true&resourceVersion=0')).body.stream[Symbol.asyncIterator]()
        const event = JSON.parse(new TextDecoder().decode((await watch.next()).value).split('\\n')[0])
        await watch.return()
        const invalid = await json(await call('POST', path, { metadata: { name: 'A' } }))
        const openapi = await json(await call('GET', '/openapi/v2'))
        const applied = await call('PATCH', '/apis/apps/v1/namespaces/default/deployments/web?fieldManager=ci', {})
        const answer = {
          created: created.status, listed, event: [event.type, event.object.data], invalid: invalid.code,
          documented: Object.keys(openapi.paths).includes('/apis/apps/v1/namespaces/{namespace}/deployments'),
          patch: applied.status, version: (await json(await call('GET', '/version'))).gitVersion.slice(0, 5),
        }
        await server.close()
        return answer
      }
      export const answer = run()
    `)
    expect(await runAsync(code)).toEqual({
      created: 201,
      listed: ['a'],
      event: ['ADDED', { color: 'red' }],
      invalid: 422,
      documented: true,
      patch: 415,
      version: 'v1.33',
    })
  })
})

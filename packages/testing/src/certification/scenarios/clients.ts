import { type ClientRun, requireStatus, settled, statusOfError } from '../client-run.ts'
import type { SeenRequest } from '../front.ts'
import type { CachedObject } from '../interfaces.ts'
import type { ClientScenario } from '../scenario.ts'
import { byClient, type ConfigMap, ConfigMaps, collectionPath, namespace } from '../stage.ts'
import { NotApplicable, pause, require } from '../violation.ts'

const draft = (name: string, data: Record<string, string> = {}): CachedObject => ({ metadata: { name, namespace }, data })

async function read({ stage }: ClientRun, name: string): Promise<ConfigMap> {
  return stage.cluster.client.get(ConfigMaps, name, { namespace })
}

/** @throws NotApplicable for bodies that are not JSON */
function versionIn({ body }: SeenRequest): string | undefined {
  if (!body.startsWith('{')) throw new NotApplicable('the client sends other bodies than JSON')
  return (JSON.parse(body) as CachedObject).metadata?.resourceVersion
}

/** Sends a create request whose response is lost. */
async function createUnanswered(run: ClientRun, fault: { lose: true } | { fail: number; afterWrite: true }): Promise<void> {
  const create = run.method('create')
  run.stage.cluster.faults.next({ ...byClient, verb: 'create' }, fault)
  await settled(() => create({ metadata: { generateName: 'job-', namespace }, data: {} }))
  const sent = (await run.requestsOf('create')).length
  const made = (await run.stage.objects()).length
  require(sent === 1 && made === 1, () => `${sent} requests made ${made} objects`)
}

/** Returns the media type, without parameters, of the single PATCH request that a call sends. */
async function patchTypeOf(run: ClientRun, call: () => unknown): Promise<string> {
  const before = run.stage.front.of('patch', 'apply').length
  await call()
  const sent = run.stage.front.of('patch', 'apply').slice(before)
  require(sent.length === 1, () => `${sent.length} PATCH requests for one call`)
  return String(sent[0]!.headers['content-type'] ?? '').replace(/;.*/, '')
}

export const clientScenarios: readonly ClientScenario[] = [
  {
    id: 'conflict-reported',
    title: 'reports a conflict (409) instead of repeating the update',
    why: 'The same body cannot succeed; with another version it would undo the change of the other writer.',
    async run(run) {
      const update = run.method('update')
      await run.stage.put('a', { value: '1' })
      const old = await read(run, 'a')
      await run.stage.put('a', { value: '2' })
      await requireStatus(() => update({ ...old, data: { value: 'mine' } }), 409)
      const sent = await run.requestsOf('update')
      require(sent.length === 1, () => `${sent.length} updates for one call`)
      require((await read(run, 'a')).data?.['value'] === '2', () => 'the change of the other writer is lost')
    },
  },
  {
    id: 'conflict-read-again',
    title: 'reads the object again before it repeats a change after a conflict, or reports the conflict',
    why: 'Only the new state contains what the other writer changed.',
    async run(run) {
      const modify = run.method('modify')
      await run.stage.put('a', { value: '1' })
      let interferes = true
      run.stage.front.intercept({ verb: ['update', 'patch'], resource: 'configmaps' }, async (next) => {
        if (interferes) {
          interferes = false
          await run.stage.put('a', { value: '1', other: 'kept' })
        }
        return next()
      })
      let isReported = false
      try {
        await modify('a', { mine: 'too' })
      } catch (error) {
        isReported = statusOfError(error) === 409
        if (!isReported) throw error
      }
      const { data } = await read(run, 'a')
      const isComplete = data?.['other'] === 'kept' && (isReported || data['mine'] === 'too')
      require(isComplete, () => `the object has ${JSON.stringify(data)}`)
    },
  },
  {
    id: 'version-sent',
    title: 'sends the resourceVersion of the object that it replaces',
    why: 'Without it the last writer wins, and changes in between are lost without a trace.',
    async run(run) {
      const update = run.method('update')
      await run.stage.put('a', { value: '1' })
      const object = await read(run, 'a')
      await update({ ...object, data: { value: '2' } })
      const [sent] = await run.requestsOf('update', 0)
      const version = sent === undefined ? undefined : versionIn(sent)
      require(version === object.metadata.resourceVersion, () => `the body has resourceVersion ${version}`)
    },
  },
  {
    id: 'preconditions-sent',
    title: 'sends the preconditions of a deletion',
    why: 'Without the uid a new object of the same name is deleted.',
    async run(run) {
      const remove = run.method('delete')
      await run.stage.put('a')
      const { uid = '' } = (await read(run, 'a')).metadata
      await requireStatus(() => remove('a', { uid: '00000000-0000-4000-8000-000000000000' }), 409)
      await remove('a', { uid })
      require((await run.stage.objects()).length === 0, () => 'the object is not deleted')
    },
  },
  {
    id: 'create-lost',
    title: 'does not repeat a create whose response is lost',
    why: 'The server may have made the object: with a generated name a second one appears.',
    run: (run) => createUnanswered(run, { lose: true }),
  },
  {
    id: 'create-failed-late',
    title: 'does not repeat a create that failed with 500 after it took effect',
    why: 'A status of 500 does not say that nothing happened.',
    run: (run) => createUnanswered(run, { fail: 500, afterWrite: true }),
  },
  {
    id: 'retry-after',
    title: 'does not repeat a refused request (429) before Retry-After',
    why: 'The server sheds load; clients that come back earlier keep it overloaded.',
    async run(run) {
      const get = run.method('get')
      await run.stage.put('a')
      run.stage.cluster.faults.next({ ...byClient, verb: 'get' }, { fail: 429, retryAfterSeconds: 2 })
      await settled(() => get('a'))
      const [first, second] = await run.requestsOf('get', 0)
      const waitedMs = first === undefined || second === undefined ? Number.POSITIVE_INFINITY : second.atMs - first.atMs
      require(waitedMs >= 1950, () => `the request was repeated after ${Math.round(waitedMs)} ms; Retry-After was 2 s`)
    },
  },
  {
    id: 'chunks-followed',
    title: 'follows the chunks of a list to its end',
    why: 'A list that ends early looks complete.',
    async run(run) {
      const list = run.method('list')
      for (let i = 0; i < 5; i++) await run.stage.put(`c${i}`)
      const found = (await list({ limit: 2 })).map(({ metadata }) => metadata.name).sort()
      require(found.join() === 'c0,c1,c2,c3,c4', () => `the list has ${found.join(', ')}`)
      const chunks = (await run.requestsOf('list', 0)).length
      require(chunks === 3, () => `${chunks} requests for five objects in chunks of two`)
    },
  },
  {
    id: 'patch-types',
    title: 'sends each kind of patch with its media type',
    why: 'The media type decides what null, a list, or an absent field means.',
    async run(run) {
      const patch = run.method('patch')
      await run.stage.put('a', { value: '1' })
      const data = { data: { value: '2' } }
      const sent = [
        await patchTypeOf(run, () => patch('a', { type: 'merge', patch: data })),
        await patchTypeOf(run, () => patch('a', { type: 'strategic', patch: data })),
        await patchTypeOf(run, () => patch('a', { type: 'json', patch: [{ op: 'add', path: '/data/more', value: '3' }] })),
      ]
      const wanted = ['merge-patch', 'strategic-merge-patch', 'json-patch'].map((name) => `application/${name}+json`)
      require(sent.join() === wanted.join(), () => `sent ${sent.join(', ')}`)
      require((await read(run, 'a')).data?.['more'] === '3', () => 'the patches have no effect')
    },
  },
  {
    id: 'apply-type',
    title: 'applies with the media type and the field manager of server-side apply',
    why: 'Another media type replaces lists and leaves removed fields behind; without a manager the server refuses.',
    async run(run) {
      const apply = run.method('apply')
      const sent = await patchTypeOf(run, () => apply(draft('a', { value: '1' }), 'certifier'))
      require(/^application\/apply-patch\+(yaml|cbor)$/.test(sent), () => `sent ${sent}`)
      const { managedFields = [] } = (await read(run, 'a')).metadata
      require(managedFields.some(({ manager }) => manager === 'certifier'), () => 'the field manager was not sent')
    },
  },
  {
    id: 'names-escaped',
    title: 'escapes names in paths, or refuses them',
    why: 'A name with a question mark or a slash addresses another object, or a whole collection.',
    async run(run) {
      const get = run.method('get')
      for (const name of ['a b', 'a?watch=1', 'a#b', '../secrets', 'é']) {
        const before = run.stage.front.requests.length
        // A name that is sent as a query may open a watch, which never ends.
        await Promise.race([settled(() => get(name)), pause(2000)])
        for (const { path, query } of run.stage.front.requests.slice(before)) {
          const rest = path.startsWith(`${collectionPath}/`) ? path.slice(collectionPath.length + 1) : path
          const isWhole = query === '' && !rest.includes('/') && decodeURIComponent(rest) === name
          require(isWhole, () => `the name ${JSON.stringify(name)} was sent as ${path}${query === '' ? '' : `?${query}`}`)
        }
      }
    },
  },
  {
    id: 'selectors-escaped',
    title: 'escapes selectors in queries',
    why: 'A selector cut at a special character selects more than was asked for; a deletion of a collection then deletes more.',
    async run(run) {
      const list = run.method('list')
      await run.stage.put('a', {}, { env: 'x', 'example.com/tier': 'web' })
      await run.stage.put('b', {}, { env: 'x', 'example.com/tier': 'db' })
      const labelSelector = 'env in (x, y),example.com/tier!=db'
      const fieldSelector = 'metadata.name!=c&d'
      const found = await list({ labelSelector, fieldSelector })
      const [sent] = await run.requestsOf('list', 0)
      for (const [name, wanted] of Object.entries({ labelSelector, fieldSelector })) {
        const value = sent?.parameters.get(name)
        require(value === wanted, () => `the ${name} ${JSON.stringify(wanted)} was sent as ${JSON.stringify(value)}`)
      }
      require(found.map(({ metadata }) => metadata.name).join() === 'a', () => `the list has ${found.length} objects`)
    },
  },
]

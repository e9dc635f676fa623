import { RandomChoices } from '@krmkit/base/random-choices'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { configMaps, type Doc, startApi, type TestApi, type WatchEvent } from './server.ts'

/** Guarantees of lists and watches over random histories. Failures print the seed. */

const seed = Number(process.env.HISTORY_SEED ?? 20_240_117)
const rounds = 400

/** The observable part of an object. */
type State = Readonly<Record<string, string>>

const stateOf = (objects: readonly Doc[]): State =>
  Object.fromEntries(
    objects.map(({ metadata, data }) => [metadata.name, `${metadata.resourceVersion} ${JSON.stringify(data ?? {})}`]),
  )

/** A snapshot of the collection, from an unchunked list. */
interface Moment {
  readonly version: string
  readonly state: State
}

let api: TestApi
let random: RandomChoices
let history: Moment[]
beforeEach(async () => {
  api = await startApi()
  random = new RandomChoices(seed)
  history = [await moment()]
})
afterEach(() => api.close())

async function moment(): Promise<Moment> {
  const { metadata, items } = (await api.get(configMaps)).json
  return { version: metadata.resourceVersion, state: stateOf(items) }
}

const objectNames = Array.from({ length: 12 }, (_, i) => `m${i}`)
const colours = ['red', 'green', 'blue']

/** Creates, updates, deletes, or writes another collection. */
async function step(): Promise<void> {
  const name = random.pick(objectNames)
  const path = `${configMaps}/${name}`
  const metadata = { name, labels: { colour: random.pick(colours) } }
  const data = { value: String(random.below(5)) }
  const what = random.below(10)
  if (what < 4) await api.post(configMaps, { metadata, data })
  else if (what < 7) await api.patch(path, { metadata: { labels: metadata.labels }, data })
  else if (what < 9) await api.delete(path)
  else await api.post('/api/v1/nodes', { metadata: { generateName: 'n-' } })
  history.push(await moment())
}

async function live(steps: number): Promise<void> {
  for (let i = 0; i < steps; i++) await step()
}

/** A chunked list, with writes between the chunks. */
async function chunked(query: Record<string, string>): Promise<Moment> {
  const items: Doc[] = []
  let token = ''
  let version: string | undefined
  do {
    const limit = String(1 + random.below(4))
    const { metadata, items: some } = (
      await api.get(configMaps, token === '' ? { ...query, limit } : { limit, continue: token, ...selectorsOf(query) })
    ).json
    version ??= metadata.resourceVersion
    expect(metadata.resourceVersion, `seed ${seed}`).toBe(version)
    items.push(...some)
    token = metadata.continue
    if (random.below(2) === 0) await step()
  } while (token !== '')
  return { version, state: stateOf(items) }
}

const selectorsOf = ({ labelSelector }: Record<string, string>): Record<string, string> =>
  labelSelector === undefined ? {} : { labelSelector }

describe('random histories', () => {
  it('Snapshot: a chunked list is a consistent snapshot [P186, P187]', async () => {
    await live(40)
    for (let round = 0; round < 60; round++) {
      const then = random.pick(history.slice(-40))
      const at = random.below(2) === 0 ? {} : { resourceVersion: then.version, resourceVersionMatch: 'Exact' }
      const read = await chunked(at)
      const known = history.filter(({ version }) => version === read.version)
      expect(known.map(({ state }) => state)[0], `seed ${seed}, version ${read.version}`).toEqual(read.state)
      if ('resourceVersion' in at) expect(read).toEqual(then)
    }
  })

  it('Repeatable: past versions read the same [P173, P178]', async () => {
    await live(rounds / 4)
    for (const then of history) {
      const { json } = await api.get(configMaps, { resourceVersion: then.version, resourceVersionMatch: 'Exact' })
      expect({ version: json.metadata.resourceVersion, state: stateOf(json.items) }, `seed ${seed}`).toEqual(then)
    }
  })

  it('Resumable: a list and its following events produce every later list [P22, P184, P301]', async () => {
    await live(rounds / 4)
    const watched = [0, Math.floor(history.length / 3), history.length - 2].map((i) => history[i] as Moment)
    for (const start of watched) {
      const watch = await api.watch(configMaps, { resourceVersion: start.version })
      const mirror = new Map(Object.entries(start.state))
      const later = history.filter(({ version }) => Number(version) > Number(start.version))
      let next: WatchEvent | undefined
      for (const now of later) {
        while (!isSame(mirror, now.state)) {
          next = await watch.next()
          if (next === undefined) break
          expect(Number(next.object.metadata.resourceVersion), `seed ${seed}`).toBeLessThanOrEqual(Number(now.version))
          replay(mirror, next)
        }
        expect(Object.fromEntries(mirror), `seed ${seed}, version ${now.version}`).toEqual(now.state)
      }
      expect(await watch.leave()).toEqual([])
    }
  })

  it.each(colours)('Selected: the events of a selection mirror its lists (%s) [P158, P184]', async (colour) => {
    const labelSelector = `colour=${colour}`
    const first = (await api.get(configMaps, { labelSelector })).json
    const watch = await api.watch(configMaps, { labelSelector, resourceVersion: first.metadata.resourceVersion })
    const mirror = new Map(Object.entries(stateOf(first.items)))
    await live(rounds / 2)
    const last = stateOf((await api.get(configMaps, { labelSelector })).json.items)
    let events = 0
    for (const event of await watch.leaveAfter()) {
      events++
      // A selection never adds an object twice, nor removes one that it does not contain.
      expect(mirror.has(event.object.metadata.name), `seed ${seed}`).toBe(event.type !== 'ADDED')
      replay(mirror, event)
    }
    expect(events).toBeGreaterThan(10)
    expect(Object.fromEntries(mirror), `seed ${seed}`).toEqual(last)
  })
})

function replay(mirror: Map<string, string>, { type, object }: WatchEvent): void {
  const [[name, state] = ['', '']] = Object.entries(stateOf([object]))
  if (type === 'DELETED') mirror.delete(name)
  else mirror.set(name, state)
}

function isSame(mirror: ReadonlyMap<string, string>, state: State): boolean {
  const names = Object.keys(state)
  return names.length === mirror.size && names.every((name) => mirror.get(name) === state[name])
}

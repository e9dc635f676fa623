import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtInKinds, createApiServer, type Listener, listen, memoryStorage, type Server } from 'krmkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Kubectl, kubectlIn, kubectlMissing, rows, skipNote } from './support/kubectl.ts'
import { Crate, Widget } from './support/shop.ts'

/** Stock kubectl with kinds defined in code, and with the same kind from its exported definition. */

interface World {
  readonly server: Server
  readonly listening: Listener
  readonly kubectl: Kubectl
  readonly folder: string
}

async function start(kinds: readonly (typeof Widget | typeof Crate)[]): Promise<World> {
  const folder = await mkdtemp(join(tmpdir(), 'krmkit-shop-'))
  const server = await createApiServer({ storage: memoryStorage(), kinds: [...builtInKinds(), ...kinds] })
  const listening = await listen(server, { tls: false })
  const kubectl = (await kubectlIn(folder)).with('--server', listening.url)
  return { server, listening, kubectl, folder }
}

const worlds = new Map<string, World>()

beforeAll(async () => {
  if (kubectlMissing !== undefined) return
  const [inCode, byManifest] = await Promise.all([start([Widget, Crate]), start([])])
  worlds.set('in code', inCode)
  worlds.set('by its manifest', byManifest)
  await byManifest.kubectl.create(Widget.toManifest())
  await byManifest.kubectl.run('wait crd/widgets.shop.example.com --for=condition=Established --timeout=20s')
  // kubectl caches the earlier discovery.
  await byManifest.kubectl.run('api-resources -o name')
})

afterAll(async () => {
  for (const { server, listening, folder } of worlds.values()) {
    await listening.close({ graceMs: 1000 })
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
})

const suite = describe.skipIf(kubectlMissing !== undefined)
const manifest = (name: string, spec: object, metadata: object = {}) =>
  JSON.stringify({ apiVersion: 'shop.example.com/v1', kind: 'Widget', metadata: { name, ...metadata }, spec })

suite.each(['in code', 'by its manifest'])(`kubectl and a kind defined %s${skipNote}`, (how) => {
  const kubectl = () => (worlds.get(how) as World).kubectl
  const apply = (name: string, spec: object) => kubectl().run('apply -f -', { stdin: manifest(name, spec) })

  it('explain shows the schema', async () => {
    const text = await kubectl().run('explain wd')
    expect(text).toContain('GROUP:      shop.example.com\nKIND:       Widget\nVERSION:    v1')
    expect(text).toContain('Something to sell.')
    expect(text).toMatch(/spec\t<Object> -required-/)
    const color = await kubectl().run('explain widgets.spec.color')
    expect(color).toMatch(/FIELD: color <string>/)
    expect(color).toContain('What it looks like.')
    const all = await kubectl().run('explain widget --recursive')
    for (const line of [
      'size\t<integer> -required-',
      'parts\t<[]Object>',
      'weight\t<number>',
      'phase\t<string>',
      'finalizers\t<[]string>',
    ])
      expect(all).toContain(line)
    expect(rows(await kubectl().run('api-resources --api-group=shop.example.com'))).toEqual([
      { NAME: 'widgets', SHORTNAMES: 'wd', APIVERSION: 'shop.example.com/v1', NAMESPACED: 'true', KIND: 'Widget' },
    ])
  })

  it('get shows the columns, and more with -o wide', async () => {
    await apply('shown', { size: 3 })
    const line = { NAME: 'shown', SIZE: '3', PHASE: '', AGE: expect.stringMatching(/^\d+s$/) }
    expect(rows(await kubectl().run('get wd shown'))).toEqual([line])
    expect(rows(await kubectl().run('get widget shown -o wide'))).toEqual([{ ...line, COLOR: 'red' }])
    expect(rows(await kubectl().run('get shop --field-selector metadata.name=shown'))).toEqual([line])
    expect(await kubectl().run('get widgets.v1.shop.example.com shown -o jsonpath={.spec}')).toBe(
      '{"color":"red","parts":[],"replicas":1,"size":3}',
    )
    expect(await kubectl().run('get wd --field-selector spec.color=blue -o name')).toBe('')
    expect(await kubectl().run('get wd --field-selector spec.color=red -o name')).toContain('widget.shop.example.com/shown')
    expect(await kubectl().refused('get wd --field-selector spec.size=3')).toContain('field label not supported: spec.size')
  })

  it('apply works client-side and server-side, and diff shows changes', async () => {
    expect(await apply('applied', { size: 3 })).toBe('widget.shop.example.com/applied created')
    expect(await apply('applied', { size: 3 })).toBe('widget.shop.example.com/applied unchanged')
    expect(await apply('applied', { size: 4, parts: [{ name: 'a' }] })).toBe('widget.shop.example.com/applied configured')
    const difference = await kubectl().try(['diff', '-f', '-'], {
      stdin: manifest('applied', { size: 5, parts: [{ name: 'a' }] }),
    })
    expect(difference.code).toBe(1)
    expect(difference.stdout).toMatch(/^-\s+size: 4\n\+\s+size: 5$/m)
    const mine = manifest('applied', { parts: [{ name: 'b', weight: 1.5 }] })
    await kubectl().run('apply --server-side --field-manager=packer -f -', { stdin: mine })
    expect(await kubectl().run('get wd applied -o jsonpath={.spec.parts}')).toBe('[{"name":"a"},{"name":"b","weight":1.5}]')
    // kubectl has transferred ownership of client-side applied fields by now.
    const other = manifest('applied', { size: 9 })
    const conflict = await kubectl().refused('apply --server-side --field-manager=other -f -', { stdin: other })
    expect(conflict).toContain('conflict with "packer": .spec.size')
    await kubectl().run('apply --server-side --field-manager=other --force-conflicts -f -', { stdin: other })
    expect(await kubectl().run('get wd applied -o jsonpath={.spec.size}/{.spec.parts[*].name}')).toBe('9/a b')
  })

  it('edits, patches, scales and describes', async () => {
    await apply('worked', { size: 7 })
    await kubectl().run('edit wd worked', { env: { KUBE_EDITOR: 'sed -i s/size:.7/size:\\ 8/' } })
    expect(await kubectl().run('get wd worked -o jsonpath={.spec.size}')).toBe('8')
    await kubectl().run('patch wd worked --type=merge -p {"spec":{"color":"blue"}}')
    await kubectl().run('patch wd worked --type=json -p [{"op":"replace","path":"/spec/size","value":9}]')
    expect(await kubectl().refused('patch wd worked -p {"spec":{"size":8}}')).toContain('strategic-merge-patch')
    await kubectl().run('patch wd worked --subresource=status --type=merge -p {"status":{"phase":"Ready","replicas":2}}')
    await kubectl().run('wait wd/worked --for=jsonpath={.status.phase}=Ready --timeout=10s')
    expect(await kubectl().run('scale wd worked --replicas=3')).toBe('widget.shop.example.com/worked scaled')
    expect(await kubectl().run('get wd worked --subresource=scale -o jsonpath={.spec.replicas}/{.status.replicas}')).toBe('3/2')
    expect(await kubectl().refused('scale wd worked --replicas=30')).toContain('more replicas than fit')
    await kubectl().run('label wd worked tier=front')
    const text = await kubectl().run('describe wd worked')
    expect(text).toMatch(/^Labels: +tier=front$/m)
    expect(text).toMatch(/Spec:\n {2}Color: +blue\n/)
    expect(text).toMatch(/Status:\n {2}Phase: +Ready\n {2}Replicas: +2\n/)
    expect(await kubectl().run('get wd worked -o jsonpath={.metadata.generation}')).toBe('5')
  })

  it('rejects invalid objects', async () => {
    const refused = (spec: unknown, flags = '--validate=false') =>
      kubectl().refused(`create ${flags} -f -`, { stdin: manifest('wrong', spec as object) })
    expect(await refused({ size: 'x' })).toContain(
      'spec.size: Invalid value: "string": spec.size in body must be of type integer',
    )
    expect(await refused({ size: 0, color: 'pink' })).toMatch(
      /spec.color: Unsupported value: "pink": supported values: "red", "green", "blue"[\s\S]*spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1/,
    )
    expect(await refused({ size: 2, replicas: 5 })).toContain('spec: Invalid value: "object": more replicas than fit')
    expect(await refused({ size: 2, parts: [{ name: 'a' }, { name: 'a' }] })).toContain('spec.parts[1]: Duplicate value')
    expect(await refused(5)).toContain('spec: Invalid value: "integer": spec in body must be of type object')
    expect(await refused({ size: 2, more: 1 }, '--validate=strict')).toContain('unknown field "spec.more"')
    expect(await refused({}, '--validate=strict')).toContain('spec.size: Required value')
  })

  it('watches, and deletes', async () => {
    await apply('going', { size: 1 })
    const watching = kubectl().follow('get wd going --watch --output-watch-events --no-headers')
    const until = async (lines: number) => {
      for (let turn = 0; watching.lines.length < lines && turn < 1000; turn++)
        await new Promise((resolve) => setTimeout(resolve, 10))
    }
    await until(1)
    await kubectl().run('patch wd going --type=merge -p {"spec":{"size":2}}')
    await until(2)
    expect(await kubectl().run('delete wd going')).toBe('widget.shop.example.com "going" deleted')
    await until(3)
    await watching.stop()
    expect(watching.lines.map((line) => line.split(/\s+/).slice(0, 3).join(' '))).toEqual([
      'ADDED going 1',
      'MODIFIED going 2',
      'DELETED going 2',
    ])
    expect(await kubectl().refused('get wd going')).toBe(
      'Error from server (NotFound): widgets.shop.example.com "going" not found',
    )
  })
})

suite(`kubectl and what only code can say${skipNote}`, () => {
  const kubectl = () => (worlds.get('in code') as World).kubectl
  const crate = (name: string, members: object, version = 'v1') =>
    JSON.stringify({ apiVersion: `depot.example.com/${version}`, kind: 'Crate', metadata: { name }, ...members })

  it('converts versions, and warns about deprecated ones', async () => {
    const made = await kubectl().try(['create', '-f', '-'], { stdin: crate('old', { weight: 5 }, 'v1beta1') })
    expect(made).toMatchObject({ code: 0, stdout: 'crate.depot.example.com/old created\n' })
    expect(made.stderr).toContain('Warning: depot.example.com/v1beta1 Crate is deprecated; use depot.example.com/v1 Crate')
    expect(await kubectl().run('get crate old -o jsonpath={.spec}')).toBe('{"from":0,"label":"plain","to":9,"weight":5}')
    expect(await kubectl().run('get crates.v1beta1.depot.example.com old -o jsonpath={.weight}{.spec}')).toBe('5')
    expect(await kubectl().run('get crate old -o jsonpath={.metadata.labels.weighed}')).toBe('yes')
    expect(await kubectl().run('explain crate --api-version=depot.example.com/v1beta1')).toContain('weight\t<integer> -required-')
    expect(rows(await kubectl().run('get crates'))).toEqual([{ NAME: 'old', AGE: expect.any(String) }])
  })

  it('runs refinements and hooks in every version', async () => {
    await kubectl().run('create -f -', { stdin: crate('kept', { spec: { weight: 5 } }) })
    const wrong = crate('wrong', { spec: { weight: 1, from: 5, to: 2 } })
    expect(await kubectl().refused('create -f -', { stdin: wrong })).toContain(
      'spec.to: Invalid value: 2: must not come before from',
    )
    const detail = 'spec.label: Forbidden: is on it for good'
    expect(await kubectl().refused('patch crate kept --type=merge -p {"spec":{"label":"x"}}')).toContain(detail)
    const older = 'patch crates.v1beta1.depot.example.com kept --type=merge -p'
    expect(await kubectl().refused(`${older} {"label":"x"}`)).toContain(detail)
    const heavy = await kubectl().try([...older.split(' '), '{"weight":95}'])
    expect(heavy.stderr).toContain('Warning: that is heavy')
    for (const members of [{ spec: 5 }, {}, { spec: { weight: 'x' } }])
      expect(await kubectl().refused('create --validate=false -f -', { stdin: crate('wrong', members) })).toContain('is invalid')
    expect(
      await kubectl().refused('create --validate=false -f -', { stdin: crate('wrong', { weight: {} }, 'v1beta1') }),
    ).toContain('is invalid')
  })

  it('is not a CustomResourceDefinition', async () => {
    expect(await kubectl().run('get crd -o name')).toBe('')
  })
})

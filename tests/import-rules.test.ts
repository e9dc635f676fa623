import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Import, importsOf, manifestOf, packageFolders, packageNameOf, sourceFiles } from './source-files.ts'

/**
 * The allowed imports between packages. A package may also import the dependencies of its dependencies. The same table is in
 * docs/ARCHITECTURE.md.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  meta: [],
  schema: ['meta'],
  storage: ['meta'],
  authentication: ['meta'],
  authorization: ['meta'],
  certificates: ['meta'],
  kinds: ['schema', 'certificates'],
  fieldmanager: ['schema'],
  admission: ['schema', 'authorization', 'fieldmanager', 'certificates'],
  versioning: ['schema', 'kinds'],
  registry: ['storage', 'fieldmanager', 'admission', 'kinds', 'versioning'],
  apiserver: ['registry', 'authentication', 'authorization', 'certificates'],
  client: ['meta', 'schema'],
  controllers: ['client', 'authorization', 'admission', 'certificates'],
  http: ['apiserver'],
  testing: ['apiserver', 'controllers', 'client'],
  krmkit: ['http', 'testing'],
}

/** Packages that may be imported for types only. */
const typesOnly: Readonly<Record<string, readonly string[]>> = {
  client: ['apiserver', 'kinds'],
}

/** Which packages may use a library; in each, one module imports it. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  '@peculiar/x509': ['certificates'],
  'js-yaml': ['schema'],
  'prom-client': ['apiserver'],
  'reflect-metadata': ['certificates'],
  commander: ['krmkit'],
  immer: ['admission', 'registry'],
  jose: ['authentication', 'certificates'],
  lmdb: ['storage'],
  picocolors: ['krmkit'],
  protobufjs: ['schema'],
  re2js: ['schema'],
  ws: ['http'],
  zod: ['schema', 'kinds', 'authentication', 'authorization', 'admission', 'apiserver'],
}

/** Additional imports of tests. */
const testLibraries = new Set(['vitest', 'fast-check', 'rolldown', '@kubernetes/client-node', '@bufbuild/cel-spec'])

/** The model of the built-in types, which tests of lower packages read, too. */
const typeFacts = 'packages/kinds/src/data/'

/** Node modules that open connections. */
const sockets = new Set(['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls', 'node:dgram'])
const mayUseSockets = new Set(['http', 'client'])
/** Only `isIP`. */
const mayUseNet = new Set(['certificates', 'krmkit'])

const folders = packageFolders()
const imports = new Map(folders.map((name) => [name, sourceFiles(`packages/${name}/src`).flatMap(importsOf)]))
const reach = (name: string): Set<string> => new Set((allowed[name] ?? []).flatMap((next) => [next, ...reach(next)]))
const show = ({ file, from }: Import) => `${file} imports ${from}`

it('the table names every package and only those', () => {
  expect(Object.keys(allowed).sort()).toEqual(folders)
})

describe.each(folders)('%s', (name) => {
  const all = imports.get(name)!
  const production = all.filter(({ inTest }) => !inTest)

  it('imports only allowed packages', () => {
    const may = reach(name)
    const wrong = all.filter(({ from, typeOnly, inTest }) => {
      const other =
        /^@krmkit\/([a-z]+)/.exec(from)?.[1] ?? (from === 'krmkit' || from.startsWith('krmkit/') ? 'krmkit' : undefined)
      if (other === undefined || may.has(other)) return false
      return !((typeOnly || inTest) && (typesOnly[name] ?? []).includes(other))
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('uses relative imports only within the package, ending in .ts', () => {
    const wrong = all.filter(({ file, from, inTest }) => {
      if (!from.startsWith('.')) return false
      const target = normalize(join(dirname(file), from)).replaceAll('\\', '/')
      if (target.startsWith(`packages/${name}/src/`) && target.endsWith('.ts')) return false
      return !(inTest && (target.startsWith(`packages/${name}/testdata/`) || target.startsWith(typeFacts)))
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('uses only allowed libraries, each through one module', () => {
    const foreign = all.filter(({ from }) => !/^(\.|node:|@krmkit\/|krmkit(\/|$))/.test(from))
    const wrong = foreign.filter(({ from, inTest }) => {
      const library = packageNameOf(from)
      return !(libraries[library] ?? []).includes(name) && !(inTest && testLibraries.has(library))
    })
    expect(wrong.map(show)).toEqual([])
    const doors = new Map<string, Set<string>>()
    for (const { file, from, inTest } of foreign) {
      if (inTest) continue
      const library = packageNameOf(from)
      doors.set(library, (doors.get(library) ?? new Set()).add(file))
    }
    const several = [...doors]
      .filter(([, files]) => files.size > 1)
      .map(([library, files]) => `${library}: ${[...files].join(', ')}`)
    expect(several).toEqual([])
  })

  it('declares what it imports', () => {
    const { dependencies = {}, devDependencies = {} } = manifestOf(`packages/${name}`)
    const root = manifestOf('.').devDependencies ?? {}
    const wrong = all.filter(({ from, inTest }) => {
      if (from.startsWith('.') || from.startsWith('node:')) return false
      const library = packageNameOf(from)
      return !(library in dependencies || (inTest && (library in devDependencies || library in root)))
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('opens connections only in allowed modules', () => {
    if (mayUseSockets.has(name)) return
    const wrong = production.filter(
      ({ from, typeOnly }) => sockets.has(from) && !typeOnly && !(from === 'node:net' && mayUseNet.has(name)),
    )
    expect(wrong.map(show)).toEqual([])
  })
})

import { dirname, join, normalize } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cycles } from './cycles.ts'
import { type Import, importsOf, manifestOf, packageFolders, packageNameOf, sourceFiles } from './source-files.ts'

const below = ['protocol', 'base', 'meta', 'cel', 'schema', 'storage', 'authentication', 'authorization', 'certificates'] as const
const middle = ['kinds', 'fieldmanager', 'admission', 'versioning'] as const

/**
 * The packages that each package may import. A row is complete: what an imported package imports is not allowed with it. The same
 * table stands in docs/internals/architecture.md.
 */
const allowed: Readonly<Record<string, readonly string[]>> = {
  protocol: [],
  base: [],
  meta: ['base'],
  cel: ['base', 'meta'],
  schema: ['base', 'meta', 'cel'],
  grpc: ['base', 'meta'],
  storage: ['base', 'meta', 'grpc'],
  authentication: ['base', 'meta'],
  authorization: ['base', 'meta'],
  certificates: ['base', 'meta'],
  kinds: ['base', 'meta', 'cel', 'schema', 'certificates'],
  fieldmanager: ['base', 'meta', 'schema'],
  admission: ['protocol', 'base', 'meta', 'cel', 'schema', 'authorization', 'certificates', 'fieldmanager'],
  versioning: ['base', 'meta', 'schema', 'kinds'],
  registry: ['base', 'meta', 'schema', 'storage', 'fieldmanager', 'admission', 'kinds', 'versioning'],
  apiserver: [...below, ...middle, 'registry'],
  client: ['protocol', 'base', 'meta', 'schema'],
  controllers: ['protocol', 'base', 'meta', 'authorization', 'certificates', 'admission', 'client'],
  http: ['protocol', 'base', 'meta', 'certificates'],
  testing: [
    ...['protocol', 'base', 'meta', 'schema', 'storage', 'authentication', 'certificates', 'kinds'],
    ...['fieldmanager', 'apiserver', 'controllers', 'client', 'http'],
  ],
  krmkit: [
    ...['base', 'meta', 'cel', 'schema', 'storage', 'authentication', 'authorization'],
    ...['kinds', 'versioning', 'apiserver', 'client', 'http', 'testing'],
  ],
  cli: ['grpc', ...below, ...middle, 'registry', 'apiserver', 'client', 'controllers', 'http', 'testing', 'krmkit'],
  'create-krmkit': [],
}

/** Packages that only the tests of a package may import. */
const allowedInTests: Readonly<Record<string, readonly string[]>> = {
  base: ['meta'],
  http: ['apiserver', 'storage'],
}

/** Packages that are published as a bundle of what they import, which are their development dependencies. */
const bundled = new Set(['cli'])

/** Packages that must install without a server and without native code. */
const light = ['protocol', 'base', 'meta', 'client', 'http']

/** Which packages may use a library; in each of them one module is the door to it. */
const libraries: Readonly<Record<string, readonly string[]>> = {
  cborg: ['schema'],
  commander: ['cli'],
  immer: ['admission', 'registry'],
  jose: ['authentication', 'certificates'],
  '@noble/ciphers': ['storage'],
  '@noble/hashes': ['base'],
  lmdb: ['storage'],
  picocolors: ['cli'],
  protobufjs: ['base', 'schema'],
  re2js: ['cel'],
  'vscode-languageserver': ['cli'],
  'vscode-languageserver-textdocument': ['cli'],
  ws: ['http'],
  zod: ['schema', 'kinds', 'authentication', 'authorization', 'admission', 'apiserver'],
}

/** Additional imports of tests. */
const testLibraries = new Set([
  '@grpc/grpc-js',
  'protobufjs',
  'prom-client',
  'vitest',
  'fast-check',
  'rolldown',
  '@kubernetes/client-node',
  '@bufbuild/cel-spec',
])

/** The model of the built-in types, which tests of lower packages read, too. */
const typeFacts = 'packages/kinds/src/data/'

/** Node modules that open connections. */
const sockets = new Set(['node:http', 'node:https', 'node:http2', 'node:net', 'node:tls', 'node:dgram'])
const mayUseSockets = new Set(['http', 'client'])
/** Only `isIP`. */
const mayUseNet = new Set(['certificates', 'cli'])
/** Stores are shared over Unix sockets, and etcd is a store elsewhere. */
const socketModules: Readonly<Record<string, readonly string[]>> = {
  'packages/storage/src/socket/': ['node:net'],
  'packages/grpc/src/target.ts': ['node:net', 'node:tls'],
}

/** The folders of a package in which modules import only those of the same folder and of the ones before it. */
const layers: Readonly<Record<string, readonly string[]>> = {
  registry: ['cache', 'versions', 'stored-form', 'ownership', 'read', 'write'],
}

const folders = packageFolders()
const imports = new Map(folders.map((name) => [name, sourceFiles(`packages/${name}/src`).flatMap(importsOf)]))
/** The folder of the package of this workspace that a specifier names. */
function siblingOf(from: string): string | undefined {
  const library = packageNameOf(from)
  return library === 'krmkit' || library === 'create-krmkit' ? library : /^@krmkit\/(.+)$/.exec(library)?.[1]
}

/** What the modules of a package may import. */
function dependenciesOf(name: string): Readonly<Record<string, string>> {
  const { dependencies = {}, devDependencies = {} } = manifestOf(`packages/${name}`)
  return bundled.has(name) ? devDependencies : dependencies
}

/** The packages of this workspace that a package consists of or is installed with. */
function siblingsOf(name: string): string[] {
  return Object.keys(dependenciesOf(name))
    .map(siblingOf)
    .filter((other) => other !== undefined)
}

/** The modules of a package and the modules that they import by a relative path. */
function fileImports(name: string): Map<string, string[]> {
  const files = sourceFiles(`packages/${name}/src`, { generated: true })
  const of = (file: string) => importsOf(file).filter(({ from }) => from.startsWith('.') && from.endsWith('.ts'))
  return new Map(
    files.map((file) => [file, of(file).map(({ from }) => normalize(join(dirname(file), from)).replaceAll('\\', '/'))]),
  )
}

const show = ({ file, from }: Import) => `${file} imports ${from}`

it('the table names every package and only those', () => {
  expect(Object.keys(allowed).sort()).toEqual(folders)
})

it('packages do not depend on one another in cycles', () => {
  expect(cycles(new Map(folders.map((name) => [name, siblingsOf(name)])))).toEqual([])
})

it.each(light)('%s installs neither a server nor native code', (name) => {
  const installed = new Set<string>()
  const install = (each: string) => {
    if (installed.has(each)) return
    installed.add(each)
    for (const sibling of siblingsOf(each)) install(sibling)
  }
  install(name)
  expect([...installed].filter((each) => ['apiserver', 'registry', 'storage'].includes(each))).toEqual([])
  expect([...installed].filter((each) => 'lmdb' in (manifestOf(`packages/${each}`).dependencies ?? {}))).toEqual([])
})

it.each(Object.entries(layers))('the folders of %s import in one direction', (name, order) => {
  const layerOf = (file: string) => order.indexOf(file.split('/')[3] ?? '')
  const wrong = [...fileImports(name)].flatMap(([file, targets]) => {
    const isUpward = (target: string) => layerOf(file) >= 0 && layerOf(target) > layerOf(file)
    return /\.test\.ts$/.test(file) ? [] : targets.filter(isUpward).map((target) => `${file} imports ${target}`)
  })
  expect(wrong).toEqual([])
})

/** The folders in a folder, each as one, and its loose files, with what they import. Tests and entry points do not count. */
function rooms(folder: string, imports: ReadonlyMap<string, readonly string[]>): Map<string, string[]> {
  const roomOf = (file: string) => (file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/')[0] : undefined)
  const found = new Map<string, string[]>()
  for (const [file, targets] of imports) {
    const room = roomOf(file)
    if (room === undefined || room === 'index.ts' || /\.test\.ts$|\/testing\//.test(file)) continue
    const others = targets.map(roomOf).filter((other) => other !== undefined && other !== room)
    found.set(room, [...new Set([...(found.get(room) ?? []), ...(others as string[])])])
  }
  return found
}

it.each(folders)('the folders of %s import one another in no cycle', (name) => {
  const imports = fileImports(name)
  const found = [...new Set([...imports.keys()].map(dirname))].flatMap((folder) => cycles(rooms(folder, imports)))
  expect(found.map((members) => members.join(', '))).toEqual([])
})

describe.each(folders)('%s', (name) => {
  const all = imports.get(name)!
  const production = all.filter(({ inTest }) => !inTest)

  it('imports only packages it may', () => {
    const may = new Set(allowed[name])
    const mayInTests = new Set(allowedInTests[name])
    const wrong = all.filter(({ from, inTest }) => {
      const other = siblingOf(from)
      return other !== undefined && !may.has(other) && !(inTest && mayInTests.has(other))
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('depends only on packages it may import', () => {
    expect(siblingsOf(name).filter((other) => !allowed[name]?.includes(other))).toEqual([])
  })

  it('has no import cycles, types included', () => {
    expect(cycles(fileImports(name)).map((files) => files.join(', '))).toEqual([])
  })

  it('stays inside itself with relative imports, which end in .ts', () => {
    const wrong = all.filter(({ file, from, inTest }) => {
      if (!from.startsWith('.')) return false
      const target = normalize(join(dirname(file), from)).replaceAll('\\', '/')
      if (target.startsWith(`packages/${name}/src/`) && target.endsWith('.ts')) return false
      return !(inTest && (target.startsWith(`packages/${name}/testdata/`) || target.startsWith(typeFacts)))
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('uses only allowed libraries, each through one module', () => {
    const foreign = all.filter(({ from }) => !/^(\.|node:|@krmkit\/|(create-)?krmkit(\/|$))/.test(from))
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
    const { devDependencies = {}, peerDependencies = {} } = manifestOf(`packages/${name}`)
    const dependencies = dependenciesOf(name)
    const root = manifestOf('.').devDependencies ?? {}
    const wrong = all.filter(({ from, inTest }) => {
      if (from.startsWith('.') || from.startsWith('node:')) return false
      const library = packageNameOf(from)
      return !(
        library in dependencies ||
        library in peerDependencies ||
        (inTest && (library in devDependencies || library in root))
      )
    })
    expect(wrong.map(show)).toEqual([])
  })

  it('opens connections only in allowed modules', () => {
    if (mayUseSockets.has(name)) return
    const allowed = (file: string, from: string) =>
      (from === 'node:net' && mayUseNet.has(name)) ||
      Object.entries(socketModules).some(([path, modules]) => file.startsWith(path) && modules.includes(from))
    const wrong = production.filter(({ file, from, typeOnly }) => sockets.has(from) && !typeOnly && !allowed(file, from))
    expect(wrong.map(show)).toEqual([])
  })
})

describe.each(['tools', 'conformance'])('the private package %s', (name) => {
  it('is imported by no package', () => {
    const all = [...imports.values()].flat()
    const wrong = all.filter(({ from }) => packageNameOf(from) === `@krmkit/${name}` || from.includes(`/${name}/src/`))
    expect(wrong.map(show)).toEqual([])
  })
})

describe('tools', () => {
  const own = sourceFiles('packages/tools/src').flatMap(importsOf)

  it('has no import cycles and stays inside itself with relative imports', () => {
    expect(cycles(fileImports('tools')).map((files) => files.join(', '))).toEqual([])
    const isInside = ({ file, from }: Import) =>
      normalize(join(dirname(file), from))
        .replaceAll('\\', '/')
        .startsWith('packages/tools/src/')
    expect(own.filter((each) => each.from.startsWith('.') && !(isInside(each) && each.from.endsWith('.ts'))).map(show)).toEqual(
      [],
    )
  })

  it('imports development dependencies of the workspace, and packages only by name', () => {
    const { devDependencies = {} } = manifestOf('.')
    const wrong = own.filter(({ from }) => !/^(\.|node:)/.test(from) && !(packageNameOf(from) in devDependencies))
    expect(wrong.map(show)).toEqual([])
  })
})

import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { softwareVersion } from '@krmkit/apiserver'
import { describe, expect, it } from 'vitest'
import { type Manifest, manifestOf, packageFolders, root, sourceFiles } from './source-files.ts'

/** Maximum number of lines of a module. */
const maxLines = 500
/** Packages whose names people type: `npm install krmkit`, `npm create krmkit`. */
const unscoped = ['krmkit', 'create-krmkit']
/** Packages that are published as a bundle of what they import. */
const bundled = ['cli']
const exact = /^\d+\.\d+\.\d+(-[\w.]+)?$/
const license = readFileSync(join(root, 'LICENSE'), 'utf8')

describe.each(packageFolders())('%s', (name) => {
  const folder = `packages/${name}`
  const manifest = manifestOf(folder)

  it('has complete metadata', () => {
    expect(manifest).toMatchObject({
      name: unscoped.includes(name) ? name : `@krmkit/${name}`,
      license: 'Apache-2.0',
      type: 'module',
      engines: { node: '>=20' },
      sideEffects: false,
    })
    expect(manifest.description ?? '').not.toBe('')
    expect(manifest.files).toEqual(
      expect.arrayContaining([bundled.includes(name) ? 'dist/bundle/*.cjs' : 'dist', 'README.md', 'LICENSE']),
    )
    expect(readFileSync(join(root, folder, 'LICENSE'), 'utf8')).toBe(license)
    expect(existsSync(join(root, folder, 'README.md')), `${folder}/README.md`).toBe(true)
  })

  it('exports source, types and code of the same modules, and its manifest', () => {
    const { './package.json': own, ...others } = manifest.exports ?? {}
    expect(own).toBe('./package.json')
    expect('.' in others, 'a root entry').toBe(!bundled.includes(name))
    for (const entry of Object.values(others)) {
      if (typeof entry === 'string') throw new Error(`${folder}: an entry point without conditions`)
      const { browser, ...conditions } = entry
      for (const each of browser === undefined ? [conditions] : [conditions, browser]) {
        const { source = '' } = each
        expect(existsSync(join(root, folder, source)), `${folder}/${source}`).toBe(true)
        const built = source.replace('./src/', './dist/').replace(/\.ts$/, '')
        expect(Object.entries(each)).toEqual([
          ['source', source],
          ['types', `${built}.d.ts`],
          ['default', `${built}.js`],
        ])
      }
      // Conditions apply in order.
      if (browser !== undefined) expect(Object.keys(entry)[0]).toBe('browser')
    }
  })

  it('publishes sources, and neither tests nor what a build leaves behind', () => {
    const sources = ['src', '!**/*.tsbuildinfo', '!**/*.test.ts', '!**/testdata']
    expect(manifest.files).toEqual(expect.arrayContaining(['NOTICE', ...(bundled.includes(name) ? [] : sources)]))
    const { repository, keywords, homepage } = manifest
    expect(repository).toMatchObject({ type: 'git', directory: folder })
    expect(keywords?.length).toBeGreaterThan(0)
    expect(homepage).toMatch(/^https:/)
    const readme = readFileSync(join(root, folder, 'README.md'), 'utf8')
    const links = [...readme.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target]) => target ?? '')
    expect(links.filter((target) => !/^(https:\/\/|#)/.test(target))).toEqual([])
  })

  it('has executable commands', () => {
    for (const path of Object.values(manifest.bin ?? {}))
      expect(statSync(join(root, folder, path)).mode & 0o111, path).not.toBe(0)
  })

  it('pins its dependencies, and references their builds', () => {
    const { references = [] } = JSON.parse(readFileSync(join(root, folder, 'tsconfig.json'), 'utf8')) as {
      references?: { path: string }[]
    }
    const siblings: string[] = []
    const { dependencies = {}, devDependencies = {} } = manifest
    for (const [dependency, version] of Object.entries(bundled.includes(name) ? devDependencies : dependencies)) {
      if (version === 'workspace:*') siblings.push(`../${dependency.replace('@krmkit/', '')}`)
      else expect(version, dependency).toMatch(exact)
    }
    for (const [peer, range] of Object.entries(manifest.peerDependencies ?? {})) {
      expect(range, peer).toMatch(/^\^\d+\.\d+\.\d+$/)
      expect(manifest.devDependencies?.[peer], `${peer}, as tested`).toMatch(exact)
    }
    expect(references.map(({ path }) => path).sort()).toEqual(siblings.sort())
  })

  it('has modules of limited length', () => {
    const long = sourceFiles(`${folder}/src`)
      .filter((file) => !file.endsWith('.test.ts') && !file.includes('/testdata/'))
      .map((file) => ({ file, lines: readFileSync(join(root, file), 'utf8').split('\n').length - 1 }))
      .filter(({ lines }) => lines > maxLines)
    expect(long).toEqual([])
  })
})

it('all packages have one version, which the server reports', () => {
  const versions = packageFolders().map((name) => manifestOf(`packages/${name}`).version)
  expect(new Set(versions)).toEqual(new Set([softwareVersion]))
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8')).toContain(`\n## ${softwareVersion}\n`)
})

it('builds have source maps', () => {
  const { compilerOptions } = JSON.parse(readFileSync(join(root, 'tsconfig.base.json'), 'utf8')) as { compilerOptions: object }
  expect(compilerOptions).toMatchObject({ sourceMap: true, declarationMap: true })
})

it('the command is published as a bundle, without engine caches and without the modules of which it consists', () => {
  const manifest = manifestOf('packages/cli')
  const documents = ['README.md', 'LICENSE', 'NOTICE']
  expect(manifest.files).toEqual(['dist/bundle/*.cjs', 'dist/bundle/licenses.txt', ...documents, 'bin'])
  expect(manifest).not.toHaveProperty('dependencies')
  expect(manifest).not.toHaveProperty('peerDependencies')
  expect(manifest.optionalDependencies).toEqual({ lmdb: manifestOf('packages/storage').devDependencies?.['lmdb'] })
})

it('the library has the command, and neither its code nor its dependencies', () => {
  const { exports = {}, files = [], dependencies = {}, bin } = manifestOf('packages/krmkit')
  expect(Object.keys(exports)).toEqual(['.', './testing', './validate', './package.json'])
  expect(files).toContain('!dist/bundle')
  expect(Object.keys(dependencies).filter((name) => !name.startsWith('@krmkit/'))).toEqual([])
  expect(dependencies).not.toHaveProperty('@krmkit/cli')
  expect(bin).toEqual(manifestOf('packages/cli').bin)
})

it('the workspace pins its tools', () => {
  const { devDependencies = {} }: Manifest = manifestOf('.')
  for (const [tool, version] of Object.entries(devDependencies)) {
    // A package under another name: `npm:NAME@VERSION`.
    if (version !== 'workspace:*') expect(version.replace(/^npm:.+@/, ''), tool).toMatch(exact)
  }
})

it('the lock file has the binaries of every platform', () => {
  const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  const binaries = [...lock.matchAll(/^ {2}'?(@(?:biomejs|lmdb|rolldown)\/.*)-linux-x64(?:-gnu)?@([^:']+)'?:$/gm)]
  expect(new Set(binaries.map(([, name]) => name))).toEqual(new Set(['@biomejs/cli', '@lmdb/lmdb', '@rolldown/binding']))
  for (const [, name, version] of binaries) {
    expect(lock).toContain(`  '${name}-darwin-arm64@${version}':\n`)
    expect(lock).toContain(`  '${name}-win32-x64`)
  }
})

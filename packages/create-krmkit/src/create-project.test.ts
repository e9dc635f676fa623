import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { type CreateProjectOptions, createProject } from './create-project.ts'
import { templates } from './templates.ts'

const root = mkdtempSync(join(tmpdir(), 'create-krmkit-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const readJson = (path: string | URL) => JSON.parse(readFileSync(path, 'utf8')) as Record<string, Record<string, string>>
const { version = '' } = readJson(new URL('../package.json', import.meta.url)) as unknown as { version?: string }
const errorOf = (options: CreateProjectOptions): unknown => {
  try {
    createProject(options)
    return undefined
  } catch (error) {
    return error
  }
}

describe.each(templates)('template $name', ({ name: template }) => {
  const { folder, files } = createProject({ folder: join(root, template), template })
  const { dependencies = {}, devDependencies = {}, scripts = {} } = readJson(join(folder, 'package.json'))

  it('has a manifest, a description, tests and ignored files', () => {
    expect(files).toEqual(expect.arrayContaining(['package.json', 'README.md', '.gitignore']))
    expect(files.filter((file) => file.includes('.test.'))).not.toEqual([])
    expect(scripts).toHaveProperty('test')
    expect(files).toEqual(
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
        .sort(),
    )
  })

  it('has the name of the folder', () => {
    expect(readJson(join(folder, 'package.json'))['name']).toBe(template)
    expect(readFileSync(join(folder, 'README.md'), 'utf8')).toMatch(new RegExp(`^# ${template}\n`))
    for (const file of files) expect(readFileSync(join(folder, file), 'utf8')).not.toContain('{{name}}')
  })

  it('depends on this release, and on the tool versions with which this release is tested', () => {
    const tested = readJson(new URL('../../../package.json', import.meta.url))['devDependencies'] ?? {}
    const all = Object.entries({ ...dependencies, ...devDependencies })
    expect(all.length).toBeGreaterThan(0)
    for (const [name, range] of all) {
      expect(range, name).toBe(/^(krmkit$|@krmkit\/)/.test(name) ? `^${version}` : `^${tested[name]}`)
    }
  })
})

describe('createProject', () => {
  it('takes the name from the options', () => {
    const { folder, name } = createProject({ folder: join(root, 'Named Folder'), name: '@shop/ops', template: 'ci-linter' })
    expect(name).toBe('@shop/ops')
    expect(readJson(join(folder, 'package.json'))['name']).toBe('@shop/ops')
  })

  it('rejects a folder with files, an invalid name and an unknown template, and writes nothing', () => {
    const full = join(root, 'full')
    mkdirSync(full)
    writeFileSync(join(full, 'notes.txt'), '')
    expect(errorOf({ folder: full, template: 'operator' })).toMatchObject({ code: 'FolderNotEmpty' })
    expect(readdirSync(full)).toEqual(['notes.txt'])
    expect(errorOf({ folder: join(root, 'Upper'), template: 'operator' })).toMatchObject({
      code: 'InvalidName',
      message: expect.stringContaining('--name') as string,
    })
    expect(existsSync(join(root, 'Upper'))).toBe(false)
    expect(errorOf({ folder: join(root, 'x'), template: 'web' as 'operator' })).toMatchObject({
      code: 'UnknownTemplate',
      message: 'unknown template "web"; available: control-plane, operator, ci-linter',
    })
  })

  it('accepts a folder that contains only a repository', () => {
    mkdirSync(join(root, 'repository/.git'), { recursive: true })
    expect(createProject({ folder: join(root, 'repository'), template: 'operator' }).files).toContain('package.json')
  })

  it('installs packed packages of this version from a folder, including their dependencies', () => {
    const tarballs = join(root, 'tarballs')
    mkdirSync(tarballs)
    for (const name of ['krmkit', 'krmkit-cli', 'krmkit-meta', 'create-krmkit'])
      writeFileSync(join(tarballs, `${name}-${version}.tgz`), '')
    writeFileSync(join(tarballs, 'krmkit-meta-0.0.1.tgz'), '')
    const { folder } = createProject({ folder: join(root, 'packed'), template: 'ci-linter', tarballs })
    const files = {
      krmkit: `file:${join(tarballs, `krmkit-${version}.tgz`)}`,
      '@krmkit/cli': `file:${join(tarballs, `krmkit-cli-${version}.tgz`)}`,
      '@krmkit/meta': `file:${join(tarballs, `krmkit-meta-${version}.tgz`)}`,
    }
    expect(readJson(join(folder, 'package.json'))).toMatchObject({
      devDependencies: { '@krmkit/cli': files['@krmkit/cli'] },
      overrides: files,
    })
  })

  it('names the packed packages that are missing', () => {
    const tarballs = join(root, 'none')
    const error = errorOf({ folder: join(root, 'unpacked'), template: 'ci-linter', tarballs })
    expect(error).toMatchObject({
      code: 'MissingTarball',
      message: expect.stringContaining(`${tarballs} has no packed @krmkit/cli;`) as string,
    })
    expect(existsSync(join(root, 'unpacked'))).toBe(false)
  })
})

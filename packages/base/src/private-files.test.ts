import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { rolldown } from 'rolldown'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ensurePrivateDirectory, ensurePrivateFile, openPrivateFile, restrictToOwner, writePrivateFile } from './private-files.ts'

const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8)
const isRoot = process.getuid?.() === 0

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'krmkit-private-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

describe('private files', () => {
  it('are created with access for their owner only', async () => {
    ensurePrivateDirectory(join(folder, 'a', 'b'))
    ensurePrivateFile(join(folder, 'a', 'b', 'empty'))
    await writePrivateFile(join(folder, 'c', 'd', 'text'), 'text')
    const handle = await openPrivateFile(join(folder, 'a', 'log'))
    await handle.close()
    expect(['a', 'a/b', 'c', 'c/d'].map((name) => mode(join(folder, name)))).toEqual(['700', '700', '700', '700'])
    expect(['a/b/empty', 'c/d/text', 'a/log'].map((name) => mode(join(folder, name)))).toEqual(['600', '600', '600'])
    expect(readFileSync(join(folder, 'c/d/text'), 'utf8')).toBe('text')
  })

  it('are restricted to their owner if they exist, keeping their content', async () => {
    const inner = join(folder, 'inner')
    mkdirSync(inner)
    chmodSync(inner, 0o755)
    const file = join(inner, 'file')
    writeFileSync(file, 'old')
    for (const tighten of [ensurePrivateFile, restrictToOwner, async (path: string) => (await openPrivateFile(path)).close()]) {
      chmodSync(file, 0o644)
      await tighten(file)
      expect(mode(file)).toBe('600')
    }
    ensurePrivateDirectory(inner)
    expect(mode(inner)).toBe('700')
    expect(readFileSync(file, 'utf8')).toBe('old')
  })

  it('restricts only the requested directory, not its parents', () => {
    chmodSync(folder, 0o755)
    ensurePrivateDirectory(join(folder, 'a'))
    expect(mode(folder)).toBe('755')
  })

  it('does not write through a symbolic link at the temporary path', async () => {
    const elsewhere = join(folder, 'elsewhere')
    writeFileSync(elsewhere, 'kept')
    symlinkSync(elsewhere, join(folder, 'secret.new'))
    await writePrivateFile(join(folder, 'secret'), 'secret')
    expect(readFileSync(elsewhere, 'utf8')).toBe('kept')
    expect(mode(join(folder, 'secret'))).toBe('600')
  })

  it('rejects shared directories and paths that are not directories', () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared)
    chmodSync(shared, 0o1777)
    expect(() => ensurePrivateDirectory(shared)).toThrow(`${shared} is shared with other users (mode 1777)`)
    expect(mode(shared)).toBe('1777')
    expect(() => ensurePrivateDirectory('/')).toThrow('/ is shared with other users')
    writeFileSync(join(folder, 'file'), '')
    expect(() => ensurePrivateDirectory(join(folder, 'file'))).toThrow('file is not a folder')
    expect(() => ensurePrivateDirectory(join(folder, 'file', 'below'))).toThrow('file is not a folder')
  })

  it('opens devices without changing them', async () => {
    const before = mode('/dev/null')
    await (await openPrivateFile('/dev/null')).close()
    expect(mode('/dev/null')).toBe(before)
  })
})

describe('private files of another process', () => {
  let bundle = ''
  let buildFolder = ''

  beforeAll(async () => {
    buildFolder = mkdtempSync(join(tmpdir(), 'krmkit-private-build-'))
    chmodSync(buildFolder, 0o755)
    const built = await rolldown({
      input: fileURLToPath(new URL('./private-files.ts', import.meta.url)),
      platform: 'node',
      logLevel: 'silent',
    })
    await built.write({ dir: buildFolder, format: 'esm', entryFileNames: '[name].mjs' })
    await built.close()
    bundle = pathToFileURL(join(buildFolder, 'private-files.mjs')).href
  })
  afterAll(() => rmSync(buildFolder, { recursive: true, force: true }))

  const run = (code: string, { umask = 0o022, uid }: { umask?: number; uid?: number } = {}): string => {
    const script = `process.umask(${umask}); const files = await import(${JSON.stringify(bundle)}); ${code}`
    const args = ['--input-type=module', '-e', script]
    return execFileSync(process.execPath, args, { cwd: '/', encoding: 'utf8', ...(uid === undefined ? {} : { uid }) })
  }

  it.each([0, 0o022, 0o077, 0o777])('have the same modes under umask %o', (umask) => {
    const at = (name: string) => JSON.stringify(join(folder, name))
    run(
      `files.ensurePrivateDirectory(${at('a/b/c')}); files.ensurePrivateFile(${at('a/b/c/file')});
       await files.writePrivateFile(${at('d/e/text')}, 'x'); await (await files.openPrivateFile(${at('a/log')})).close()`,
      { umask },
    )
    expect(['a', 'a/b', 'a/b/c', 'd/e'].map((name) => mode(join(folder, name)))).toEqual(['700', '700', '700', '700'])
    expect(['a/b/c/file', 'd/e/text', 'a/log'].map((name) => mode(join(folder, name)))).toEqual(['600', '600', '600'])
  })

  it('rejects an accessible directory of another user, and one that cannot be created', () => {
    const attempt = (path: string) =>
      run(`try { files.ensurePrivateDirectory(${JSON.stringify(path)}) } catch (error) { console.log(error.message) }`, {
        ...(isRoot ? { uid: 65_534 } : {}),
      })
    expect(attempt('/usr')).toMatch(/^\/usr is open to other users \(mode 0755\) and belongs to uid 0: its owner has to close it/)
    expect(attempt('/usr/krmkit-test/data')).toMatch(/EACCES.*\/usr\/krmkit-test/)
    expect(existsSync('/usr/krmkit-test')).toBe(false)
  })
})

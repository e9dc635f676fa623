import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach } from 'vitest'

/** The path of a folder for the tests of a file, which is deleted after the last one. With `perTest` it is empty for each test. */
export function temporaryFolder({ perTest = false }: { readonly perTest?: boolean } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'krmkit-'))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  if (perTest) {
    beforeEach(() => void mkdirSync(folder, { recursive: true }))
    afterEach(remove)
  }
  afterAll(remove)
  return folder
}

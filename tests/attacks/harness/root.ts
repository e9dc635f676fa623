import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The root of the workspace, even when this module is bundled to another folder. */
export const root = rootAbove(dirname(fileURLToPath(import.meta.url)))

function rootAbove(folder: string): string {
  return existsSync(join(folder, 'pnpm-workspace.yaml')) ? folder : rootAbove(dirname(folder))
}

export const harnessFolder = join(root, 'tests/attacks/harness')

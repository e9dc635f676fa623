/** Files that tools generate and a check compares. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { root } from './workspace.ts'

/** Whether the file, a path from the root, has the text. */
export function isCurrent(path: string, text: string): boolean {
  const file = join(root, path)
  return existsSync(file) && readFileSync(file, 'utf8') === text
}

/** Writes the file, a path from the root, and the folders above it. */
export function writeGenerated(path: string, text: string): void {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}

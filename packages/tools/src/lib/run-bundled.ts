/** Runs a TypeScript program of `tests/` with the sources of the packages, bundled first since Node 20 cannot run TypeScript. */
import { spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { endWith } from './child.ts'
import { forNode } from './rolldown.ts'
import { root } from './workspace.ts'

export interface BundledProgram {
  /** Path from the root. */
  readonly source: string
  readonly args: readonly string[]
  readonly nodeFlags?: readonly string[]
  /** Folder of the bundle, from the root; the bundle finds the packages of this folder. Default: `tests/dist`. */
  readonly folder?: string
}

/** Starts the program, whose exit code becomes that of this process. `name`: name of the bundle in its folder. */
export async function runBundled(
  name: string,
  { source, args, nodeFlags = [], folder = 'tests/dist' }: BundledProgram,
): Promise<void> {
  const out = join(root, folder, name)
  mkdirSync(out, { recursive: true })
  const bundle = await rolldown({
    ...forNode,
    input: join(root, source),
    // Programs among the sources of packages, whose modules have no side effects otherwise.
    treeshake: { moduleSideEffects: (id) => id.includes('/src/testing/') || undefined },
  })
  await bundle.write({ dir: out, format: 'esm', entryFileNames: 'main.mjs', chunkFileNames: '[name]-[hash].mjs' })
  await bundle.close()
  endWith(spawn(process.execPath, [...nodeFlags, join(out, 'main.mjs'), ...args], { cwd: root, stdio: 'inherit' }))
}

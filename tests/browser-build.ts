import { type InputOptions, type RolldownBuild, rolldown } from 'rolldown'
import { root } from './source-files.ts'

/**
 * Bundles a module for a browser, from the sources of the packages. The caller closes the build.
 *
 * Fails when any module that can be reached imports one that browsers do not have, also where the bundle needs nothing of it: bundlers
 * resolve imports before they drop unused modules.
 */
export function browserBuild(source: string): Promise<RolldownBuild> {
  const conditionNames = ['source', 'browser', 'import', 'module', 'default']
  return buildOf(source, { platform: 'browser', resolve: { conditionNames } })
}

/** Bundles a module for Node 20 or later, and runtimes with its built-ins, from the sources of the packages. The caller closes the build. */
export function nodeBuild(source: string): Promise<RolldownBuild> {
  const conditionNames = ['source', 'node', 'import', 'module', 'default']
  return buildOf(source, {
    platform: 'node',
    resolve: { conditionNames },
    // A package with native code.
    external: ['lmdb'],
    transform: { target: 'node20' },
  })
}

function buildOf(source: string, options: InputOptions): Promise<RolldownBuild> {
  return rolldown({
    ...options,
    input: 'entry',
    cwd: root,
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === 'entry' ? `${root}entry.ts` : null),
        load: (id) => (id === `${root}entry.ts` ? source : null),
      },
    ],
    onLog(level, log, handler) {
      if (log.code === 'UNRESOLVED_IMPORT' && options.platform === 'browser') throw new Error(log.message)
      if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
    },
  })
}

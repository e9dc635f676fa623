/** Options of the bundler that bundles for Node share. */
import type { InputOptions } from 'rolldown'

export const forNode = {
  platform: 'node',
  // Syntax is lowered for the oldest supported Node version.
  transform: { target: 'node20' },
  // Packages with native code cannot be bundled; bundles import them by name.
  external: ['lmdb'],
  resolve: { conditionNames: ['source', 'import', 'module', 'node', 'default'] },
  onLog(level, log, handler) {
    if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
  },
} as const satisfies InputOptions

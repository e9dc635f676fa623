import { type InputOptions, type RolldownBuild, rolldown } from 'rolldown'
import { root } from './source-files.ts'

/**
 * Bundles a module for a browser, from the sources of the packages; or several, by name, that share what they have in common. The caller
 * closes the build.
 *
 * Fails when any module that can be reached imports one that browsers do not have, also where the bundle needs nothing of it: bundlers
 * resolve imports before they drop unused modules.
 */
export function browserBuild(source: string | Readonly<Record<string, string>>): Promise<RolldownBuild> {
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

function buildOf(source: string | Readonly<Record<string, string>>, options: InputOptions): Promise<RolldownBuild> {
  const sources = new Map(Object.entries(typeof source === 'string' ? { entry: source } : source))
  const fileOf = (name: string) => `${root}${name.replaceAll('/', '-')}.entry.ts`
  const texts = new Map([...sources].map(([name, text]) => [fileOf(name), text]))
  return rolldown({
    ...options,
    input: Object.fromEntries([...sources.keys()].map((name) => [name, fileOf(name)])),
    cwd: root,
    plugins: [
      {
        name: 'entries',
        resolveId: (id) => (texts.has(id) ? id : null),
        load: (id) => texts.get(id) ?? null,
      },
    ],
    onLog(level, log, handler) {
      if (log.code === 'UNRESOLVED_IMPORT' && options.platform === 'browser') throw new Error(log.message)
      if (log.code !== 'EVAL' && log.code !== 'CIRCULAR_DEPENDENCY') handler(level, log)
    },
  })
}

import { configDefaults, defineConfig } from 'vitest/config'

/** Files that need a thread to themselves: they replace or count what its modules share, or fill its heap. */
const alone = [
  'packages/http/src/{closed-sessions,write-coalescer}.test.ts',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/strategy.test.ts',
  'packages/meta/src/{bytes,clock}.test.ts',
  'packages/schema/src/load-cel.test.ts',
  'packages/storage/src/{etcd/leases,mvcc/mvcc-storage}.test.ts',
  'tests/{bundle,browser,browser-size,cycles,fuzz,public-names,request-closures}.test.ts',
  'tests/{attacks,histories,playground,site}/**/*.test.ts',
]

/** Packages whose tests mostly start servers. A project ends its threads, and so frees what their files have left on the heap. */
const servers = 'apiserver|client|controllers|http|krmkit|testing'

/** Files that share the modules of a thread: loading them takes longer than most tests. */
const sharing = (name: string, include: readonly string[]) => ({
  extends: true as const,
  test: { name, include: [...include], exclude: [...configDefaults.exclude, ...alone], isolate: false },
})

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    setupFiles: ['tests/seed.ts'],
    pool: 'threads',
    maxWorkers: 2,
    maxConcurrency: 10,
    testTimeout: 60_000,
    projects: [
      sharing('libraries', [`packages/!(${servers})/src/**/*.test.ts`]),
      sharing('servers', [
        `packages/@(${servers})/src/**/*.test.ts`,
        'packages/create-krmkit/templates/*/src/**/*.test.ts',
        'examples/**/*.test.ts',
      ]),
      sharing('tests', ['tests/**/*.test.ts']),
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
})

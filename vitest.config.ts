import { availableParallelism } from 'node:os'
import { configDefaults, defineConfig } from 'vitest/config'
import suites from './tests/long-suites.json' with { type: 'json' }

/** Files that need a thread to themselves: they replace or count what its modules share, or fill its heap. */
const alone = [
  'packages/http/src/{closed-sessions,write-coalescer}.test.ts',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/strategy.test.ts',
  'packages/base/src/bytes.test.ts',
  'packages/meta/src/clock.test.ts',
  'packages/schema/src/load-cel.test.ts',
  'packages/storage/src/{etcd/leases,mvcc/mvcc-storage}.test.ts',
  'tests/{bundle,browser,browser-size,cycles,fuzz,public-names,request-closures}.test.ts',
]

const longFiles = (name?: string) =>
  Object.values(suites).flatMap(({ project, files }) => (name === undefined || project === name ? files : []))

/** Packages whose tests mostly start servers. A project ends its threads, and so frees what their files have left on the heap. */
const servers = 'apiserver|cli|client|conformance|controllers|http|krmkit|testing'

/** Files that share the modules of a thread: loading them takes longer than most tests. */
const sharing = (name: string, include: readonly string[], others: readonly string[]) => ({
  extends: true as const,
  test: { name, include: [...include], exclude: [...configDefaults.exclude, ...others], isolate: false },
})
const quick = (name: string, include: readonly string[]) => sharing(name, include, [...alone, ...longFiles()])

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    setupFiles: ['tests/seed.ts'],
    pool: 'threads',
    // One more than processors, since tests with sockets and processes of their own wait for them; each takes some 500 MB.
    maxWorkers: Math.min(availableParallelism() + 1, 8),
    maxConcurrency: 10,
    // Far beyond what a test or hook takes, so that none fails because other processes have the processor.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000 } },
    projects: [
      quick('libraries', [`packages/!(${servers})/src/**/*.test.ts`]),
      quick('servers', [
        `packages/@(${servers})/src/**/*.test.ts`,
        'packages/create-krmkit/templates/*/src/**/*.test.ts',
        'examples/**/*.test.ts',
      ]),
      quick('tests', ['tests/**/*.test.ts']),
      { extends: true, test: { name: 'alone', include: alone } },
      sharing('long', longFiles('long'), []),
      ...['long-alone', 'long-seldom'].map((name) => ({
        extends: true as const,
        // In processes, whose processor time some of them measure.
        test: { name, include: longFiles(name), pool: 'forks' as const },
      })),
    ],
  },
})

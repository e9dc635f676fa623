import { configDefaults, defineConfig } from 'vitest/config'

/** Files that change or count what all modules of a thread share. */
const alone = [
  'packages/http/src/closed-sessions.test.ts',
  'packages/kinds/src/strategies/apiextensions/custom-resource-definition/strategy.test.ts',
  'packages/schema/src/load-cel.test.ts',
]

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
      {
        extends: true,
        test: {
          name: 'shared',
          include: [
            'packages/*/src/**/*.test.ts',
            'packages/create-krmkit/templates/*/src/**/*.test.ts',
            'examples/**/*.test.ts',
            'tests/**/*.test.ts',
          ],
          exclude: [...configDefaults.exclude, ...alone],
          // The files of a thread share their modules: loading them takes longer than most tests.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'alone', include: alone } },
    ],
  },
})

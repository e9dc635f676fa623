import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['source'] },
  ssr: { resolve: { conditions: ['source'] } },
  test: {
    include: [
      'packages/*/src/**/*.test.ts',
      'packages/create-krmkit/templates/*/src/**/*.test.ts',
      'tests/**/*.test.ts',
      'examples/**/*.test.ts',
    ],
    setupFiles: ['tests/seed.ts'],
    pool: 'threads',
    maxWorkers: 2,
    testTimeout: 20_000,
  },
})

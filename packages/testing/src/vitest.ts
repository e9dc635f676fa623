import { ForkSource } from './cluster-per-test.ts'
import { type FailureOptions, pageName, reportFailure } from './failed-run.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { optional } from './optional.ts'
import { createTestServer } from './test-server.ts'

/** Fixtures of vitest: a server and a namespace for each test. */

/** The parts of a test context that the fixtures read. */
interface TestContext {
  readonly task: { readonly name: string; readonly file?: { readonly name: string } }
  onTestFailed(listener: () => void | Promise<void>): void
}

type Use<T> = (value: T) => Promise<void>

export interface ClusterFixtureOptions extends TestServerOptions, FailureOptions {}

export interface ClusterFixtures {
  readonly cluster: (context: TestContext, use: Use<TestServer>) => Promise<void>
  /** Name of a namespace for this test only. */
  readonly namespace: (context: TestContext & { readonly cluster: TestServer }, use: Use<string>) => Promise<void>
}

/**
 * Creates fixtures for `test.extend`. The tests of a file share one template with the seed; each gets a fork of it, which
 * takes constant time.
 *
 * @example
 * import { test as base } from 'vitest'
 * import { clusterFixtures } from '@krmkit/testing/vitest'
 * const test = base.extend(clusterFixtures({ seed: 'manifests/' }))
 */
export function clusterFixtures(options: ClusterFixtureOptions = {}): ClusterFixtures {
  const { report, inspectorFolder, ...serverOptions } = options
  const failure: FailureOptions = optional({ report, inspectorFolder })
  const source = new ForkSource(createTestServer, serverOptions)
  const namespaces = new WeakMap<TestServer, string>()
  return {
    cluster: async ({ task, onTestFailed }, use) => {
      const { cluster, namespace } = await source.fork(task.name)
      namespaces.set(cluster, namespace)
      onTestFailed(() => reportFailure(cluster, pageName(task.file?.name, namespace), failure))
      await use(cluster)
      await cluster.close()
    },
    namespace: async ({ cluster }, use) => use(namespaces.get(cluster) ?? ''),
  }
}

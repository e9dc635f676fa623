import { type ClusterPerTest, type ClusterPerTestOptions, clusterPerTestOf, type RunnerHooks } from './cluster-per-test.ts'
import { type Exploration, type ExploreOptions, exploreOn } from './explore.ts'
import { startTestServer } from './in-process-server.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { nodeHost } from './node-host.ts'

/** The functions that start test servers, in Node and runtimes with its built-ins. */

/**
 * Starts an API server for a test: in-process, in memory, with its own controllers and clock. Resolves when the seed is applied and the
 * server has settled.
 *
 * @throws TestingError `InvalidSeed`, `InvalidState`, `InvalidOption`
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { createTestServer } from '@krmkit/testing'
 * await using cluster = await createTestServer()
 * await cluster.client.create(ConfigMap, { metadata: { name: 'web' }, data: { color: 'red' } })
 * await cluster.settle()
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  return startTestServer(options, nodeHost)
}

/**
 * Runs a test with many event orders: requests and watch events, including those of controllers, are held and released one
 * by one. The first run uses the order of arrival, the others an order determined by their seed. Each run has a separate
 * server, with the same seed objects, time and randomness. A failing order is shrunk to the fewest deviations with which the
 * test still fails.
 *
 * @throws OrderFailure for the shortest failing order that was found
 * @throws TestingError `InvalidOrder`
 * @example
 * import { ConfigMap } from '@krmkit/kinds/core/v1'
 * import { explore } from '@krmkit/testing'
 * await explore({ runs: 20 }, async (cluster) => {
 *   await cluster.client.create(ConfigMap, { metadata: { name: 'web' } })
 *   await cluster.settle()
 * })
 */
export function explore(options: ExploreOptions, test: (cluster: TestServer) => Promise<void> | void): Promise<Exploration> {
  return exploreOn(nodeHost, options, test)
}

/**
 * Gives every test a server: a fork of one template per file that contains the seed. When a test fails, its last requests
 * and the seed of its random faults are printed, and its inspector page is kept with `inspectorFolder`.
 *
 * @example
 * import { afterAll, afterEach, beforeEach } from 'vitest'
 * import { clusterPerTest } from '@krmkit/testing'
 * const test = clusterPerTest({ beforeEach, afterEach, afterAll }, { controllers: [] })
 */
export function clusterPerTest(hooks: RunnerHooks, options: ClusterPerTestOptions = {}): ClusterPerTest {
  return clusterPerTestOf(createTestServer, hooks, options)
}

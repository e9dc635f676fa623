import { type ClusterPerTest, type ClusterPerTestOptions, clusterPerTestOf, type RunnerHooks } from './cluster-per-test.ts'
import { type Exploration, type ExploreOptions, exploreOn } from './explore.ts'
import { startTestServer } from './in-process-server.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { webHost } from './web-host.ts'

/** The functions that start test servers, without files, ports and certificates. */

/**
 * `createTestServer` of the entry point for browsers. Operations that need files or ports reject with TestingError
 * `Unsupported`; client certificates are not signed.
 *
 * @see {@link TestServer}
 */
export async function createTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  return startTestServer(options, webHost)
}

/**
 * `explore` of the entry point for browsers.
 *
 * @see {@link TestServer}
 */
export function explore(options: ExploreOptions, test: (cluster: TestServer) => Promise<void> | void): Promise<Exploration> {
  return exploreOn(webHost, options, test)
}

/**
 * `clusterPerTest` of the entry point for browsers.
 *
 * @see {@link TestServer}
 */
export function clusterPerTest(hooks: RunnerHooks, options: ClusterPerTestOptions = {}): ClusterPerTest {
  return clusterPerTestOf(createTestServer, hooks, options)
}

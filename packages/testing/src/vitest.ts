import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describeRun, ForkSource } from './cluster-per-test.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { createTestServer } from './test-server.ts'

/** Fixtures of vitest: a server and a namespace for each test. */

/** What the fixtures read of the context of a test. */
interface TestContext {
  readonly task: { readonly name: string }
  onTestFailed(listener: () => void | Promise<void>): void
}

type Use<T> = (value: T) => Promise<void>

export interface ClusterFixtureOptions extends TestServerOptions {
  /** Receives the description of the run of a failed test: its last requests and the seed of its random faults. Default: it is printed. */
  readonly report?: (text: string, cluster: TestServer) => void
  /** Folder for the inspector pages of failed tests, named after them. Default: none are written. */
  readonly inspectorFolder?: string
}

export interface ClusterFixtures {
  readonly cluster: (context: TestContext, use: Use<TestServer>) => Promise<void>
  /** Name of a namespace for the test alone. */
  readonly namespace: (context: TestContext & { readonly cluster: TestServer }, use: Use<string>) => Promise<void>
}

/**
 * Creates fixtures for `test.extend`. The tests of a file share one template with the seed; each gets a fork of it, which copies
 * pointers.
 *
 * @example
 * import { test as base } from 'vitest'
 * import { clusterFixtures } from '@krmkit/testing/vitest'
 * const test = base.extend(clusterFixtures({ seed: 'manifests/' }))
 */
export function clusterFixtures(options: ClusterFixtureOptions = {}): ClusterFixtures {
  const { report = (text) => console.error(text), inspectorFolder, ...serverOptions } = options
  const source = new ForkSource(createTestServer, serverOptions)
  const namespaces = new WeakMap<TestServer, string>()
  return {
    cluster: async ({ task, onTestFailed }, use) => {
      const { cluster, namespace } = await source.fork(task.name)
      namespaces.set(cluster, namespace)
      onTestFailed(async () => {
        const page = inspectorFolder === undefined ? '' : `\ninspector: ${await savePage(cluster, inspectorFolder, namespace)}`
        report(`${describeRun(cluster)}${page}`, cluster)
      })
      await use(cluster)
      await cluster.close()
    },
    namespace: async ({ cluster }, use) => use(namespaces.get(cluster) ?? ''),
  }
}

/** @param name unique in the run of a file: the namespace of the test */
async function savePage(cluster: TestServer, folder: string, name: string): Promise<string> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, `${name}.html`)
  await cluster.inspect({ file })
  return file
}

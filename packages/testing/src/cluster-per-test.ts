import { Namespace } from '@krmkit/kinds/core/v1'
import { type FailureOptions, pageName, reportFailure, slugOf } from './failed-run.ts'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import { optional } from './optional.ts'
import { hookOf } from './running-test.ts'
import { checkServerOptions } from './server-options.ts'
import { TestingError } from './testing-error.ts'

type CreateServer = (options: TestServerOptions) => Promise<TestServer>

/** The hooks of a test runner: jest, vitest, mocha (`after`) or node:test (`after`). */
export interface RunnerHooks {
  beforeEach(hook: () => Promise<void>): void
  afterEach(hook: () => Promise<void>): void
  /** A runner has either `afterAll` or `after`. */
  afterAll?(hook: () => Promise<void>): void
  after?(hook: () => Promise<void>): void
}

export interface ClusterPerTestOptions extends TestServerOptions, FailureOptions {}

/** The server and the namespace of the running test. */
export interface ClusterPerTest {
  /** @throws TestingError `Closed` outside a test */
  readonly cluster: TestServer
  /** A namespace for this test only, named after the test. @throws TestingError `Closed` outside a test */
  readonly namespace: string
  /**
   * Wraps a test so that its run is described when it fails. Needed only for runners whose hooks cannot detect failures:
   * runners other than vitest, node:test, playwright, mocha and jest with jest-circus.
   *
   * @example
   * import { afterAll, afterEach, beforeEach, test } from 'vitest'
   * import { clusterPerTest } from '@krmkit/testing'
   * const current = clusterPerTest({ beforeEach, afterEach, afterAll }, { inspectorFolder: 'test-results' })
   * test('creates a pod', current.reported(async () => {
   *   const { cluster, namespace } = current
   * }))
   */
  reported<A extends readonly unknown[]>(test: (...args: A) => Promise<void> | void): (...args: A) => Promise<void>
}

interface CurrentTest extends ForkedCluster {
  readonly page: string
  isReported: boolean
}

/** `clusterPerTest` with servers created by `create`. */
export function clusterPerTestOf(create: CreateServer, hooks: RunnerHooks, options: ClusterPerTestOptions): ClusterPerTest {
  const { afterAll = hooks?.after } = Object(hooks) as RunnerHooks
  if (afterAll === undefined) {
    throw new TestingError({ code: 'InvalidHooks', message: 'the hooks have neither `afterAll` nor `after`' })
  }
  const { report, inspectorFolder, ...serverOptions } = options
  const failure: FailureOptions = optional({ report, inspectorFolder })
  const source = new ForkSource(create, serverOptions)
  let current: CurrentTest | undefined
  const describe = async (test: CurrentTest) => {
    if (test.isReported) return
    test.isReported = true
    await reportFailure(test.cluster, test.page, failure)
  }
  hooks.beforeEach(
    hookOf(async ({ title, file }) => {
      const forked = await source.fork(title ?? '')
      current = { ...forked, page: pageName(file, forked.namespace), isReported: false }
    }),
  )
  hooks.afterEach(
    hookOf(async ({ hasFailed }) => {
      const ended = current
      current = undefined
      if (ended === undefined) return
      if (hasFailed === true) await describe(ended)
      await ended.cluster.close()
    }),
  )
  afterAll(() => source.close())
  const inTest = (): CurrentTest => {
    if (current !== undefined) return current
    throw new TestingError({
      code: 'Closed',
      message: 'the cluster exists only while a test runs: read it inside a test or a hook',
    })
  }
  return {
    get cluster() {
      return inTest().cluster
    },
    get namespace() {
      return inTest().namespace
    },
    reported:
      (test) =>
      async (...args) => {
        try {
          await test(...args)
        } catch (error) {
          if (current !== undefined) await describe(current)
          throw error
        }
      },
  }
}

export interface ForkedCluster {
  readonly cluster: TestServer
  readonly namespace: string
}

/** One template, started on first use, with a fork for each test. */
export class ForkSource {
  readonly #create: CreateServer
  readonly #options: TestServerOptions
  #template: Promise<TestServer> | undefined
  #count = 0

  /** @throws TestingError `InvalidOption` */
  constructor(create: CreateServer, options: TestServerOptions) {
    checkServerOptions(options)
    this.#create = create
    this.#options = options
  }

  /** @param title part of the name of the namespace */
  async fork(title: string): Promise<ForkedCluster> {
    this.#template ??= this.#create(this.#options)
    const cluster = (await this.#template).fork()
    const namespace = `${slugOf(title) || 'test'}-${++this.#count}`
    await cluster.client.create(Namespace, { metadata: { name: namespace } })
    await cluster.settle()
    cluster.ledger.clear()
    return { cluster, namespace }
  }

  async close(): Promise<void> {
    const template = await this.#template
    this.#template = undefined
    await template?.close()
  }
}

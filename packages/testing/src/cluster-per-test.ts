import { Namespace } from '@krmkit/kinds/core/v1'
import type { TestServer, TestServerOptions } from './interfaces.ts'
import type { LedgerEntry } from './ledger.ts'
import { TestingError } from './testing-error.ts'

type CreateServer = (options: TestServerOptions) => Promise<TestServer>

/** The hooks of a test runner: those of jest, vitest, mocha (`after`) or node:test (`after`). */
export interface RunnerHooks {
  beforeEach(hook: () => Promise<void>): void
  afterEach(hook: () => Promise<void>): void
  /** The runner has one of `afterAll` and `after`. */
  afterAll?(hook: () => Promise<void>): void
  after?(hook: () => Promise<void>): void
}

/** The server and the namespace of the running test. */
export interface ClusterPerTest {
  /** @throws TestingError `Closed` outside a test */
  readonly cluster: TestServer
  /** A namespace for the test alone. @throws TestingError `Closed` outside a test */
  readonly namespace: string
}

/** `clusterPerTest` with servers that `create` starts. */
export function clusterPerTestOf(create: CreateServer, hooks: RunnerHooks, options: TestServerOptions): ClusterPerTest {
  const afterAll = hooks.afterAll ?? hooks.after
  if (afterAll === undefined) {
    throw new TestingError({ code: 'InvalidHooks', message: 'the hooks have neither `afterAll` nor `after`' })
  }
  const source = new ForkSource(create, options)
  let current: ForkedCluster | undefined
  hooks.beforeEach(async () => {
    current = await source.fork('test')
  })
  hooks.afterEach(async () => {
    await current?.cluster.close()
    current = undefined
  })
  afterAll(() => source.close())
  const inTest = (): ForkedCluster => {
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

  constructor(create: CreateServer, options: TestServerOptions) {
    this.#create = create
    this.#options = options
  }

  /** @param title becomes part of the name of the namespace */
  async fork(title: string): Promise<ForkedCluster> {
    this.#template ??= this.#create(this.#options)
    const cluster = (await this.#template).fork()
    const namespace = `${slugOf(title)}-${++this.#count}`
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

const slugLength = 40

function slugOf(title: string): string {
  const slug = title
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, slugLength)
  return slug.replaceAll(/^-+|-+$/g, '') || 'test'
}

const shownRequests = 50

/**
 * Describes what happened to a server, for the output of a failed test: the seed of its random faults and its last requests.
 *
 * @example
 * import { createTestServer, describeRun } from '@krmkit/testing'
 * await using cluster = await createTestServer()
 * console.error(describeRun(cluster))
 */
export function describeRun({ faults, ledger }: Pick<TestServer, 'faults' | 'ledger'>): string {
  const seed =
    faults.seed === undefined
      ? []
      : [`random faults with seed ${faults.seed}: createTestServer({ faults: { seed: ${faults.seed}, ... } })`]
  const requests = ledger.find().slice(-shownRequests)
  return [...seed, `the last ${requests.length} requests:`, ...requests.map(formatEntry)].join('\n')
}

function formatEntry({ code, verb, path, query, user }: LedgerEntry): string {
  return `  ${code === 0 ? '---' : code} ${verb} ${path}${query === '' ? '' : `?${query}`} (${user})`
}

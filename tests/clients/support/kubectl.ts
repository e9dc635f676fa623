import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Client, createRemoteClient, loadKubeconfig, resourceType } from '@krmkit/client'
import { type ServerProcess, startServerProcess } from './server-process.ts'
import { type Finished, run } from './tool.ts'

/** The command under test; `KUBECTL` overrides it. */
export const kubectlProgram = process.env['KUBECTL'] ?? 'kubectl'

const version = spawnSync(kubectlProgram, ['version', '--client', '--output=json'], { encoding: 'utf8' })

/** Why tests are skipped; undefined when they can run. */
export const kubectlMissing = version.error?.message

/** Its minor release. */
export const kubectlMinor = Number(/"minor": *"(\d+)/.exec(version.stdout ?? '')?.[1] ?? 0)

/** The title of a skipped suite. */
export const skipNote = kubectlMissing === undefined ? '' : ` (skipped: ${kubectlMissing})`

const serviceAccounts = resourceType({ group: '', version: 'v1', resource: 'serviceaccounts', kind: 'ServiceAccount' })

/**
 * What kubectl before 1.34 prints when the first messages of a WebSocket arrive before it has created its streams: it drops them
 * (kubernetes/kubernetes#131203).
 */
const lostMessage = /Unknown stream id \d+, discarding message/

/** Maximum number of concurrent commands per test file. */
const parallel = 4

export interface CommandOptions {
  readonly stdin?: string
  readonly env?: Readonly<Record<string, string>>
}

/** Runs `kubectl` with an isolated environment. */
export class Kubectl {
  readonly #world: { readonly env: NodeJS.ProcessEnv; readonly folder: string; readonly slots: Slots }
  readonly #flags: readonly string[]

  constructor(
    world: { readonly env: NodeJS.ProcessEnv; readonly folder: string; readonly slots: Slots },
    flags: readonly string[] = [],
  ) {
    this.#world = world
    this.#flags = flags
  }

  /** The same with flags before every command. */
  with(...flags: readonly string[]): Kubectl {
    return new Kubectl(this.#world, [...this.#flags, ...flags])
  }

  /** Runs a command to its end, with any exit code; again when kubectl lost what the server sent. */
  async try(args: readonly string[], options: CommandOptions = {}): Promise<Finished> {
    const { env, folder, slots } = this.#world
    const once = () =>
      run(kubectlProgram, [...this.#flags, ...args], {
        cwd: folder,
        env: { ...env, ...options.env },
        timeoutMs: 60_000,
        ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
      })
    return slots.take(async () => {
      let finished = await once()
      for (let retries = 5; lostMessage.test(finished.stderr) && retries > 0; retries--) finished = await once()
      return finished
    })
  }

  /** The output of a successful command. `line` is split at blanks. @throws Error when the command fails. */
  async run(line: string, options: CommandOptions & { readonly more?: readonly string[] } = {}): Promise<string> {
    const finished = await this.try([...line.split(' '), ...(options.more ?? [])], options)
    if (finished.code !== 0) throw new Error(`kubectl ${line} ended with ${finished.code}: ${finished.stderr}${finished.stdout}`)
    return finished.stdout.trimEnd()
  }

  /** The standard error of a failing command. @throws Error when the command succeeds. */
  async refused(line: string, options: CommandOptions & { readonly more?: readonly string[] } = {}): Promise<string> {
    const finished = await this.try([...line.split(' '), ...(options.more ?? [])], options)
    if (finished.code === 0) throw new Error(`kubectl ${line} succeeded: ${finished.stdout}`)
    return finished.stderr.trimEnd()
  }

  /** The parsed output of a command with `-o json`. */
  async json<T = Json>(line: string, options: CommandOptions = {}): Promise<T> {
    return JSON.parse(await this.run(`${line} -o json`, options)) as T
  }

  /** Creates the objects of manifests. */
  async create(...objects: readonly object[]): Promise<string> {
    return this.run('create -f -', { stdin: objects.map((object) => JSON.stringify(object)).join('\n') })
  }

  /** A running command, with its lines as they arrive. */
  follow(line: string, { env }: Pick<CommandOptions, 'env'> = {}): Following {
    const { folder } = this.#world
    const args = [...this.#flags, ...line.split(' ')]
    const environment = { ...this.#world.env, ...env }
    return new Following(spawn(kubectlProgram, args, { cwd: folder, env: environment, stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  /** Writes a file beside the kubeconfig. */
  async file(name: string, content: string | object): Promise<string> {
    const path = join(this.#world.folder, name)
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o755 })
    return path
  }
}

/** An object as `-o json` prints it. */
// biome-ignore lint/suspicious/noExplicitAny: assertions check these
export type Json = any

/** A running command. */
export class Following {
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #text = ''
  #errors = ''

  constructor(child: ChildProcess) {
    this.#child = child
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      this.#text += piece
    })
    child.stderr?.setEncoding('utf8').on('data', (piece: string) => {
      this.#errors += piece
    })
    this.#ended = new Promise((resolve) => child.on('close', resolve))
  }

  get lines(): string[] {
    return this.#text.split('\n').filter((line) => line !== '')
  }

  get text(): string {
    return this.#text
  }

  get errors(): string {
    return this.#errors
  }

  /** The exit code after it has exited. */
  get ended(): Promise<number | null> {
    return this.#ended
  }

  async stop(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }
}

class Slots {
  #free = parallel
  readonly #waiting: (() => void)[] = []

  async take<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await work()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
  }
}

/** A server, and kubectl configured for it only. */
export interface KubectlWorld extends AsyncDisposable {
  readonly kubectl: Kubectl
  readonly client: Client
  readonly server: ServerProcess
  /** Requests so far, from the log of the server. */
  requests(): string[]
  /** Creates a namespace and returns a kubectl for it. */
  namespace(name: string): Promise<Kubectl>
}

/** A token of a user without permissions. */
export const bystanderToken = 'bystander-token-0123456789'

/** @param more further flags of the server. */
export async function startKubectlWorld(more: readonly string[] = []): Promise<KubectlWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'krmkit-kubectl-'))
  const tokens = join(folder, 'tokens.csv')
  const path = join(folder, 'kubeconfig')
  await writeFile(
    tokens,
    `administrator-token-0123456789,kubernetes-admin,1,"system:masters"\n${bystanderToken},bystander,2,"watchers"\n`,
  )
  const flags = [
    '--storage',
    'memory',
    '--secure-port',
    '0',
    '--data-dir',
    join(folder, 'data'),
    '--token-auth-file',
    tokens,
    '--write-kubeconfig',
    path,
    '-v',
    '2',
    // The tests play the role of controllers: they write the status of deployments and create their replica sets.
    '--controllers=*,-deployment-controller',
    ...more,
  ]
  const server = await startServerProcess(flags)
  const client = createRemoteClient(await loadKubeconfig({ path }))
  const kubectl = await kubectlIn(folder, path)
  // Fills kubectl's cache of discovery and schemas once, before concurrent commands.
  await kubectl.run('api-resources -o name')
  return {
    kubectl,
    client,
    server,
    requests: () => server.errors().split('\n'),
    async namespace(name) {
      await kubectl.run(`create namespace ${name}`)
      // Pods can be created once this exists.
      for await (const { object } of client.watch(serviceAccounts, { namespace: name }))
        if (object.metadata.name === 'default') break
      return kubectl.with('--namespace', name)
    },
    async [Symbol.asyncDispose]() {
      await client.close()
      await server.kill()
      await rm(folder, { recursive: true, force: true })
      const faults = server
        .errors()
        .split('\n')
        .filter((line) => /a request failed|a connection failed/.test(line))
      if (faults.length > 0) throw new Error(`the server had internal errors: ${faults.join('\n')}`)
    },
  }
}

/** kubectl with only a folder and a kubeconfig; without one it needs `--server`. */
export async function kubectlIn(folder: string, kubeconfig = ''): Promise<Kubectl> {
  await mkdir(join(folder, 'home'))
  const env = {
    PATH: process.env['PATH'],
    HOME: join(folder, 'home'),
    KUBECONFIG: kubeconfig,
    KUBECACHEDIR: join(folder, 'cache'),
    TMPDIR: folder,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
  }
  return new Kubectl({ env, folder, slots: new Slots() })
}

/** A table as printed by kubectl: rows by column title. */
export function rows(text: string): Record<string, string>[] {
  const [head = '', ...lines] = text.split('\n')
  const starts = [...head.matchAll(/\S+(?: \S+)*/g)].map((match) => ({ title: match[0], from: match.index }))
  return lines.map((line) =>
    Object.fromEntries(starts.map(({ title, from }, i) => [title, line.slice(from, starts[i + 1]?.from ?? line.length).trim()])),
  )
}

/** Three members of etcd on loopback. Members and clients connect through proxies, so that each can be partitioned. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { EtcdClient } from '../etcd-client.ts'
import { EtcdProcess } from './etcd-process.ts'
import { LoopbackProxy } from './loopback-proxy.ts'

interface Member {
  readonly name: string
  readonly process: EtcdProcess
  /** In front of its port for peers, and of that for clients. */
  readonly peers: LoopbackProxy
  readonly clients: LoopbackProxy
}

/** Short, so that elections take less than a second. */
const timing = ['--heartbeat-interval', '50', '--election-timeout', '500'] as const

export class EtcdCluster {
  readonly #members: readonly Member[]
  #delayMs = 0

  private constructor(members: readonly Member[]) {
    this.#members = members
  }

  static async start(program: string, flags: readonly string[] = []): Promise<EtcdCluster> {
    const members: Member[] = []
    const initial: string[] = []
    for (const name of ['one', 'two', 'three']) {
      const process = await EtcdProcess.prepare(program, ['--name', name, ...timing, ...flags])
      const peers = await LoopbackProxy.start(process.peerPort, (port, proxyPort) => sourceOf(members, port, proxyPort))
      initial.push(`${name}=${peers.url}`)
      members.push({ name, process, peers, clients: await LoopbackProxy.start(process.port) })
    }
    for (const { process, peers } of members) {
      process.addFlags(['--initial-advertise-peer-urls', peers.url, '--initial-cluster', initial.join(',')])
    }
    await Promise.all(members.map(({ process }) => process.start()))
    return new EtcdCluster(members)
  }

  /** Addresses for clients, the given member first. */
  endpoints(first = 0): string[] {
    return this.#members.map((_, at) => this.#members[(first + at) % this.#members.length]!.clients.url)
  }

  /** Delay of the connections of clients, in milliseconds. */
  get delayMs(): number {
    return this.#delayMs
  }

  /** Index of the leading member. */
  async leader(): Promise<number> {
    for (;;) {
      const found = await Promise.all(this.#members.map(({ process }) => statusOf(process.url)))
      const at = found.findIndex((status) => status !== undefined && status.leader === status.header.member_id)
      if (at !== -1) return at
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  signal(member: number, signal: NodeJS.Signals): void {
    this.#members[member]?.process.signal(signal)
  }

  kill(member: number): Promise<void> {
    return this.#members[member]!.process.kill()
  }

  restart(member: number): Promise<void> {
    return this.#members[member]!.process.start()
  }

  /** Cuts a member off from the others; clients still reach it. */
  isolate(member: number): void {
    this.#members.forEach(({ peers }, at) => {
      peers.partition(at === member ? undefined : this.#members[member]!.name)
    })
  }

  /** Cuts clients off from a member. */
  isolateClients(member: number): void {
    this.#members[member]?.clients.partition()
  }

  /**
   * Ends all partitions. @param options.lost data that clients sent during the partition is lost with its connection, as it is between
   * members
   */
  heal({ lost }: { readonly lost: boolean }): void {
    for (const { peers, clients } of this.#members) {
      peers.heal({ lost: true })
      clients.heal({ lost })
    }
  }

  /** Delays all data between clients and members, but not between members. */
  delay(milliseconds: number): void {
    this.#delayMs = milliseconds
    for (const { clients } of this.#members) clients.delay(milliseconds)
  }

  /** Resets all connections of clients. */
  cut(): void {
    for (const { clients } of this.#members) clients.cut()
  }

  async dispose(): Promise<void> {
    for (const { peers, clients } of this.#members) {
      peers.close()
      clients.close()
    }
    await Promise.all(this.#members.map(({ process }) => process.dispose()))
  }
}

async function statusOf(url: string) {
  const client = new EtcdClient({ endpoints: [url], timeoutMs: 500 })
  try {
    return await client.status()
  } catch {
    return undefined
  } finally {
    client.close()
  }
}

/** The member whose process has the connection; undefined on systems without `/proc`. */
function sourceOf(members: readonly Member[], port: number, proxyPort: number): string | undefined {
  const inode = inodeOf(port, proxyPort)
  if (inode === undefined) return undefined
  return members.find(({ process: { pid } }) => pid !== undefined && hasSocket(pid, inode))?.name
}

function inodeOf(port: number, proxyPort: number): string | undefined {
  const hex = (each: number) => `:${each.toString(16).toUpperCase().padStart(4, '0')}`
  const line = linesOf('/proc/net/tcp').find((each) => {
    const [, local = '', remote = ''] = each.trim().split(/\s+/)
    return local.endsWith(hex(port)) && remote.endsWith(hex(proxyPort))
  })
  return line?.trim().split(/\s+/)[9]
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return []
  }
}

function hasSocket(pid: number, inode: string): boolean {
  try {
    return readdirSync(`/proc/${pid}/fd`).some((fd) => {
      try {
        return readlinkSync(`/proc/${pid}/fd/${fd}`) === `socket:[${inode}]`
      } catch {
        return false
      }
    })
  } catch {
    return false
  }
}

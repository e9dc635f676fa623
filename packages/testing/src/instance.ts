import type { EmbeddedServer } from '@krmkit/apiserver'
import type { Client } from '@krmkit/client'
import type { NodeSimulation, RunningControllers } from '@krmkit/controllers'
import { builtInTypes } from '@krmkit/kinds'
import type { TypeSource } from '@krmkit/schema'
import type { Storage } from '@krmkit/storage'
import type { HostAuthority, TestHost } from './host.ts'
import type { TestServerOptions } from './interfaces.ts'
import type { Snapshot } from './store-state.ts'

/** A server and its controllers between two resets; both start on first use. */
export interface Instance {
  readonly storage: Storage
  readonly simulation: NodeSimulation | undefined
  server: Promise<EmbeddedServer> | undefined
  controllers: Promise<ControllerSet> | undefined
}

export interface ControllerSet {
  readonly client: Client
  readonly controllers: RunningControllers
}

/** The state that a fork inherits. */
export interface ForkState {
  readonly host: TestHost
  readonly startAtMs: number
  /** Shared by a server and all its forks. */
  readonly types: TypeSource
  readonly authority?: HostAuthority | undefined
  readonly seeded?: Snapshot
}

export function createInstance(storage: Storage, simulation: NodeSimulation | undefined): Instance {
  return { storage, simulation, server: undefined, controllers: undefined }
}

/** Returns the types of the emulated release. */
export async function typesOf({ emulate, server = {} }: TestServerOptions): Promise<TypeSource> {
  const release = emulate ?? server.emulate
  if (server.types !== undefined || release === undefined) return server.types ?? builtInTypes(server.profile)
  const { typesAt } = await import('@krmkit/kinds/releases')
  return typesAt(release, server.profile)
}

import type { ResourceType } from '@krmkit/client'
import type { ApiObject, DeepReadonly } from '@krmkit/meta'
import type { WorkQueue } from '../framework/work-queue.ts'
import type { ControllerContext } from '../interfaces.ts'
import { EventRecorder } from './event-recorder.ts'

/**
 * The events of a controller about objects of one resource. Events are written sequentially, in order; the controller does
 * not wait for the writes.
 */
export class ObjectEvents<O extends ApiObject> {
  readonly #recorder: EventRecorder
  readonly #resource: ResourceType | undefined
  readonly #pending: (() => Promise<void>)[] = []
  readonly #queue: WorkQueue<string>

  /**
   * @param resource undefined if the objects carry `apiVersion` and `kind`
   * @param component event source: the name of the controller
   */
  constructor(context: ControllerContext, resource: ResourceType<O> | undefined, component: string) {
    this.#recorder = new EventRecorder(context, { component, api: 'core' })
    this.#resource = resource as ResourceType | undefined
    this.#queue = context.queue<string>({ sync: () => this.#write(), workers: 1 })
  }

  /** Records an event of type Normal. */
  normal(object: DeepReadonly<O>, reason: string, message: string): void {
    this.#add(object, { type: 'Normal', reason, message })
  }

  /** Records an event of type Warning. */
  warning(object: DeepReadonly<O>, reason: string, message: string): void {
    this.#add(object, { type: 'Warning', reason, message })
  }

  #add(
    object: DeepReadonly<O>,
    event: { readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string },
  ): void {
    const regarding =
      this.#resource === undefined
        ? (object as DeepReadonly<ApiObject>)
        : typed(object as DeepReadonly<ApiObject>, this.#resource)
    this.#pending.push(() => this.#recorder.record(regarding, event))
    this.#queue.add('events')
  }

  async #write(): Promise<undefined> {
    for (let next = this.#pending.shift(); next !== undefined; next = this.#pending.shift()) await next()
    return undefined
  }
}

function typed(object: DeepReadonly<ApiObject>, { group, version, kind }: ResourceType): DeepReadonly<ApiObject> {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata: object.metadata }
}

/** Returns the text of an error for the message of an event. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

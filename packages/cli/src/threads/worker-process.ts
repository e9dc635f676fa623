/** The process of a worker, started by `fork`. */
import type { Socket } from 'node:net'
import type { AuditEvent } from '@krmkit/apiserver/audit'
import type { Log, LogFormat } from '../log.ts'
import type { MessageToWorker, MessageToWriter } from './messages.ts'
import { type RunningWorker, startWorker, type WorkerChannel } from './worker.ts'

type Serve = (socket: Socket, onClosed: () => void) => void

/** Runs a worker until the process that started it ends it, or ends itself. @param createLog the log in a format, by default for people */
export function runWorker(createLog: (format?: LogFormat) => Log): void {
  let log = createLog()
  // Terminals signal all processes of a group: the writer decides when its workers end.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => undefined)
  process.on('disconnect', () => process.exit(1))
  const channel = new ProcessChannel()
  let running: RunningWorker | undefined
  process.on('message', (message: MessageToWorker, socket: Socket | undefined) => {
    switch (message.type) {
      case 'start':
        log = createLog(message.start.options.loggingFormat)
        startWorker(message.start, channel, log).then(
          (worker) => {
            running = worker
            send({ type: 'ready' })
          },
          (error: unknown) => {
            log.error('a worker cannot start', error)
            process.exit(1)
          },
        )
        return
      case 'connection':
        channel.serve(socket)
        return
      case 'metrics':
        running?.metrics().then(
          (text) => send({ type: 'metrics', id: message.id, text }),
          (error: unknown) => log.error('metrics', error),
        )
        return
      case 'audited':
        channel.audited(message)
        return
      case 'close':
        void end(running, log)
    }
  })
}

async function end(running: RunningWorker | undefined, log: Log): Promise<void> {
  try {
    await running?.close()
  } catch (error) {
    log.error('a worker did not end cleanly', error)
  }
  process.exit(0)
}

class ProcessChannel implements WorkerChannel {
  readonly #audits = new Map<number, (problem: string | undefined) => void>()
  #lastId = 0
  #serve: Serve | undefined

  readonly receive = (serve: Serve): void => {
    this.#serve = serve
  }

  /** @param socket undefined when the client left meanwhile */
  serve(socket: Socket | undefined): void {
    const onClosed = () => send({ type: 'connectionClosed' })
    if (socket === undefined) onClosed()
    else this.#serve?.(socket, onClosed)
  }

  audit(events: readonly AuditEvent[]): Promise<void> {
    const id = ++this.#lastId
    return new Promise((resolve, reject) => {
      this.#audits.set(id, (problem) => {
        if (problem === undefined) resolve()
        else reject(new Error(problem))
      })
      send({ type: 'audit', id, events })
    })
  }

  audited({ id, problem }: { readonly id: number; readonly problem: string | undefined }): void {
    const settle = this.#audits.get(id)
    this.#audits.delete(id)
    settle?.(problem)
  }
}

function send(message: MessageToWriter): void {
  if (process.connected) process.send?.(message)
}

import { createApiServer, memoryStorage } from 'krmkit'

export const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'

export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: responses are inspected member by member
  readonly body: any
}

export interface Harness {
  send(method: string, path: string, body?: unknown): Promise<Answer>
  /** Polls until the response is as expected. */
  until(path: string, wanted: (answer: Answer) => boolean): Promise<Answer>
  close(): Promise<void>
}

/** A server and an administrator. */
export async function startHarness(): Promise<Harness> {
  const server = await createApiServer({ storage: memoryStorage() })
  const client = server.client({ user: 'admin' })
  const send = async (method: string, path: string, body?: unknown): Promise<Answer> => {
    const headers = { 'content-type': 'application/json' }
    const response = await client.request({
      method,
      path,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text.startsWith('{') ? JSON.parse(text) : text }
  }
  return {
    send,
    async until(path, wanted) {
      let answer = await send('GET', path)
      for (let turn = 0; turn < 1000 && !wanted(answer); turn++) {
        await new Promise((resolve) => setImmediate(resolve))
        answer = await send('GET', path)
      }
      if (!wanted(answer)) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body).slice(0, 500)}`)
      return answer
    },
    close: () => server.close(),
  }
}

/** `spec.size: FieldValueInvalid: Invalid value: 1: too small` of each cause. */
export function causesOf({ body }: Answer): string[] {
  const causes = (body.details?.causes ?? []) as { field?: string; reason: string; message: string }[]
  return causes.map(causeText)
}

/** Truncates values that are printed in full. */
export function causeText({ field, reason, message }: { field?: string; reason: string; message: string }): string {
  const text = message.length < 700 ? message : `${message.slice(0, 60)} ... ${message.slice(-300)}`
  return `${field}: ${reason}: ${text}`
}

import { clusterServices, type ObjectReader } from '@krmkit/admission'
import type { UserInfo } from '@krmkit/meta'
import { base64ToBytes } from '@krmkit/schema'
import type { ApiResponse, Handler } from '../interfaces.ts'
import type { RequestState } from '../request-state.ts'
import type { Aggregation, ProxiedRequest } from './interfaces.ts'
import type { ServiceSpec } from './local-services.ts'
import { answered, passedOn } from './passed-on.ts'

/** The way to one service, which may be a handler in this process. */
export interface RemoteService {
  readonly inProcess: boolean
  /** Where it is, as messages name it. */
  readonly url: string
  /** Passes a request on as it came. */
  pass(state: RequestState, limitBytes: number): Promise<ApiResponse>
  /** Asks on the server's own account. */
  ask(path: string, options: { readonly user: UserInfo; readonly signal: AbortSignal }): Promise<ApiResponse>
}

const httpsPort = 443

/** @throws Error when there is no way, or none that is safe. */
export function remoteService(spec: ServiceSpec, aggregation: Aggregation, reader: Pick<ObjectReader, 'get'>): RemoteService {
  const { namespace = '', name = '', port = httpsPort } = spec.service ?? {}
  const own = aggregation.services?.[`${namespace}/${name}`]
  if (own !== undefined) return inProcess(own, `${namespace}/${name}`)
  const { transport, certificate, key, resolveService = clusterServices(reader) } = aggregation
  if (transport === undefined) throw new Error('there is no transport: this server reaches no other servers')
  const host = `${name}.${namespace}.svc`
  const origin = `https://${host}:${port}`
  const send = transport.open({
    origin,
    serverName: host,
    ...((spec.caBundle ?? '') === '' ? {} : { ca: new TextDecoder().decode(base64ToBytes(spec.caBundle as string)) }),
    ...(spec.insecureSkipTLSVerify === true ? { insecure: true } : {}),
    ...(certificate === undefined || key === undefined ? {} : { certificate, key }),
    resolve: async () => resolveService({ namespace, name, port }),
  })
  return {
    inProcess: false,
    url: origin,
    pass: async (state, limitBytes) => answered(await send(await passedOn(state, limitBytes))),
    ask: async (path, { user, signal }) => {
      const headers: ProxiedRequest['headers'] = {
        accept: 'application/json',
        'x-remote-user': user.username,
        'x-remote-group': user.groups,
      }
      return send({ method: 'GET', path, headers, body: new Uint8Array(), signal })
    },
  }
}

function inProcess(handle: Handler, url: string): RemoteService {
  return {
    inProcess: true,
    url,
    pass: ({ request, user }) => handle({ ...request, user }),
    ask: (path, { user, signal }) =>
      handle({
        method: 'GET',
        path,
        query: '',
        headers: { accept: 'application/json' },
        body: async () => new Uint8Array(),
        peer: {},
        signal,
        user,
      }),
  }
}

/** The whole body of an answer. */
export async function bodyText({ body }: ApiResponse, limitBytes: number): Promise<string> {
  const parts: Uint8Array[] = []
  let length = 0
  const take = (part: Uint8Array): void => {
    length += part.byteLength
    if (length > limitBytes) throw new Error(`the answer is longer than ${limitBytes} bytes`)
    parts.push(part)
  }
  if (body.kind === 'bytes') take(body.bytes)
  else if (body.kind === 'list') for (const part of body.parts) take(part instanceof Uint8Array ? part : part.bytes())
  else if (body.kind === 'stream') for await (const part of body.stream) take(part)
  return Buffer.concat(parts).toString('utf8')
}

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ApiRequest } from '@krmkit/protocol'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Listener, ListenLimits } from './interfaces.ts'
import { listen } from './listen.ts'
import { selfSigned } from './self-signed.ts'
import { textResponse, withErrorResponses } from './testing/fake-server.ts'
import { encodeFields, encodeFrame, flags, frameTypes, type RawField, RawHttp2, requestFields } from './testing/raw-http2.ts'

let directory: string
let server: Listener
let clients: RawHttp2[] = []
let seen: ApiRequest[] = []
/** Responses wait for this promise. */
let hold: Promise<void> | undefined
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'krmkit-http-'))
})
afterAll(() => rm(directory, { recursive: true, force: true }))
afterEach(async () => {
  for (const client of clients.splice(0)) client.socket.destroy()
  await server.close({ graceMs: 0 })
})

const start = async (limits: Partial<ListenLimits> = {}) => {
  clients = []
  seen = []
  hold = undefined
  const handle = withErrorResponses(async (request) => {
    seen.push(request)
    await hold
    if (request.method === 'POST') return textResponse(`${(await request.body(100)).length}`)
    return textResponse(JSON.stringify(request.headers['x'] ?? null))
  })
  server = await listen({ handle }, { tls: selfSigned(directory), limits })
}
const dial = () => {
  const client = new RawHttp2(server.port)
  clients.push(client)
  return client
}
const headersFrame = (stream: number, payload: Buffer, set = flags.end | flags.endHeaders) =>
  encodeFrame(frameTypes.headers, { flags: set, stream, payload })
const whole = (...fields: RawField[]) => encodeFields([...requestFields, ...fields])

describe('HTTP/2 header values', () => {
  it.each([' admin', 'admin ', '  a\t', '\t', ' ', '', 'a, b', 'ad\tmin'])('keeps %j unchanged', async (value) => {
    await start()
    expect(
      await dial()
        .request(1, [['x', value]])
        .response(1),
    ).toMatchObject({ body: JSON.stringify(value), ended: true })
  })

  it('decodes UTF-8', async () => {
    await start()
    expect(
      (
        await dial()
          .request(1, [['x', 'gr\xc3\xbcn']])
          .response(1)
      ).body,
    ).toBe('"grün"')
  })

  it.each(['\0', 'a\0', '\n', 'a\nb', 'a\r\nx: y', '\x01', '\x0b', '\x1f', '\x7f', 'a\x7f'])(
    'answers 400 for the value %j, and no handler sees the request',
    async (value) => {
      await start()
      const client = dial().request(1, [['x', value]])
      expect(JSON.parse((await client.response(1)).body)).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' })
      expect(seen).toHaveLength(0)
      expect((await client.request(3, [['x', 'fine']]).response(3)).body).toBe('"fine"')
    },
  )

  it.each(['x y', 'x\0', 'x(', 'x\xff', 'x\n', 'X', ''])('rejects the name %j', async (name) => {
    await start()
    const { body, reset } = await dial()
      .request(1, [[name, 'v']])
      .response(1)
    expect(reset ?? JSON.parse(body).code).toBe(reset === undefined ? 400 : 1)
    expect(seen).toHaveLength(0)
  })

  it('rejects an invalid value again when it comes from the dynamic table', async () => {
    await start()
    const client = dial().request(1, [['x', 'bad\n']], { indexed: true })
    expect((await client.response(1)).body).toContain('BadRequest')
    // The newest entry of the dynamic table has index 62.
    client.send(headersFrame(3, Buffer.concat([whole(), Buffer.from([0xbe])])))
    expect((await client.response(3)).body).toContain('BadRequest')
    expect(seen).toHaveLength(0)
  })
})

describe('HTTP/2 request heads', () => {
  const [method, scheme, target, authority] = requestFields as [RawField, RawField, RawField, RawField]

  it.each<[string, RawField[]]>([
    ['no method', [scheme, target, authority]],
    ['no scheme', [method, target, authority]],
    ['no path', [method, scheme, authority]],
    ['an empty path', [method, scheme, [':path', ''], authority]],
    ['a path that is none', [method, scheme, [':path', 'a'], authority]],
    ['a path with a space', [method, scheme, [':path', '/a b'], authority]],
    ['a path with a line end', [method, scheme, [':path', '/a\n'], authority]],
    ['a method that is none', [[':method', 'GE T'], scheme, target, authority]],
    ['two paths', [method, scheme, target, target, authority]],
    ['an unknown pseudo header', [method, scheme, target, authority, [':x', 'y']]],
    ['a pseudo header behind others', [method, scheme, target, ['x', 'y'], authority]],
    ['the status of an answer', [method, scheme, target, authority, [':status', '200']]],
    ['headers of the connection', [method, scheme, target, authority, ['connection', 'close']]],
    ['a coding', [method, scheme, target, authority, ['transfer-encoding', 'chunked']]],
    ['another protocol', [method, scheme, target, authority, ['upgrade', 'websocket']]],
    ['other trailers', [method, scheme, target, authority, ['te', 'gzip']]],
    ['two lengths', [method, scheme, target, authority, ['content-length', '0'], ['content-length', '0']]],
    ['a length that is none', [method, scheme, target, authority, ['content-length', '+1']]],
    ['two hosts', [method, scheme, target, ['host', 'a'], ['host', 'b']]],
  ])('with %s are rejected with 400', async (_, fields) => {
    await start()
    const client = dial().send(headersFrame(1, encodeFields(fields)))
    expect(await client.response(1)).toMatchObject({ status: 400 })
    expect(seen).toHaveLength(0)
    expect((await client.request(3, [['x', 'fine']]).response(3)).body).toBe('"fine"')
  })

  it('keep method, path and host unchanged', async () => {
    await start()
    const fields: RawField[] = [
      [':method', 'PUT'],
      scheme,
      [':path', '//a%2f?b=c'],
      [':authority', 'example.com'],
      ['te', 'trailers'],
    ]
    await dial()
      .send(headersFrame(1, encodeFields(fields)))
      .response(1)
    expect(seen[0]).toMatchObject({
      method: 'PUT',
      path: '//a%2f',
      query: 'b=c',
      headers: { host: 'example.com', te: 'trailers' },
    })
  })

  it('may hold values above 64 KiB, as in kube-apiserver', async () => {
    await start()
    const block = whole(['y', 'z'.repeat(200_000)])
    expect((await dial().send(headersFrame(1, block)).response(1)).status).toBe(200)
    expect(seen[0]!.headers.y).toHaveLength(200_000)
  })

  it.each(['1', '3'])('with the length %s are rejected for a body of two octets', async (length) => {
    await start()
    const [, ...others] = requestFields
    const fields: RawField[] = [[':method', 'POST'], ...others, ['content-length', length]]
    const client = dial().send(
      headersFrame(1, encodeFields(fields), flags.endHeaders),
      encodeFrame(frameTypes.data, { stream: 1, flags: flags.end, payload: Buffer.from('ab') }),
    )
    const { status, ended, reset } = await client.response(1)
    // Depending on its release, node resets the stream or closes the connection.
    expect([status, ended, client.socket.closed || reset !== undefined]).toEqual([0, false, true])
  })

  it('stay within the memory budget of the connection and release it', async () => {
    await start({ headerBytes: 4 * 1024 * 1024 })
    const client = dial()
    const large = encodeFields([...requestFields, ['y', 'z'.repeat(3_900)]], { indexed: true })
    expect((await client.send(headersFrame(1, large)).response(1)).status).toBe(200)
    // Each octet is the index of the newest field.
    const list = Buffer.concat([whole(), Buffer.alloc(1000, 0xbe)])
    const open = (stream: number) => headersFrame(stream, list, flags.endHeaders)
    const pending = [3, 5, 7, 9].map((stream) => open(stream))
    let release = () => {}
    hold = new Promise<void>((resolve) => {
      release = resolve
    })
    client.send(...pending)
    const refused = await client.response(9)
    release()
    expect(refused.status).toBe(431)
    for (const stream of [3, 5]) expect((await client.response(stream)).status).toBe(200)
    expect((await client.send(open(11)).response(11)).status).toBe(200)
  })
})

describe('HTTP/2 header lists', () => {
  it.each([150, 1000, 10_000])('accept %i fields of one name', async (count) => {
    await start()
    const groups = Array.from({ length: count }, (_, i): RawField => ['impersonate-group', `group-${i}`])
    const block = whole(...groups)
    const parts = [headersFrame(1, block.subarray(0, 16_000), flags.end)]
    for (let at = 16_000; at < block.length; at += 200_000) {
      const payload = block.subarray(at, at + 200_000)
      parts.push(
        encodeFrame(frameTypes.continuation, { stream: 1, payload, flags: at + 200_000 >= block.length ? flags.endHeaders : 0 }),
      )
    }
    const client = dial()
    if (block.length > 16_000) client.send(...parts)
    else client.send(headersFrame(1, block))
    expect((await client.response(1)).body).toBe('null')
    expect(seen[0]!.headers['impersonate-group']).toEqual(groups.map(([, value]) => value))
  })

  it('above the limit are rejected with 431 on a usable connection', async () => {
    await start({ headerBytes: 4096 })
    const client = dial().request(1, [['x', 'y'.repeat(5000)]])
    expect(JSON.parse((await client.response(1)).body)).toMatchObject({ code: 431 })
    const many = Array.from({ length: 150 }, (): RawField => ['x', ''])
    expect(JSON.parse((await client.request(3, many).response(3)).body)).toMatchObject({ code: 431 })
    expect(seen).toHaveLength(0)
    expect((await client.request(5, [['x', 'fine']]).response(5)).body).toBe('"fine"')
  })

  it('are read byte by byte with padding, priority, CONTINUATION and interleaved frames', async () => {
    await start()
    const padded = (payload: Buffer) => Buffer.concat([Buffer.from([3]), payload, Buffer.alloc(3)])
    const weighted = (payload: Buffer) => Buffer.concat([Buffer.from([0, 0, 0, 0, 9]), payload])
    const block = whole(['x', 'one '])
    const bytes = Buffer.concat([
      headersFrame(1, padded(weighted(block)), flags.end | flags.endHeaders | flags.padded | flags.priority),
      encodeFrame(frameTypes.ping, { payload: Buffer.alloc(8) }),
      encodeFrame(0xfa, { payload: Buffer.from('unknown frame') }),
      headersFrame(3, block.subarray(0, 5), flags.end),
      encodeFrame(frameTypes.continuation, { stream: 3 }),
      encodeFrame(frameTypes.continuation, { stream: 3, payload: block.subarray(5), flags: flags.endHeaders }),
    ])
    const client = dial()
    for (const byte of bytes) client.send(Buffer.from([byte]))
    for (const stream of [1, 3]) expect((await client.response(stream)).body).toBe('"one "')
  })

  it('match their streams when others are refused or reset; trailers are ignored', async () => {
    await start({ concurrentStreams: 2 })
    const client = dial()
    const open = (stream: number, value: string) => headersFrame(stream, whole(['x', value]), flags.endHeaders)
    client.send(
      ...[open(1, 'one'), open(3, 'three'), open(5, 'five'), open(7, 'seven')],
      headersFrame(1, encodeFields([['x', 'trailer']])),
      encodeFrame(frameTypes.data, { stream: 3, flags: flags.end }),
    )
    expect((await client.response(1)).body).toBe('"one"')
    expect((await client.response(3)).body).toBe('"three"')
    const refusedStream = 7
    expect(await client.response(7)).toMatchObject({ reset: refusedStream, ended: false })
    expect((await client.request(9, [['x', 'nine']]).response(9)).body).toBe('"nine"')
    expect(seen.map(({ headers }) => headers['x'])).not.toContain('trailer')
  })

  it.each<[string, () => Buffer]>([
    ['a block that cannot be decoded', () => headersFrame(1, Buffer.concat([whole(), Buffer.from([0xff, 0x80])]))],
    ['a block for no stream', () => headersFrame(0, whole())],
    ['padding longer than the frame', () => headersFrame(1, Buffer.from([200, 0x82]), flags.endHeaders | flags.padded)],
    [
      'a frame between the parts of a block',
      () => Buffer.concat([headersFrame(1, whole(), flags.end), encodeFrame(frameTypes.ping, { payload: Buffer.alloc(8) })]),
    ],
    [
      'CONTINUATION without a block',
      () => encodeFrame(frameTypes.continuation, { stream: 1, payload: whole(), flags: flags.endHeaders }),
    ],
    [
      'CONTINUATION without end',
      () =>
        Buffer.concat([
          headersFrame(1, whole(), flags.end),
          ...Array.from({ length: 20_000 }, () => encodeFrame(frameTypes.continuation, { stream: 1 })),
        ]),
    ],
    [
      'a block far above the limit',
      () =>
        Buffer.concat([
          headersFrame(1, whole(), flags.end),
          ...Array.from({ length: 20 }, () =>
            encodeFrame(frameTypes.continuation, { stream: 1, payload: Buffer.alloc(200_000, 0x82) }),
          ),
        ]),
    ],
  ])('%s closes the connection', async (_, bytes) => {
    await start()
    const client = dial()
    await client.arrival()
    client.send(bytes())
    await client.closed
    expect(seen).toHaveLength(0)
  })
})

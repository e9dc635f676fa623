/** A collector of spans for tests: reads them by the published schema of the protocol, not by the code under test. */
import * as grpc from '@grpc/grpc-js'
import protobuf from 'protobufjs'

const schema = `syntax = "proto3";
message Request { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message Resource { repeated KeyValue attributes = 1; }
message ScopeSpans { Scope scope = 1; repeated Span spans = 2; }
message Scope { string name = 1; }
message Span {
  bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; bytes parent_span_id = 4; fixed32 flags = 16;
  string name = 5; int32 kind = 6; fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9; repeated Event events = 11; uint32 dropped_events_count = 12;
  repeated Link links = 13; Status status = 15;
}
message Event { fixed64 time_unix_nano = 1; string name = 2; repeated KeyValue attributes = 3; }
message Link { bytes trace_id = 1; bytes span_id = 2; string trace_state = 3; }
message Status { string message = 2; int32 code = 3; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }`

const requestType = protobuf.parse(schema).root.lookupType('Request')

interface Values {
  readonly [key: string]: unknown
}

export interface CollectedSpan {
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string
  readonly kind: number
  readonly startTimeUnixNano: number
  readonly endTimeUnixNano: number
  readonly attributes: Values
  readonly events: readonly string[]
}

export class Collector implements AsyncDisposable {
  readonly endpoint: string
  readonly spans: CollectedSpan[] = []
  resource: Values = {}
  readonly #server: grpc.Server

  private constructor(server: grpc.Server, port: number) {
    this.#server = server
    this.endpoint = `127.0.0.1:${port}`
  }

  static async start(): Promise<Collector> {
    const server = new grpc.Server()
    let collector: Collector | undefined
    const path = '/opentelemetry.proto.collector.trace.v1.TraceService/Export'
    const plain = (bytes: Buffer) => bytes
    const method = { path, requestStream: false, responseStream: false } as const
    const codecs = {
      requestSerialize: plain,
      requestDeserialize: plain,
      responseSerialize: plain,
      responseDeserialize: plain,
    } as const
    server.addService(
      { Export: { ...method, ...codecs } },
      {
        Export(call: grpc.ServerUnaryCall<Buffer, Buffer>, respond: grpc.sendUnaryData<Buffer>) {
          collector?.receive(call.request)
          respond(null, Buffer.alloc(0))
        },
      },
    )
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      )
    })
    collector = new Collector(server, port)
    return collector
  }

  receive(bytes: Uint8Array): void {
    const options = { longs: Number, bytes: String, defaults: true, arrays: true }
    const { resourceSpans } = requestType.toObject(requestType.decode(bytes), options) as {
      readonly resourceSpans: readonly {
        readonly resource: { readonly attributes: readonly KeyValue[] }
        readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[]
      }[]
    }
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = valuesOf(resource.attributes)
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push(shown(span))
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown()
  }
}

interface KeyValue {
  readonly key: string
  readonly value: Values
}

type RawSpan = Omit<CollectedSpan, 'attributes' | 'events'> & {
  readonly attributes: readonly KeyValue[]
  readonly events: readonly { readonly name: string }[]
}

function shown(span: RawSpan): CollectedSpan {
  const hex = (base64: string) => Buffer.from(base64, 'base64').toString('hex')
  return {
    ...span,
    traceId: hex(span.traceId),
    spanId: hex(span.spanId),
    parentSpanId: hex(span.parentSpanId),
    attributes: valuesOf(span.attributes),
    events: span.events.map(({ name }) => name),
  }
}

function valuesOf(attributes: readonly KeyValue[]): Values {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
}

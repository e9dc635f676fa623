/** A collector of spans and metrics for tests: reads them by the published schema of the protocol, not by the code under test. */
import * as grpc from '@grpc/grpc-js'
import protobuf from 'protobufjs'

const schema = `syntax = "proto3";
message SpanRequest { repeated ResourceSpans resource_spans = 1; }
message MetricRequest { repeated ResourceMetrics resource_metrics = 1; }
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
message ResourceMetrics { Resource resource = 1; repeated ScopeMetrics scope_metrics = 2; }
message ScopeMetrics { Scope scope = 1; repeated Metric metrics = 2; }
message Metric {
  string name = 1; string description = 2; string unit = 3;
  oneof data { Gauge gauge = 5; Sum sum = 7; Histogram histogram = 9; }
}
message Gauge { repeated NumberDataPoint data_points = 1; }
message Sum { repeated NumberDataPoint data_points = 1; int32 aggregation_temporality = 2; bool is_monotonic = 3; }
message Histogram { repeated HistogramDataPoint data_points = 1; int32 aggregation_temporality = 2; }
message NumberDataPoint {
  repeated KeyValue attributes = 7; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
  oneof value { double as_double = 4; sfixed64 as_int = 6; }
}
message HistogramDataPoint {
  repeated KeyValue attributes = 9; fixed64 start_time_unix_nano = 2; fixed64 time_unix_nano = 3;
  fixed64 count = 4; optional double sum = 5; repeated fixed64 bucket_counts = 6; repeated double explicit_bounds = 7;
}
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }`

const { root } = protobuf.parse(schema)
const spanRequest = root.lookupType('SpanRequest')
const metricRequest = root.lookupType('MetricRequest')
const reading = { longs: Number, bytes: String, defaults: true, arrays: true }

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

export interface CollectedMetric {
  readonly name: string
  readonly description: string
  readonly unit: string
  readonly type: 'gauge' | 'sum' | 'histogram'
  readonly temporality: number | undefined
  readonly isMonotonic: boolean | undefined
  readonly points: readonly CollectedPoint[]
}

export interface CollectedPoint {
  readonly startTimeUnixNano: number
  readonly timeUnixNano: number
  readonly attributes: Values
  readonly asDouble?: number
  readonly count?: number
  readonly sum?: number
  readonly bucketCounts?: readonly number[]
  readonly explicitBounds?: readonly number[]
}

export class Collector implements AsyncDisposable {
  readonly endpoint: string
  readonly spans: CollectedSpan[] = []
  /** The metrics of each request. */
  readonly metrics: (readonly CollectedMetric[])[] = []
  /** The answer to metrics; empty: all are taken. */
  answer: Buffer = Buffer.alloc(0)
  resource: Values = {}
  readonly #server: grpc.Server

  private constructor(server: grpc.Server, port: number) {
    this.#server = server
    this.endpoint = `127.0.0.1:${port}`
  }

  static async start(): Promise<Collector> {
    const server = new grpc.Server()
    let collector: Collector | undefined
    const plain = (bytes: Buffer) => bytes
    const codecs = {
      requestSerialize: plain,
      requestDeserialize: plain,
      responseSerialize: plain,
      responseDeserialize: plain,
    } as const
    const serve = (path: string, receive: (collector: Collector, bytes: Buffer) => Buffer) => {
      server.addService(
        { Export: { path, requestStream: false, responseStream: false, ...codecs } },
        {
          Export(call: grpc.ServerUnaryCall<Buffer, Buffer>, respond: grpc.sendUnaryData<Buffer>) {
            respond(null, collector === undefined ? Buffer.alloc(0) : receive(collector, call.request))
          },
        },
      )
    }
    const services = '/opentelemetry.proto.collector'
    serve(`${services}.trace.v1.TraceService/Export`, (to, bytes) => to.receiveSpans(bytes))
    serve(`${services}.metrics.v1.MetricsService/Export`, (to, bytes) => to.receiveMetrics(bytes))
    const port = await new Promise<number>((resolve, reject) => {
      server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      )
    })
    collector = new Collector(server, port)
    return collector
  }

  receiveSpans(bytes: Uint8Array): Buffer {
    const { resourceSpans } = spanRequest.toObject(spanRequest.decode(bytes), reading) as {
      readonly resourceSpans: readonly {
        readonly resource: { readonly attributes: readonly KeyValue[] }
        readonly scopeSpans: readonly { readonly spans: readonly RawSpan[] }[]
      }[]
    }
    for (const { resource, scopeSpans } of resourceSpans) {
      this.resource = valuesOf(resource.attributes)
      for (const span of scopeSpans.flatMap(({ spans }) => spans)) this.spans.push(shown(span))
    }
    return Buffer.alloc(0)
  }

  receiveMetrics(bytes: Uint8Array): Buffer {
    const { resourceMetrics } = metricRequest.toObject(metricRequest.decode(bytes), { ...reading, defaults: false }) as {
      readonly resourceMetrics: readonly {
        readonly resource: { readonly attributes: readonly KeyValue[] }
        readonly scopeMetrics: readonly { readonly metrics: readonly RawMetric[] }[]
      }[]
    }
    for (const { resource, scopeMetrics } of resourceMetrics) {
      this.resource = valuesOf(resource.attributes)
      this.metrics.push(scopeMetrics.flatMap(({ metrics }) => metrics.map(shownMetric)))
    }
    return this.answer
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

interface RawData {
  readonly dataPoints: readonly (Omit<CollectedPoint, 'attributes'> & { readonly attributes: readonly KeyValue[] })[]
  readonly aggregationTemporality?: number
  readonly isMonotonic?: boolean
}

interface RawMetric {
  readonly name: string
  readonly description?: string
  readonly unit?: string
  readonly gauge?: RawData
  readonly sum?: RawData
  readonly histogram?: RawData
}

function shownMetric({ name, description = '', unit = '', ...data }: RawMetric): CollectedMetric {
  const [[type, { dataPoints, aggregationTemporality, isMonotonic }]] = Object.entries(data) as [
    [CollectedMetric['type'], RawData],
  ]
  const points = dataPoints.map((point) => ({ ...point, attributes: valuesOf(point.attributes) }))
  return { name, description, unit, type, temporality: aggregationTemporality, isMonotonic, points }
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

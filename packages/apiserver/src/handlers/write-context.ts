import { managerName } from '@krmkit/fieldmanager'
import { unknownManager } from '@krmkit/fieldmanager/managed-fields'
import type { WriteContext } from '@krmkit/registry'
import { header, type RequestContext } from '../request/context.ts'
import { text, type WriteOptions } from '../request/query.ts'
import type { TraceStep } from '../request/trace.ts'
import { outgoingSpan } from '../tracing/handler-spans.ts'

/** The context of a write to the registry. */
export function writeContext(
  context: RequestContext,
  options: Pick<WriteOptions, 'dryRun' | 'fieldManager'>,
  { sent, statedType }: Pick<WriteContext, 'sent' | 'statedType'> = {},
): RequestWriteContext {
  const write = new RequestWriteContext(context, options, sent)
  write.statedType = statedType
  return write
}

/** The options of the query as admission sees them. */
function givenOptions({ query }: RequestContext, dryRun: boolean): Readonly<Record<string, unknown>> {
  const fieldManager = text(query, 'fieldManager') ?? ''
  const fieldValidation = text(query, 'fieldValidation') ?? ''
  return {
    ...(dryRun ? { dryRun: ['All'] } : {}),
    ...(fieldManager === '' ? {} : { fieldManager }),
    ...(fieldValidation === '' ? {} : { fieldValidation }),
  }
}

export class RequestWriteContext implements WriteContext {
  readonly user: WriteContext['user']
  readonly dryRun: boolean
  readonly fieldManager: string
  readonly sent: WriteContext['sent']
  /** Set by each attempt to apply a patch. */
  statedType: WriteContext['statedType']
  readonly #context: RequestContext

  constructor(context: RequestContext, options: Pick<WriteOptions, 'dryRun' | 'fieldManager'>, sent: WriteContext['sent']) {
    this.sent = sent
    this.user = context.user
    this.dryRun = options.dryRun
    this.fieldManager = managerName(options.fieldManager, header(context.request, 'user-agent')) || unknownManager
    this.#context = context
  }

  get signal(): AbortSignal {
    return this.#context.signal
  }

  get deadline(): number | undefined {
    return this.#context.deadline
  }

  get options(): Readonly<Record<string, unknown>> {
    return givenOptions(this.#context, this.dryRun)
  }

  /** Decisions are recorded for callers that trace the request, and for audit policies that log bodies. */
  get decisions(): WriteContext['decisions'] {
    const { request, auditLevel, decisions } = this.#context
    const { trace } = request
    const isAudited = auditLevel !== 'None' && auditLevel !== 'Metadata'
    if (!isAudited && trace === undefined) return request.decisions
    return (decision) => {
      if (isAudited) decisions.push(decision)
      request.decisions?.(decision)
      trace?.({ step: 'admission', decision } satisfies TraceStep)
    }
  }

  get trace(): WriteContext['trace'] {
    return this.#context.request.trace
  }

  get span(): WriteContext['span'] {
    return outgoingSpan(this.#context)
  }

  /** Absent when the request is not audited, so that plugins do not compute annotations in vain. */
  get annotate(): WriteContext['annotate'] {
    return this.#context.auditLevel === 'None' ? undefined : this.#annotate
  }

  readonly #annotate = (key: string, value: string, level: 'Metadata' | 'Request' = 'Metadata'): void => {
    const { auditLevel, annotations, detailAnnotations } = this.#context
    if (level === 'Request' && auditLevel === 'Metadata') return
    const kept = level === 'Request' ? detailAnnotations : annotations
    if (!Object.hasOwn(kept, key)) kept[key] = value
  }

  readonly warn = (text: string): void => {
    this.#context.warnings.push(text)
  }
}

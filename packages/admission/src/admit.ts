import { ApiError, type ApiObject, type DeepReadonly, type Status } from '@krmkit/meta'
import { admissionChain } from './chain.ts'
import type {
  AdmissionAttributes,
  AdmissionContext,
  AdmissionDecision,
  AdmissionPlugin,
  ObjectConvertor,
  ObjectReader,
  ObjectWriter,
} from './interfaces.ts'

/** A request to ask plugins about; what is left out is that of an ordinary user who creates an object. */
export interface AdmissionReviewRequest extends Partial<Omit<AdmissionAttributes, 'kind' | 'resource'>> {
  readonly kind: AdmissionAttributes['kind']
  readonly resource: AdmissionAttributes['resource']
  /** Absent for DELETE. */
  readonly object?: DeepReadonly<ApiObject>
}

/** What plugins made of a request. */
export interface AdmissionAnswer {
  readonly allowed: boolean
  /** The object as it would be stored, as far as plugins decide that; when refused, as it was then. Absent for DELETE. */
  readonly object?: ApiObject
  /** The refusal as a client would see it. */
  readonly status?: Status
  /** The plugin that refused; absent when what stands between the phases did. */
  readonly refusedBy?: string
  readonly warnings: readonly string[]
  /** Annotations of the audit trail. */
  readonly annotations: Readonly<Record<string, string>>
  /** What each plugin changed, and why. Plugins that had nothing to do are left out. */
  readonly decisions: readonly AdmissionDecision[]
}

export interface AdmitOptions {
  readonly forms?: ObjectConvertor
  /** Absent: nothing is written, as in a dry run. */
  readonly writer?: ObjectWriter
  /**
   * What comes between changing and judging: defaults, the rules of the kind. Gives back the object to judge.
   *
   * @throws ApiError when the object is refused.
   */
  between?(object: ApiObject): ApiObject | Promise<ApiObject>
}

/**
 * Asks plugins about a request without a server: would it be admitted, what would be changed, and by whom.
 *
 * @throws anything but an ApiError that a plugin throws: that is a fault of the plugin.
 */
export async function admit(
  request: AdmissionReviewRequest,
  plugins: readonly AdmissionPlugin[],
  reader: ObjectReader,
  options: AdmitOptions = {},
): Promise<AdmissionAnswer> {
  const { object: given, ...rest } = request
  const attributes: AdmissionAttributes = {
    operation: 'CREATE',
    subresource: '',
    name: given?.metadata.name ?? '',
    namespace: given?.metadata.namespace ?? '',
    user: { username: 'system:anonymous', groups: [] },
    dryRun: options.writer === undefined,
    ...rest,
  }
  const warnings: string[] = []
  const annotations = new Map<string, string>()
  const decisions: AdmissionDecision[] = []
  const context: AdmissionContext = {
    reader,
    ...(options.writer === undefined ? {} : { writer: options.writer }),
    ...(options.forms === undefined ? {} : { convertor: options.forms }),
    warn: (text) => void warnings.push(text),
    annotate: (key, value) => void annotations.set(key, value),
    trace: (decision) => void decisions.push(decision),
  }
  const chain = admissionChain(plugins)
  let object = given as ApiObject | undefined
  const told = () => ({
    ...(object === undefined ? {} : { object }),
    warnings,
    annotations: Object.fromEntries(annotations),
    decisions,
  })
  try {
    object = await chain.admit(object, attributes, context)
    if (object !== undefined && options.between !== undefined) object = await options.between(object)
    const settle = await chain.validate(object, attributes, context)
    await settle?.(options.writer !== undefined)
    return { allowed: true, ...told() }
  } catch (error) {
    if (!ApiError.is(error)) throw error
    const refusal = decisions.find(({ outcome }) => outcome === 'refused')
    return { allowed: false, status: error.status, ...(refusal === undefined ? {} : { refusedBy: refusal.plugin }), ...told() }
  }
}

import { ApiError, type ApiObject, type DeepReadonly, type Status } from '@krmkit/meta'
import { AdmissionError } from './admission-error.ts'
import { createAdmissionChain } from './chain.ts'
import type {
  AdmissionAttributes,
  AdmissionContext,
  AdmissionDecision,
  AdmissionPlugin,
  ObjectReader,
  ObjectWriter,
  VersionConverter,
} from './interfaces.ts'

/** A request for `admit`; by default the creation of an object by an anonymous user. */
export interface AdmissionRequest extends Partial<Omit<AdmissionAttributes, 'kind' | 'resource'>> {
  readonly kind: AdmissionAttributes['kind']
  readonly resource: AdmissionAttributes['resource']
  /** Absent for DELETE. */
  readonly object?: DeepReadonly<ApiObject>
}

/** The result of `admit`. */
export interface AdmissionResult {
  readonly allowed: boolean
  /** The object after admission, or at the point of refusal. Absent for DELETE. */
  readonly object?: ApiObject
  /** The Status that a client receives for a refusal. */
  readonly status?: Status
  /** The plugin that refused; absent when `defaultAndValidate` refused. */
  readonly refusedBy?: string
  readonly warnings: readonly string[]
  /** Audit annotations. */
  readonly annotations: Readonly<Record<string, string>>
  /** What each plugin changed, and why, without plugins that did nothing. */
  readonly decisions: readonly AdmissionDecision[]
}

export interface AdmitOptions {
  readonly versionConverter?: VersionConverter
  /** Absent: the request is a dry run. */
  readonly writer?: ObjectWriter
  /**
   * Runs between mutating and validating admission: defaulting and validation of the kind. Returns the object to validate.
   *
   * @throws ApiError when the object is refused.
   */
  defaultAndValidate?(object: ApiObject): ApiObject | Promise<ApiObject>
}

/** @throws AdmissionError `InvalidArgument` */
function requireArguments(request: AdmissionRequest, plugins: readonly AdmissionPlugin[], reader: ObjectReader): void {
  const problem =
    typeof request?.kind !== 'object' || typeof request.resource !== 'object'
      ? 'a request: { kind, resource, object }'
      : !Array.isArray(plugins)
        ? 'a list of plugins'
        : typeof reader?.get !== 'function'
          ? 'a reader, such as an ObjectSet'
          : undefined
  if (problem !== undefined) throw new AdmissionError({ code: 'InvalidArgument', message: `admit needs ${problem}` })
}

/**
 * Simulates admission without a server: whether the request is admitted, and what each plugin changes.
 *
 * @throws AdmissionError `InvalidArgument`; errors of plugins that are not ApiErrors.
 * @example
 * ```ts
 * import { admit, ObjectSet } from '@krmkit/admission'
 * import { namespaceExists } from '@krmkit/admission/plugins'
 *
 * const kind = { group: '', version: 'v1', kind: 'ConfigMap' }
 * const resource = { group: '', version: 'v1', resource: 'configmaps' }
 * const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'app', namespace: 'shop' } }
 * const { allowed, refusedBy } = await admit({ kind, resource, object }, [namespaceExists()], new ObjectSet())
 * refusedBy // 'NamespaceExists'
 * ```
 */
export async function admit(
  request: AdmissionRequest,
  plugins: readonly AdmissionPlugin[],
  reader: ObjectReader,
  options: AdmitOptions = {},
): Promise<AdmissionResult> {
  requireArguments(request, plugins, reader)
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
    ...(options.versionConverter === undefined ? {} : { versionConverter: options.versionConverter }),
    warn: (text) => void warnings.push(text),
    annotate: (key, value) => void annotations.set(key, value),
    trace: (decision) => void decisions.push(decision),
  }
  const chain = createAdmissionChain(plugins)
  let object = given as ApiObject | undefined
  const recorded = () => ({
    ...(object === undefined ? {} : { object }),
    warnings,
    annotations: Object.fromEntries(annotations),
    decisions,
  })
  try {
    object = await chain.admit(object, attributes, context)
    if (object !== undefined && options.defaultAndValidate !== undefined) object = await options.defaultAndValidate(object)
    const reservation = await chain.validate(object, attributes, context)
    await (options.writer === undefined ? reservation?.rollback() : reservation?.commit())
    return { allowed: true, ...recorded() }
  } catch (error) {
    if (!ApiError.is(error)) throw error
    const refusal = decisions.find(({ outcome }) => outcome === 'refused')
    const refusedBy = refusal === undefined ? {} : { refusedBy: refusal.plugin }
    return { allowed: false, status: error.status, ...refusedBy, ...recorded() }
  }
}

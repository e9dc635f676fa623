import { type GroupVersion, type GroupVersionKind, type NamingProfile, stockProfile } from '@krmkit/meta'
import { nameOf, namespace, type Parameter, parametersOf, proxiedPath } from './parameters.ts'

/** Operations of a group version, independent of the dialect. Schemas are referenced by name. */

export type Method = 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'

export interface Operation {
  readonly path: string
  readonly method: Method
  readonly id: string
  readonly tag: string
  readonly description: string
  /** `x-kubernetes-action` */
  readonly action?: string
  /** `x-kubernetes-group-version-kind` */
  readonly kind?: GroupVersionKind
  /** Includes path parameters. */
  readonly parameters: readonly Parameter[]
  readonly body?: { readonly schema: string; readonly required: boolean; readonly types: readonly string[] }
  /** Consumed media types in version 2 for requests without a body. Default: derived from the action. */
  readonly consumes?: readonly string[]
  /** Responses by status code. The schema `string` stands for text. */
  readonly responses: readonly { readonly status: 200 | 201 | 202; readonly schema: string }[]
  readonly produces: readonly string[]
}

/** A resource or subresource, as needed to build its operations. */
export interface OperationTarget {
  /** `pods` or `pods/log` */
  readonly name: string
  readonly namespaced: boolean
  readonly kind: GroupVersionKind
  readonly verbs: readonly string[]
  /** Kind of the parent resource of a subresource; otherwise the same kind. */
  readonly parentKind: string
  /** Schema of request and response bodies. */
  readonly schema: string
  readonly listSchema: string
  /** Whether DELETE returns the object instead of a Status. */
  readonly deleteReturnsObject: boolean
  /** Query parameters from the options kind of a connection (`pods/exec`) or text subresource (`pods/log`). */
  readonly options?: { readonly parameters: readonly Parameter[]; readonly connect: boolean }
  /** Media types of patches. */
  readonly patchTypes: readonly string[]
  /** Whether this is a custom resource: JSON and YAML only, no deprecated watch paths. */
  readonly custom?: boolean
}

/** Schema names and parameters that every group version uses. */
export interface MetaNames {
  readonly status: string
  readonly deleteOptions: string
  readonly patch: string
  readonly watchEvent: string
  readonly resourceList: string
  /** Whether the release has a request parameter. */
  hasParameter(name: string): boolean
}

/** Media types of objects and of watch streams. */
export interface MediaTypes {
  readonly objects: readonly string[]
  readonly streams: readonly string[]
  /** Additional patch types, such as CBOR. */
  readonly patches: readonly string[]
}

export function mediaTypes({ vendor }: Pick<NamingProfile, 'vendor'>, { cbor = false } = {}): MediaTypes {
  const protobuf = `application/vnd.${vendor}.protobuf`
  const objects = ['application/json', 'application/yaml', protobuf, ...(cbor ? ['application/cbor'] : [])]
  const framed = ['application/json;stream=watch', `${protobuf};stream=watch`, ...(cbor ? ['application/cbor-seq'] : [])]
  return { objects, streams: [...objects, ...framed], patches: cbor ? ['application/apply-patch+cbor'] : [] }
}

export interface OperationOptions {
  readonly meta: MetaNames
  readonly profile?: NamingProfile | undefined
  /** Whether built-in objects have a CBOR form. Default false. */
  readonly cbor?: boolean | undefined
}

/** All operations of a group version: discovery, then each resource. */
export function operationsOf(
  at: GroupVersion,
  targets: readonly OperationTarget[],
  { meta, profile = stockProfile, cbor = false }: OperationOptions,
): Operation[] {
  const prefix = at.group === '' ? `/api/${at.version}` : `/apis/${at.group}/${at.version}`
  const names = { ...namesOf(at, profile), ...mediaTypes(profile, { cbor }), at: { group: at.group, version: at.version } }
  const discovery: Operation = {
    path: `${prefix}/`,
    method: 'get',
    id: `get${names.id}APIResources`,
    tag: names.tag,
    description: `Lists the resources of ${at.group === '' ? at.version : `${at.group}/${at.version}`}.`,
    parameters: [],
    responses: [{ status: 200, schema: meta.resourceList }],
    produces: names.objects,
  }
  const all = targets.flatMap((target) => new OperationBuilder(prefix, names, target, meta).operations())
  // The discovery operation of custom resources is published elsewhere.
  return targets.length > 0 && targets.every(({ custom }) => custom) ? all : [discovery, ...all]
}

/** Id and tag of a group version: `rbac.authorization.k8s.io`, `v1` gives `RbacAuthorizationV1` and `rbacAuthorization_v1`. */
export function namesOf(
  at: GroupVersion,
  { apiDomain }: Pick<NamingProfile, 'apiDomain'> = stockProfile,
): { readonly id: string; readonly tag: string } {
  const end = `.${apiDomain}`
  const parts = (at.group.endsWith(end) ? at.group.slice(0, -end.length) : at.group).split('.')
  const group = at.group === '' ? 'Core' : parts.flatMap((part) => part.split('-').map(capitalize)).join('')
  return { id: group + capitalize(at.version), tag: `${group.slice(0, 1).toLowerCase()}${group.slice(1)}_${at.version}` }
}

export function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const customTypes: readonly string[] = ['application/json', 'application/yaml']

type ActionDetails = Pick<Operation, 'method' | 'action' | 'description'> & { readonly parameters: readonly Parameter[] }

type Names = { readonly id: string; readonly tag: string; readonly at: GroupVersion } & MediaTypes

/** Builds the operations of one resource or subresource. */
class OperationBuilder {
  readonly #prefix: string
  readonly #names: Names
  readonly #target: OperationTarget
  readonly #meta: MetaNames
  readonly #scope: string
  readonly #subject: string
  /** Media types of request bodies. */
  readonly #consumes: readonly string[]

  constructor(prefix: string, names: Names, target: OperationTarget, meta: MetaNames) {
    this.#prefix = prefix
    this.#names = target.custom ? { ...names, objects: customTypes, streams: customTypes, patches: [] } : names
    this.#consumes = target.custom ? customTypes : ['*/*']
    this.#target = target
    this.#meta = meta
    this.#scope = target.namespaced ? 'Namespaced' : ''
    const subresource = target.name.split('/')[1]
    this.#subject = target.parentKind + (subresource === undefined ? '' : capitalize(subresource))
  }

  operations(): Operation[] {
    const { options, name } = this.#target
    if (options?.connect) return this.#connections(options.parameters)
    if (name.includes('/')) return this.#onItem(this.#itemPath(), options?.parameters)
    return [...this.#onCollection(), ...this.#onItem(this.#itemPath()), ...this.#watches()]
  }

  #collectionPath(root = this.#prefix): string {
    const resource = this.#target.name.split('/')[0]
    return this.#target.namespaced ? `${root}/namespaces/{namespace}/${resource}` : `${root}/${resource}`
  }

  #itemPath(root = this.#prefix): string {
    const subresource = this.#target.name.split('/')[1]
    return `${this.#collectionPath(root)}/{name}${subresource === undefined ? '' : `/${subresource}`}`
  }

  #has(...verbs: readonly string[]): boolean {
    return verbs.every((verb) => this.#target.verbs.includes(verb))
  }

  #onCollection(): Operation[] {
    const path = this.#collectionPath()
    const found: Operation[] = []
    if (this.#has('list')) {
      found.push(this.#list(path, `list${this.#names.id}${this.#scope}${this.#subject}`))
      if (this.#target.namespaced) {
        found.push(this.#list(`${this.#prefix}/${this.#target.name}`, `list${this.#names.id}${this.#subject}ForAllNamespaces`))
      }
    }
    if (this.#has('create')) found.push(this.#create(path))
    if (this.#has('deletecollection')) found.push(this.#deleteCollection(path))
    return found
  }

  #onItem(path: string, textParameters?: readonly Parameter[]): Operation[] {
    const found: Operation[] = []
    if (this.#has('get')) found.push(this.#get(path, textParameters))
    if (this.#has('update')) found.push(this.#write(path, 'put'))
    if (this.#has('patch')) found.push(this.#write(path, 'patch'))
    if (this.#has('delete')) found.push(this.#delete(path))
    if (this.#target.name.includes('/') && this.#has('create')) found.push(this.#create(path))
    return found
  }

  #operation(path: string, id: string, verbal: ActionDetails): Omit<Operation, 'responses' | 'produces'> {
    const { custom, parentKind } = this.#target
    // As on kube-apiserver, subresources of a custom resource have the kind of their parent.
    const kind = custom ? { ...this.#names.at, kind: parentKind } : this.#target.kind
    const inPath = [
      ...(path.includes('{namespace}') ? [namespace] : []),
      ...(path.includes('{name}') ? [nameOf(kind.kind)] : []),
      ...(path.includes('{path}') ? [proxiedPath] : []),
    ]
    const parameters = [...inPath, ...verbal.parameters.filter(({ name }) => this.#meta.hasParameter(name))]
    return { path, id, tag: this.#names.tag, kind, ...verbal, parameters, ...(custom ? { consumes: customTypes } : {}) }
  }

  #list(path: string, id: string): Operation {
    const verbal: ActionDetails = {
      method: 'get',
      action: 'list',
      description: `Lists objects of kind ${this.#target.kind.kind}, or watches changes.`,
      parameters: parametersOf.list,
    }
    return {
      ...this.#operation(path, id, verbal),
      responses: [{ status: 200, schema: this.#target.listSchema }],
      produces: this.#names.streams,
    }
  }

  #get(path: string, textParameters?: readonly Parameter[]): Operation {
    const parameters = [...(this.#target.custom ? parametersOf.customGet : parametersOf.get), ...(textParameters ?? [])]
    const verbal: ActionDetails = { method: 'get', action: 'get', description: `Reads ${this.#what()}.`, parameters }
    const id = `read${this.#names.id}${this.#scope}${this.#subject}`
    return {
      ...this.#operation(path, id, verbal),
      responses: [{ status: 200, schema: textParameters === undefined ? this.#target.schema : 'string' }],
      produces: textParameters === undefined ? this.#names.objects : ['text/plain', ...this.#names.objects],
    }
  }

  #create(path: string): Operation {
    const { schema } = this.#target
    const verbal: ActionDetails = {
      method: 'post',
      action: 'post',
      description: `Creates ${this.#what()}.`,
      parameters: parametersOf.post,
    }
    return {
      ...this.#operation(path, `create${this.#names.id}${this.#scope}${this.#subject}`, verbal),
      body: { schema, required: true, types: this.#consumes },
      responses: ([200, 201, 202] as const).map((status) => ({ status, schema })),
      produces: this.#names.objects,
    }
  }

  #write(path: string, method: 'put' | 'patch'): Operation {
    const { custom, schema, patchTypes } = this.#target
    const statuses = custom && method === 'patch' ? ([200] as const) : ([200, 201] as const)
    const [verb, text] = method === 'put' ? ['replace', 'Replaces'] : ['patch', 'Patches']
    const verbal: ActionDetails = {
      method,
      action: method,
      description: `${text} ${this.#what()}.`,
      parameters: parametersOf[method],
    }
    return {
      ...this.#operation(path, `${verb}${this.#names.id}${this.#scope}${this.#subject}`, verbal),
      body:
        method === 'put'
          ? { schema, required: true, types: this.#consumes }
          : { schema: this.#meta.patch, required: true, types: [...patchTypes, ...this.#names.patches] },
      responses: statuses.map((status) => ({ status, schema })),
      produces: this.#names.objects,
    }
  }

  #delete(path: string): Operation {
    const schema = this.#target.deleteReturnsObject ? this.#target.schema : this.#meta.status
    const verbal: ActionDetails = {
      method: 'delete',
      action: 'delete',
      description: `Deletes ${this.#what()}.`,
      parameters: parametersOf.delete,
    }
    return {
      ...this.#operation(path, `delete${this.#names.id}${this.#scope}${this.#subject}`, verbal),
      body: { schema: this.#meta.deleteOptions, required: false, types: this.#consumes },
      responses: ([200, 202] as const).map((status) => ({ status, schema })),
      produces: this.#names.objects,
    }
  }

  #deleteCollection(path: string): Operation {
    const { custom } = this.#target
    const verbal: ActionDetails = {
      method: 'delete',
      action: 'deletecollection',
      description: `Deletes a collection of objects of kind ${this.#target.kind.kind}.`,
      parameters: custom ? parametersOf.list : parametersOf.deletecollection,
    }
    return {
      ...this.#operation(path, `delete${this.#names.id}Collection${this.#scope}${this.#subject}`, verbal),
      ...(custom ? {} : { body: { schema: this.#meta.deleteOptions, required: false, types: ['*/*'] } }),
      responses: [{ status: 200, schema: this.#meta.status }],
      produces: this.#names.objects,
    }
  }

  #watches(): Operation[] {
    if (!this.#has('watch') || this.#target.custom) return []
    const root = `${this.#prefix}/watch`
    const { id } = this.#names
    const found = [
      this.#watch(this.#collectionPath(root), `watch${id}${this.#scope}${this.#subject}List`, 'watchlist'),
      this.#watch(this.#itemPath(root), `watch${id}${this.#scope}${this.#subject}`, 'watch'),
    ]
    if (this.#target.namespaced) {
      found.push(this.#watch(`${root}/${this.#target.name}`, `watch${id}${this.#subject}ListForAllNamespaces`, 'watchlist'))
    }
    return found
  }

  #watch(path: string, id: string, action: 'watch' | 'watchlist'): Operation {
    const { kind } = this.#target.kind
    const what = action === 'watch' ? `one object of kind ${kind}` : `objects of kind ${kind}`
    const verbal: ActionDetails = {
      method: 'get',
      action,
      description: `Watches ${what}. Deprecated: use the watch parameter of list.`,
      parameters: parametersOf.list,
    }
    return {
      ...this.#operation(path, id, verbal),
      responses: [{ status: 200, schema: this.#meta.watchEvent }],
      produces: this.#names.streams,
    }
  }

  /** A proxy accepts every method; other connections accept the methods of their verbs. */
  #connections(parameters: readonly Parameter[]): Operation[] {
    const path = this.#itemPath()
    if (!this.#target.name.endsWith('/proxy')) {
      return this.#connectMethods().map((method) => this.#connect(path, method, { parameters, suffix: '' }))
    }
    const methods: readonly Method[] = ['delete', 'get', 'head', 'options', 'patch', 'post', 'put']
    return methods.flatMap((method) => [
      this.#connect(path, method, { parameters, suffix: '' }),
      this.#connect(`${path}/{path}`, method, { parameters, suffix: 'WithPath' }),
    ])
  }

  #connectMethods(): Method[] {
    return [...(this.#has('get') ? (['get'] as const) : []), ...(this.#has('create') ? (['post'] as const) : [])]
  }

  #connect(
    path: string,
    method: Method,
    call: { readonly parameters: readonly Parameter[]; readonly suffix: string },
  ): Operation {
    const { name, parentKind } = this.#target
    const verbal: ActionDetails = {
      method,
      action: 'connect',
      description: `Connects ${method.toUpperCase()} requests to ${name.split('/')[1]} of a ${parentKind}.`,
      parameters: call.parameters,
    }
    return {
      ...this.#operation(
        path,
        `connect${this.#names.id}${capitalize(method)}${this.#scope}${this.#subject}${call.suffix}`,
        verbal,
      ),
      responses: [{ status: 200, schema: 'string' }],
      produces: ['*/*'],
    }
  }

  #what(): string {
    const { name, kind, parentKind } = this.#target
    const subresource = name.split('/')[1]
    return subresource === undefined ? `one ${kind.kind}` : `${subresource} of one ${parentKind}`
  }
}
